import type { AgentCard } from '../../../card/model/index.ts'
import { element } from '../elements/index.ts'
import {
  Agent,
  type CallEvent,
  type CallOptions,
  callableEndpoints,
  type Draft,
  type Endpoint,
  readSkills,
} from './agent.ts'
import { Controls, needsPerson } from './controls.ts'
import { Conversation, type Turn } from './conversation.ts'
import { CredentialFields } from './credentials.ts'
import { button, checkbox } from './dom.ts'
import { ExchangeView } from './exchange-view.ts'
import { MessageForm } from './form.ts'
import { renderJson } from './parts.ts'
import { createRecorder, type Exchange } from './recorder.ts'
import { explainRefusal, type Fix } from './refusal.ts'
import { renderRefusal } from './refusal-panel.ts'

const CANCEL_TIMEOUT_MS = 60_000

/** Opens the console in its section of a card page. */
export const openConsole = async (section: HTMLElement): Promise<void> => {
  const { agent: id = '', origin = '', route = '' } = section.dataset
  const path = `/agents/${encodeURIComponent(id)}`
  const response = await fetch(`${path}/.well-known/agent-card.json?dialect=1.0`, { credentials: 'omit' })
  if (!response.ok) throw new Error(`The card could not be read: ${response.status}.`)
  const card: AgentCard = await response.json()
  const isElsewhere = callableEndpoints(card).some(
    ({ url }) => ![location.origin, origin].includes(new URL(url).origin),
  )
  const console = new Console(card, {
    hostOrigin: origin,
    hostUrl: route === 'direct' || (route === 'gateway' && isElsewhere) ? `${location.origin}${path}/a2a` : undefined,
  })
  section.replaceChildren(...[section.querySelector('h2')].filter(each => each !== null), console.element)
  console.focus()
}

/** What the console knows of the host. */
type HostFacts = {
  /** The origin of this host, which may be another one than the page's. It receives tokens of this host, so no card may name it. */
  hostOrigin: string
  /** The endpoint at which this host forwards calls to an agent whose card names an address of another origin. */
  hostUrl: string | undefined
}

/** A call, by what it yields. */
type Call = (agent: Agent, options: CallOptions) => AsyncIterable<CallEvent>

/** Something that is done at the agent, and can be done again if it is refused. */
type Attempt = { draft?: Draft; retry: (fix?: Fix) => Promise<void> }

const WAITING = 'Waiting for the agent …'

/** A place to try an agent. */
class Console {
  readonly element = element('div', { class: 'console' })
  readonly #status = element('p', { role: 'status', class: 'console-status' })
  readonly #conversation = new Conversation()
  readonly #exchanges = new ExchangeView()
  readonly #refusal = element('div', { tabindex: '-1' })
  readonly #extended = element('div')
  readonly #form: MessageForm
  readonly #credentials: CredentialFields
  readonly #hostOrigins: readonly string[]
  readonly #viaHost: HTMLInputElement
  readonly #controls = new Controls({
    onStop: () => this.#abort?.abort(),
    onCancel: () => void this.#cancelTask(),
    onFollow: () => void this.#followTask(),
    onReset: () => this.#startConversation(),
  })
  readonly #readExtended = button('Read the extended card', () => void this.#readExtendedCard())
  readonly #hostUrl: string | undefined
  #card: AgentCard
  #abort: AbortController | undefined
  #turn: Turn | undefined
  #extensions: string[] = []

  constructor(card: AgentCard, { hostOrigin, hostUrl }: HostFacts) {
    this.#card = card
    this.#hostUrl = hostUrl
    this.#form = new MessageForm(card, { onSubmit: action => void this.#submit(action) })
    this.#hostOrigins = [location.origin, hostOrigin]
    this.#credentials = new CredentialFields(card, this.#hostOrigins)
    const [viaHostLabel, viaHost] = checkbox('Send through this host, which checks the call against the card')
    this.#viaHost = viaHost
    this.#form.element.prepend(this.#controls.continuationField)
    const hasEndpoint = this.#form.endpoint !== undefined
    this.#form.element.hidden = !hasEndpoint
    if (card.capabilities?.extendedAgentCard) this.#credentials.element.append(this.#readExtended)
    if (hostUrl !== undefined) this.#form.addOption(viaHostLabel)
    this.element.append(
      element(
        'div',
        { class: 'console-main' },
        ...(hasEndpoint
          ? []
          : [
              element(
                'p',
                { class: 'message warn' },
                'This agent has no endpoint that a browser can call: neither JSON-RPC nor HTTP+JSON in A2A 1.0 or 0.3.',
              ),
            ]),
        this.#conversation.element,
        this.#refusal,
        this.#status,
        this.#controls.element,
        this.#form.element,
        this.#credentials.element,
        this.#extended,
      ),
      element(
        'section',
        { class: 'console-raw-pane', 'aria-label': 'Raw exchange' },
        element('h3', {}, 'Raw exchange'),
        this.#exchanges.element,
      ),
    )
  }

  focus(): void {
    this.#form.focus()
  }

  get #endpoint(): Endpoint | undefined {
    const endpoint = this.#form.endpoint
    return endpoint && this.#viaHost.checked && this.#hostUrl !== undefined
      ? { ...endpoint, url: this.#hostUrl, tenant: '' }
      : endpoint
  }

  /** Sends what the form has. */
  async #submit(action: 'send' | 'stream'): Promise<void> {
    if (this.#abort) return
    const message = await this.#form.read()
    if (!message) return
    const { continuation } = this.#controls
    if (continuation === 'new') this.#startConversation()
    const before = this.#turn
    const draft: Draft = {
      ...message,
      contextId: before?.progress?.contextId ?? '',
      taskId: continuation === 'task' ? (before?.progress?.taskId ?? '') : '',
    }
    const turn = this.#conversation.addTurn(draft.parts)
    this.#turn = turn
    const isAnswered = await this.#call(turn, {
      call: (agent, options) => (action === 'stream' ? agent.stream(draft, options) : agent.send(draft, options)),
      draft,
      retry: fix => this.#submit(fix?.kind === 'send-without-stream' ? 'send' : action),
    })
    if (isAnswered || turn.progress) this.#form.clearMessage()
    else {
      // The form still has the message.
      turn.element.remove()
      if (this.#turn === turn) this.#turn = before
      this.#showProgress()
    }
    if (isAnswered && draft.returnImmediately && action === 'send' && turn.progress?.state !== undefined)
      await this.#followTask('poll')
  }

  /** Makes a call whose events a turn shows. Returns whether it succeeded; a refusal is explained. */
  #call(turn: Turn, { call, ...attempt }: Attempt & { call: Call }): Promise<boolean> {
    return this.#perform(attempt, async (agent, options) => {
      for await (const event of call(agent, options)) {
        const state = turn.progress?.state
        turn.apply(event)
        if (turn.progress?.state !== state) this.#announce(`The task is ${turn.progress?.state ?? 'answered'}.`)
        this.#showProgress()
      }
    })
  }

  /** Does something at the agent while the form waits. Returns whether it succeeded; a refusal is explained. */
  async #perform(attempt: Attempt, action: (agent: Agent, options: CallOptions) => Promise<void>): Promise<boolean> {
    const endpoint = this.#endpoint
    if (!endpoint) return false
    const abort = new AbortController()
    this.#abort = abort
    this.#refusal.replaceChildren()
    this.#form.setBusy(true)
    this.#announce(WAITING)
    this.#showProgress()
    const { fetchImpl, lastExchange } = this.#record()
    let failure: { error: unknown } | undefined
    try {
      const agent = await Agent.connect(this.#card, endpoint, fetchImpl)
      await action(agent, { signal: abort.signal, extensions: this.#extensions })
    } catch (error) {
      failure = { error }
    }
    this.#abort = undefined
    this.#form.setBusy(false)
    if (!failure && this.#status.textContent === WAITING) this.#announce('The agent answered.')
    this.#showProgress()
    if (abort.signal.aborted) this.#announce('Stopped. The agent may still be at work.')
    else if (failure) this.#explain(failure.error, lastExchange(), attempt)
    else if (this.#turn?.progress && needsPerson(this.#turn.progress)) this.#form.focus()
    return failure === undefined
  }

  /** Creates a `fetch` for one call, whose exchanges are shown. */
  #record(): { fetchImpl: typeof fetch; lastExchange: () => Exchange | undefined } {
    let last: Exchange | undefined
    const fetchImpl = createRecorder({
      credentials: () => this.#credentials.read(),
      hostOrigins: this.#hostOrigins,
      onChange: exchange => {
        last = exchange
        this.#exchanges.update(exchange)
      },
    })
    return { fetchImpl, lastExchange: () => last }
  }

  /** Shows what becomes of the task: in a stream if the agent has streams. */
  async #followTask(way: 'poll' | 'stream' = this.#card.capabilities?.streaming ? 'stream' : 'poll'): Promise<void> {
    const turn = this.#turn
    if (!turn?.progress || turn.progress.hasEnded || needsPerson(turn.progress) || this.#abort) return
    const { taskId } = turn.progress
    await this.#call(turn, {
      call: (agent, options) => (way === 'poll' ? agent.poll(taskId, options) : agent.follow(taskId, options)),
      retry: () => this.#followTask(way),
    })
  }

  /** Cancels the task while its events may still arrive, which show the same. */
  async #cancelTask(): Promise<void> {
    const turn = this.#turn
    const endpoint = this.#endpoint
    if (!turn?.progress || !endpoint) return
    this.#controls.setCancelling(true)
    const { fetchImpl, lastExchange } = this.#record()
    try {
      const agent = await Agent.connect(this.#card, endpoint, fetchImpl)
      const options = { signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS), extensions: this.#extensions }
      turn.apply(await agent.cancel(turn.progress.taskId, options))
      this.#announce(`The task is ${turn.progress.state}.`)
    } catch (error) {
      this.#explain(error, lastExchange(), { retry: () => this.#cancelTask() })
    }
    this.#controls.setCancelling(false)
    this.#showProgress()
  }

  async #readExtendedCard(): Promise<void> {
    if (this.#abort) return
    await this.#perform({ retry: () => this.#readExtendedCard() }, async (agent, options) => {
      const card = await agent.extendedCard(options)
      const heading = element('h3', { tabindex: '-1' }, 'Extended card')
      this.#extended.replaceChildren(heading, renderJson(card))
      const skills = readSkills(card)
      if (skills) this.#form.setCard({ ...this.#card, skills })
      this.#announce('The extended card is below. Its skills can be chosen.')
      heading.focus()
    })
  }

  #startConversation(): void {
    this.#abort?.abort()
    this.#turn = undefined
    this.#conversation.clear()
    this.#refusal.replaceChildren()
    this.#announce('A new conversation.')
    this.#showProgress()
    this.#form.focus()
  }

  #announce(text: string): void {
    if (this.#status.textContent !== text) this.#status.textContent = text
  }

  /** Offers what can be done next. */
  #showProgress(): void {
    const progress = this.#turn?.progress
    const isCalling = this.#abort !== undefined
    this.#controls.show(progress, isCalling)
    this.#form.setReplying(progress !== undefined && needsPerson(progress))
    if (isCalling) return
    if (progress?.state === 'input required') this.#announce('The agent needs more input: write a reply.')
    if (progress?.state === 'authentication required')
      this.#announce('The agent needs you to authenticate: enter a token, then reply.')
  }

  #explain(error: unknown, exchange: Exchange | undefined, { draft, retry }: Attempt): void {
    const refusal = explainRefusal({
      card: this.#card,
      draft,
      exchange,
      error,
      canUseHost: this.#hostUrl !== undefined && !this.#viaHost.checked,
    })
    // The refusal announces itself.
    this.#announce('')
    this.#refusal.replaceChildren(renderRefusal(refusal, fix => void this.#applyFix(fix, retry)))
    this.#refusal.focus()
  }

  async #applyFix(fix: Fix, retry: Attempt['retry']): Promise<void> {
    this.#refusal.replaceChildren()
    if (fix.kind === 'enter-token') return this.#credentials.focus()
    if (fix.kind === 'new-conversation') return this.#startConversation()
    if (fix.kind === 'announce') this.#extensions = [...new Set([...this.#extensions, ...fix.extensions])]
    if (fix.kind === 'send-through-host') this.#viaHost.checked = true
    this.#form.apply(fix)
    await retry(fix)
  }
}

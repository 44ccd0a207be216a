import type { AgentCard } from '../../../card/model/index.ts'
import { wireVersions } from '../../../card/model/start.ts'
import { button, element } from '../elements/index.ts'
import { type Agent, type CallOptions, callableEndpoints, connectAgent, type Draft, readSkills } from './agent.ts'
import { createControls, needsPerson, renderRefusal } from './controls.ts'
import { Turn } from './conversation.ts'
import { createExchangeView } from './exchange-view.ts'
import { createCredentialFields, createMessageForm } from './form.ts'
import { renderJson } from './part-list.ts'
import { createRecorder, type Exchange } from './recorder.ts'
import { explainRefusal, type Fix } from './refusal.ts'

const CANCEL_TIMEOUT_MS = 60_000

const MAX_TURNS = 50

/** Opens the console in its section of a card page. */
export const openConsole = async (section: HTMLElement): Promise<void> => {
  const { agent: id = '', origin = '', route = '' } = section.dataset
  const path = `/agents/${encodeURIComponent(id)}`
  const response = await fetch(`${path}/.well-known/agent-card.json?dialect=1.0`, { credentials: 'omit' })
  if (!response.ok) throw new Error(`The card could not be read: ${response.status}.`)
  const card: AgentCard = await response.json()
  const hostOrigins = [location.origin, origin]
  const isElsewhere = callableEndpoints(card).some(({ url }) => !hostOrigins.includes(new URL(url).origin))
  const isForwarded = route === 'direct' || (route === 'gateway' && isElsewhere)
  const console = new Console(card, hostOrigins, isForwarded ? `${location.origin}${path}/a2a` : undefined)
  section.replaceChildren(...[section.querySelector('h2')].filter(each => each !== null), console.element)
  console.focus()
}

type Action = (agent: Agent, options: CallOptions) => Promise<void>

/** Something that is done at the agent, and can be done again if it is refused. */
type Attempt = { draft?: Draft; retry: (fix?: Fix) => Promise<void> }

const WAITING = 'Waiting for the agent …'

const NO_ENDPOINT =
  'This agent has no endpoint that a browser can call: neither JSON-RPC nor HTTP+JSON in A2A ' +
  `${wireVersions.toReversed().join(' or ')}.`

class Console {
  readonly element: HTMLElement
  readonly #status = element('p.console-status', { role: 'status' })
  readonly #log = element('div.console-log', { role: 'log', 'aria-label': 'Conversation', 'aria-live': 'off' })
  readonly #exchanges = createExchangeView()
  readonly #refusal = element('div', { tabindex: '-1' })
  readonly #extended = element('div')
  readonly #form: ReturnType<typeof createMessageForm>
  readonly #credentials: ReturnType<typeof createCredentialFields>
  readonly #controls = createControls({
    onStop: () => this.#abort?.abort(),
    onCancel: () => void this.#cancelTask(),
    onFollow: () => void this.#followTask(),
    onReset: () => this.#startConversation(),
  })
  readonly #card: AgentCard
  /** The origins of this host, which receive its tokens, so no card may name them. */
  readonly #hostOrigins: readonly string[]
  #abort: AbortController | undefined
  #turn: Turn | undefined
  #extensions: string[] = []

  constructor(card: AgentCard, hostOrigins: readonly string[], hostUrl: string | undefined) {
    this.#card = card
    this.#hostOrigins = hostOrigins
    this.#form = createMessageForm(card, hostUrl, action => void this.#submit(action))
    this.#credentials = createCredentialFields(card, hostOrigins)
    this.#form.element.prepend(this.#controls.continuationField)
    const hasEndpoint = this.#form.endpoint() !== undefined
    this.#form.element.hidden = !hasEndpoint
    if (card.capabilities?.extendedAgentCard)
      this.#credentials.element.append(button('Read the extended card', () => void this.#readExtendedCard()))
    this.element = element(
      'div.console',
      element(
        'div.console-main',
        !hasEndpoint && element('p.message.warn', NO_ENDPOINT),
        this.#log,
        this.#refusal,
        this.#status,
        this.#controls.element,
        this.#form.element,
        this.#credentials.element,
        this.#extended,
      ),
      element(
        'section.console-raw-pane',
        { 'aria-label': 'Raw exchange' },
        element('h3', 'Raw exchange'),
        this.#exchanges.element,
      ),
    )
    this.#showProgress()
  }

  focus(): void {
    this.#form.focus()
  }

  async #submit(action: 'send' | 'stream'): Promise<void> {
    if (this.#abort) return
    const message = await this.#form.read()
    if (!message) return
    const continuation = this.#controls.readContinuation()
    if (continuation === 'new') this.#startConversation()
    const before = this.#turn
    const draft: Draft = {
      ...message,
      contextId: before?.progress?.contextId ?? '',
      taskId: continuation === 'task' ? (before?.progress?.taskId ?? '') : '',
    }
    const turn = new Turn(draft.parts)
    this.#turn = turn
    this.#log.append(turn.element)
    if (this.#log.childElementCount > MAX_TURNS) {
      this.#log.firstChild?.remove()
      this.#log.ariaLabel = `Conversation, the last ${MAX_TURNS} messages`
    }
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
  #call(
    turn: Turn,
    { call, ...attempt }: Attempt & { call: (agent: Agent, options: CallOptions) => ReturnType<Agent['send']> },
  ): Promise<boolean> {
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
  async #perform(attempt: Attempt, action: Action): Promise<boolean> {
    if (!this.#form.endpoint()) return false
    this.#abort = new AbortController()
    const { signal } = this.#abort
    this.#refusal.replaceChildren()
    this.#form.setBusy(true)
    this.#announce(WAITING)
    this.#showProgress()
    const failure = await this.#connect(signal, action)
    this.#abort = undefined
    this.#form.setBusy(false)
    if (!failure && this.#status.textContent === WAITING) this.#announce('The agent answered.')
    this.#showProgress()
    if (signal.aborted) this.#announce('Stopped. The agent may still be at work.')
    else if (failure) this.#explain(failure, attempt)
    else if (this.#turn?.progress && needsPerson(this.#turn.progress)) this.#form.focus()
    return failure === undefined
  }

  /** Does something at the agent, whose exchanges are shown. Returns why it failed. */
  async #connect(signal: AbortSignal, action: Action) {
    const endpoint = this.#form.endpoint()
    if (!endpoint) return undefined
    let exchange: Exchange | undefined
    const fetchImpl = createRecorder({
      credentials: () => this.#credentials.read(),
      hostOrigins: this.#hostOrigins,
      onChange: changed => {
        exchange = changed
        this.#exchanges.update(changed)
      },
    })
    try {
      await action(await connectAgent(this.#card, endpoint, fetchImpl), { signal, extensions: this.#extensions })
      return undefined
    } catch (error) {
      return { error, exchange }
    }
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
    if (!turn?.progress) return
    const { taskId } = turn.progress
    this.#controls.setCancelling(true)
    const failure = await this.#connect(AbortSignal.timeout(CANCEL_TIMEOUT_MS), async (agent, options) => {
      turn.apply(await agent.cancel(taskId, options))
      this.#announce(`The task is ${turn.progress?.state}.`)
    })
    if (failure) this.#explain(failure, { retry: () => this.#cancelTask() })
    this.#controls.setCancelling(false)
    this.#showProgress()
  }

  async #readExtendedCard(): Promise<void> {
    if (this.#abort) return
    await this.#perform({ retry: () => this.#readExtendedCard() }, async (agent, options) => {
      const card = await agent.readExtendedCard(options)
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
    this.#log.replaceChildren()
    this.#refusal.replaceChildren()
    this.#announce('A new conversation.')
    this.#showProgress()
    this.#form.focus()
  }

  #announce(text: string): void {
    if (this.#status.textContent !== text) this.#status.textContent = text
  }

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

  #explain(failure: { error: unknown; exchange: Exchange | undefined }, { draft, retry }: Attempt): void {
    const canUseHost = this.#form.canUseHost()
    const refusal = explainRefusal({ card: this.#card, draft, canUseHost, ...failure })
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
    this.#form.apply(fix)
    await retry(fix)
  }
}

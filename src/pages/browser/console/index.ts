import type { AgentCard } from '../../../card/model/agent-card.ts'
import { Agent, type CallEvent, type CallOptions, type Draft, type Endpoint } from './agent.ts'
import { Conversation, type Turn } from './conversation.ts'
import { CredentialFields } from './credentials.ts'
import { button, checkbox, el, field, options } from './dom.ts'
import { ExchangeView } from './exchange-view.ts'
import { MessageForm } from './form.ts'
import { renderJson } from './parts.ts'
import { createRecorder, type Exchange } from './recorder.ts'
import { explainRefusal, type Fix } from './refusal.ts'
import { renderRefusal } from './refusal-panel.ts'

/** A task is polled after so many milliseconds, and then less and less often. */
const POLL_INTERVALS_MS = [500, 1000, 2000, 3000, 5000]
const MAX_POLLS = 200

const CANCEL_TIMEOUT_MS = 60_000

/** Opens the console in its section of a card page. */
export const openConsole = async (section: HTMLElement): Promise<void> => {
  const { agent: id = '', origin = '', route = '' } = section.dataset
  const path = `/agents/${encodeURIComponent(id)}`
  const response = await fetch(`${path}/.well-known/agent-card.json?dialect=1.0`, { credentials: 'omit' })
  if (!response.ok) throw new Error(`The card could not be read: ${response.status}.`)
  const console = new Console(await response.json(), {
    hostOrigin: origin,
    hostUrl: route === 'direct' ? `${location.origin}${path}/a2a` : undefined,
  })
  section.replaceChildren(...[section.querySelector('h2')].filter(each => each !== null), console.element)
  console.focus()
}

/** What the console knows of the host. */
type HostFacts = {
  /** The origin of this host's URLs, which may be another one than the page's. */
  hostOrigin: string
  /** The endpoint at which this host forwards calls to an agent that clients call at its own address. */
  hostUrl: string | undefined
}

type Continuation = 'task' | 'context' | 'new'

/** A place to try an agent. */
class Console {
  readonly element = el('div', { className: 'console' })
  readonly #status = el('p', { role: 'status', className: 'console-status' })
  readonly #conversation = new Conversation()
  readonly #exchanges = new ExchangeView()
  readonly #refusal = el('div', { tabIndex: -1 })
  readonly #extended = el('div')
  readonly #form: MessageForm
  readonly #credentials: CredentialFields
  readonly #hostOrigins: readonly string[]
  readonly #viaHost: HTMLInputElement
  readonly #continue = el('select')
  readonly #continueField = field('This message', this.#continue)
  readonly #stop = button('Stop waiting', () => this.#abort?.abort(), { hidden: true })
  readonly #cancel = button('Cancel the task', () => void this.#cancelTask(), { hidden: true, className: 'danger' })
  readonly #follow = button('Follow the task', () => void this.#followTask(), { hidden: true })
  readonly #reset = button('New conversation', () => this.#startConversation(), { hidden: true })
  readonly #readExtended = button('Read the extended card', () => void this.#readExtendedCard())
  readonly #hostUrl: string | undefined
  #card: AgentCard
  #abort: AbortController | undefined
  #turn: Turn | undefined
  #lastAction: 'send' | 'stream' = 'send'
  #draft: Draft | undefined
  #extensions: string[] = []

  constructor(card: AgentCard, { hostOrigin, hostUrl }: HostFacts) {
    this.#card = card
    this.#hostUrl = hostUrl
    this.#credentials = new CredentialFields(card)
    this.#form = new MessageForm(card, { onSubmit: action => void this.#submit(action) })
    this.#hostOrigins = [location.origin, hostOrigin]
    const [viaHostLabel, viaHost] = checkbox('Send through this host, which checks the call against the card')
    this.#viaHost = viaHost
    this.#continueField.hidden = true
    this.#form.element.prepend(this.#continueField)
    const hasEndpoint = this.#form.endpoint !== undefined
    this.#form.element.hidden = !hasEndpoint
    if (card.capabilities?.extendedAgentCard) this.#credentials.element.append(this.#readExtended)
    if (hostUrl !== undefined) this.#credentials.element.append(viaHostLabel)
    this.element.append(
      el(
        'div',
        { className: 'console-main' },
        ...(hasEndpoint
          ? []
          : [
              el(
                'p',
                { className: 'message warn' },
                'This agent has no endpoint that a browser can call: neither JSON-RPC nor HTTP+JSON in A2A 1.0 or 0.3.',
              ),
            ]),
        this.#conversation.element,
        this.#refusal,
        this.#status,
        el('p', { className: 'console-actions' }, this.#stop, this.#cancel, this.#follow, this.#reset),
        this.#form.element,
        this.#credentials.element,
        this.#extended,
      ),
      el(
        'section',
        { className: 'console-raw-pane', ariaLabel: 'Raw exchange' },
        el('h3', {}, 'Raw exchange'),
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
    this.#lastAction = action
    const continuation = this.#continue.value as Continuation
    const progress = continuation === 'new' ? undefined : this.#turn?.progress
    if (continuation === 'new') this.#conversation.clear()
    const draft: Draft = {
      ...message,
      contextId: progress?.contextId ?? '',
      taskId: continuation === 'task' ? (progress?.taskId ?? '') : '',
    }
    this.#draft = draft
    const before = this.#turn
    const turn = this.#conversation.addTurn(draft.parts)
    const isAnswered = await this.#call(turn, (agent, callOptions) =>
      action === 'stream' ? agent.stream(draft, callOptions) : agent.send(draft, callOptions),
    )
    if (!isAnswered && turn.progress === undefined) {
      // The form still has the message.
      turn.element.remove()
      this.#turn = before
      this.#showProgress()
      return
    }
    this.#form.clearMessage()
    if (isAnswered && action === 'send' && message.returnImmediately && turn.progress?.hasEnded === false)
      await this.#call(turn, (agent, callOptions) => this.#poll(agent, turn, callOptions))
  }

  /** Makes a call whose events a turn shows. Returns whether it succeeded; a refusal is explained. */
  async #call(
    turn: Turn,
    call: (agent: Agent, callOptions: CallOptions) => AsyncIterable<CallEvent>,
  ): Promise<boolean> {
    return this.#perform(async (agent, callOptions) => {
      this.#turn = turn
      for await (const event of call(agent, callOptions)) {
        const state = turn.progress?.state
        turn.apply(event)
        if (turn.progress?.state !== state) this.#announce(`The task is ${turn.progress?.state ?? 'answered'}.`)
        this.#showProgress()
      }
    })
  }

  /** Does something at the agent while the form waits. Returns whether it succeeded; a refusal is explained. */
  async #perform(action: (agent: Agent, callOptions: CallOptions) => Promise<void>): Promise<boolean> {
    const endpoint = this.#endpoint
    if (!endpoint) return false
    const abort = new AbortController()
    this.#abort = abort
    this.#refusal.replaceChildren()
    this.#form.setBusy(true)
    this.#announce('Waiting for the agent …')
    this.#showProgress()
    const { fetchImpl, lastExchange } = this.#record()
    try {
      const agent = await Agent.connect(this.#card, endpoint, fetchImpl)
      await action(agent, { signal: abort.signal, extensions: this.#extensions })
      if (this.#status.textContent === 'Waiting for the agent …') this.#announce('The agent answered.')
      return true
    } catch (error) {
      if (abort.signal.aborted) this.#announce('Stopped. The agent may still be at work.')
      else this.#explain(error, lastExchange())
      return false
    } finally {
      this.#abort = undefined
      this.#form.setBusy(false)
      this.#showProgress()
      if (this.#turn?.progress?.state === 'input required') this.#form.focus()
    }
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

  /** Reads the task again and again until it ends or needs the person. */
  async *#poll(agent: Agent, turn: Turn, callOptions: CallOptions): AsyncGenerator<CallEvent> {
    const { taskId = '' } = turn.progress ?? {}
    for (let count = 0; count < MAX_POLLS && isRunning(turn); count += 1) {
      await wait(POLL_INTERVALS_MS[Math.min(count, POLL_INTERVALS_MS.length - 1)] ?? 0, callOptions.signal)
      yield await agent.get(taskId, callOptions)
    }
  }

  async #followTask(): Promise<void> {
    const turn = this.#turn
    if (!turn?.progress || this.#abort) return
    const { taskId } = turn.progress
    const streams = this.#card.capabilities?.streaming === true
    await this.#call(turn, (agent, callOptions) =>
      streams ? agent.follow(taskId, callOptions) : this.#poll(agent, turn, callOptions),
    )
  }

  /** Cancels the task while its events may still arrive: they tell the result too. */
  async #cancelTask(): Promise<void> {
    const turn = this.#turn
    const endpoint = this.#endpoint
    if (!turn?.progress || !endpoint) return
    this.#cancel.disabled = true
    const { fetchImpl, lastExchange } = this.#record()
    try {
      const agent = await Agent.connect(this.#card, endpoint, fetchImpl)
      const callOptions = { signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS), extensions: this.#extensions }
      turn.apply(await agent.cancel(turn.progress.taskId, callOptions))
      this.#announce(`The task is ${turn.progress.state}.`)
    } catch (error) {
      this.#explain(error, lastExchange())
    } finally {
      this.#cancel.disabled = false
      this.#showProgress()
    }
  }

  async #readExtendedCard(): Promise<void> {
    if (this.#abort) return
    this.#draft = undefined
    await this.#perform(async (agent, callOptions) => {
      const card = await agent.extendedCard(callOptions)
      const heading = el('h3', { tabIndex: -1 }, 'Extended card')
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
    const isOpen = progress !== undefined && progress.taskId !== '' && !progress.hasEnded
    const needsPerson = progress?.state === 'input required' || progress?.state === 'authentication required'
    this.#stop.hidden = this.#abort === undefined
    this.#cancel.hidden = !isOpen
    this.#follow.hidden = !isOpen || needsPerson || this.#abort !== undefined
    this.#reset.hidden = this.#turn === undefined
    const choices: [Continuation, string][] = [
      ...(isOpen
        ? [
            ['task', needsPerson ? 'answers the agent: the same task' : 'goes to the same task'] as [
              Continuation,
              string,
            ],
          ]
        : []),
      ...(progress ? [['context', 'follows up: a new task in the same context'] as [Continuation, string]] : []),
      ['new', 'begins a new conversation'],
    ]
    const names = choices.map(([name]) => name).join()
    if (this.#continue.dataset.choices !== names) {
      this.#continue.dataset.choices = names
      this.#continue.replaceChildren(...options(choices))
    }
    this.#continueField.hidden = !progress
    this.#form.setReplying(needsPerson)
    if (this.#abort) return
    if (progress?.state === 'input required') this.#announce('The agent needs more input: write a reply.')
    if (progress?.state === 'authentication required')
      this.#announce('The agent needs you to authenticate: enter a token, then reply.')
  }

  #explain(error: unknown, exchange: Exchange | undefined): void {
    const refusal = explainRefusal({
      card: this.#card,
      draft: this.#draft,
      exchange,
      error,
      canUseHost: this.#hostUrl !== undefined && !this.#viaHost.checked,
    })
    this.#announce(refusal.title)
    this.#refusal.replaceChildren(renderRefusal(refusal, fix => void this.#applyFix(fix)))
    this.#refusal.focus()
  }

  async #applyFix(fix: Fix): Promise<void> {
    const { kind } = fix
    this.#refusal.replaceChildren()
    if (kind === 'enter-token') return this.#credentials.focus()
    if (kind === 'new-conversation') return this.#startConversation()
    if (kind === 'announce') this.#extensions = [...new Set([...this.#extensions, ...fix.extensions])]
    if (kind === 'send-through-host') this.#viaHost.checked = true
    this.#form.apply(fix)
    if (this.#draft === undefined) await this.#readExtendedCard()
    else await this.#submit(this.#lastAction === 'stream' && kind !== 'send-without-stream' ? 'stream' : 'send')
  }
}

const isRunning = ({ progress }: Turn): boolean =>
  progress?.hasEnded === false && (progress.state === 'submitted' || progress.state === 'working')

/** Waits, or rejects when the person stops. */
const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })

/** Reads the skills of an extended card, which may be of any form. */
const readSkills = (card: unknown): AgentCard['skills'] | undefined => {
  const { skills } = (card ?? {}) as { skills?: unknown }
  if (!Array.isArray(skills)) return undefined
  const strings = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter(each => typeof each === 'string') : []
  return skills
    .filter(skill => typeof skill?.id === 'string' && typeof skill.name === 'string')
    .map(({ id, name, examples, inputModes, outputModes }) => ({
      id,
      name,
      description: '',
      tags: [],
      examples: strings(examples),
      inputModes: strings(inputModes),
      outputModes: strings(outputModes),
    }))
}

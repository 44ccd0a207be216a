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
  const hostUrl = isForwarded ? `${location.origin}${path}/a2a` : undefined
  const console = createConsole(card, hostOrigins, hostUrl)
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

/** Creates the console of an agent. `hostOrigins` receive the tokens of this host, so no card may name them. */
const createConsole = (card: AgentCard, hostOrigins: readonly string[], hostUrl: string | undefined) => {
  const status = element('p.console-status', { role: 'status' })
  const log = element('div.console-log', { role: 'log', 'aria-label': 'Conversation', 'aria-live': 'off' })
  const exchanges = createExchangeView()
  const refusal = element('div', { tabindex: '-1' })
  const extended = element('div')
  let abort: AbortController | undefined
  let current: Turn | undefined
  let extensions: string[] = []

  const submit = async (action: 'send' | 'stream'): Promise<void> => {
    if (abort) return
    const message = await form.read()
    if (!message) return
    const continuation = controls.readContinuation()
    if (continuation === 'new') startConversation()
    const before = current
    const draft: Draft = {
      ...message,
      contextId: before?.progress?.contextId ?? '',
      taskId: continuation === 'task' ? (before?.progress?.taskId ?? '') : '',
    }
    const turn = new Turn(draft.parts)
    current = turn
    log.append(turn.element)
    if (log.childElementCount > MAX_TURNS) {
      log.firstChild?.remove()
      log.ariaLabel = `Conversation, the last ${MAX_TURNS} messages`
    }
    const isAnswered = await call(turn, {
      makeCall: (agent, options) => (action === 'stream' ? agent.stream(draft, options) : agent.send(draft, options)),
      draft,
      retry: fix => submit(fix?.kind === 'send-without-stream' ? 'send' : action),
    })
    if (isAnswered || turn.progress) form.clearMessage()
    else {
      // The form still has the message.
      turn.element.remove()
      if (current === turn) current = before
      showProgress()
    }
    if (isAnswered && draft.returnImmediately && action === 'send' && turn.progress?.state !== undefined)
      await followTask('poll')
  }

  /** Makes a call whose events a turn shows. Returns whether it succeeded; a refusal is explained. */
  const call = (
    turn: Turn,
    { makeCall, ...attempt }: Attempt & { makeCall: (...to: Parameters<Action>) => ReturnType<Agent['send']> },
  ): Promise<boolean> =>
    perform(attempt, async (agent, options) => {
      for await (const event of makeCall(agent, options)) {
        const state = turn.progress?.state
        turn.apply(event)
        if (turn.progress?.state !== state) announce(`The task is ${turn.progress?.state ?? 'answered'}.`)
        showProgress()
      }
    })

  /** Does something at the agent while the form waits. Returns whether it succeeded; a refusal is explained. */
  const perform = async (attempt: Attempt, action: Action): Promise<boolean> => {
    if (!form.endpoint()) return false
    abort = new AbortController()
    const { signal } = abort
    refusal.replaceChildren()
    form.setBusy(true)
    announce(WAITING)
    showProgress()
    const failure = await connect(signal, action)
    abort = undefined
    form.setBusy(false)
    if (!failure && status.textContent === WAITING) announce('The agent answered.')
    showProgress()
    if (signal.aborted) announce('Stopped. The agent may still be at work.')
    else if (failure) explain(failure, attempt)
    else if (current?.progress && needsPerson(current.progress)) form.focus()
    return failure === undefined
  }

  /** Does something at the agent, whose exchanges are shown. Returns why it failed. */
  const connect = async (signal: AbortSignal, action: Action) => {
    const endpoint = form.endpoint()
    if (!endpoint) return undefined
    let exchange: Exchange | undefined
    const onChange = (changed: Exchange): void => {
      exchange = changed
      exchanges.update(changed)
    }
    const fetchImpl = createRecorder({ credentials: credentials.read, hostOrigins, onChange })
    try {
      await action(await connectAgent(card, endpoint, fetchImpl), { signal, extensions })
      return undefined
    } catch (error) {
      return { error, exchange }
    }
  }

  /** Shows what becomes of the task: in a stream if the agent has streams. */
  const followTask = async (
    way: 'poll' | 'stream' = card.capabilities?.streaming ? 'stream' : 'poll',
  ): Promise<void> => {
    const turn = current
    if (!turn?.progress || turn.progress.hasEnded || needsPerson(turn.progress) || abort) return
    const { taskId } = turn.progress
    await call(turn, {
      makeCall: (agent, options) => (way === 'poll' ? agent.poll(taskId, options) : agent.follow(taskId, options)),
      retry: () => followTask(way),
    })
  }

  /** Cancels the task while its events may still arrive, which show the same. */
  const cancelTask = async (): Promise<void> => {
    const turn = current
    if (!turn?.progress) return
    const { taskId } = turn.progress
    controls.setCancelling(true)
    const failure = await connect(AbortSignal.timeout(CANCEL_TIMEOUT_MS), async (agent, options) => {
      turn.apply(await agent.cancel(taskId, options))
      announce(`The task is ${turn.progress?.state}.`)
    })
    if (failure) explain(failure, { retry: cancelTask })
    controls.setCancelling(false)
    showProgress()
  }

  const readExtendedCard = async (): Promise<void> => {
    if (abort) return
    await perform({ retry: readExtendedCard }, async (agent, options) => {
      const read = await agent.readExtendedCard(options)
      const heading = element('h3', { tabindex: '-1' }, 'Extended card')
      extended.replaceChildren(heading, renderJson(read))
      const skills = readSkills(read)
      if (skills) form.setCard({ ...card, skills })
      announce('The extended card is below. Its skills can be chosen.')
      heading.focus()
    })
  }

  const startConversation = (): void => {
    abort?.abort()
    current = undefined
    log.replaceChildren()
    refusal.replaceChildren()
    announce('A new conversation.')
    showProgress()
    form.focus()
  }

  const announce = (text: string): void => {
    if (status.textContent !== text) status.textContent = text
  }

  const showProgress = (): void => {
    const progress = current?.progress
    controls.show(progress, abort !== undefined)
    form.setReplying(progress !== undefined && needsPerson(progress))
    if (abort) return
    if (progress?.state === 'input required') announce('The agent needs more input: write a reply.')
    if (progress?.state === 'authentication required')
      announce('The agent needs you to authenticate: enter a token, then reply.')
  }

  const explain = (failure: { error: unknown; exchange: Exchange | undefined }, { draft, retry }: Attempt): void => {
    const explained = explainRefusal({ card, draft, canUseHost: form.canUseHost(), ...failure })
    // The refusal announces itself.
    announce('')
    refusal.replaceChildren(renderRefusal(explained, fix => void applyFix(fix, retry)))
    refusal.focus()
  }

  const applyFix = async (fix: Fix, retry: Attempt['retry']): Promise<void> => {
    refusal.replaceChildren()
    if (fix.kind === 'enter-token') return credentials.focus()
    if (fix.kind === 'new-conversation') return startConversation()
    if (fix.kind === 'announce') extensions = [...new Set([...extensions, ...fix.extensions])]
    form.apply(fix)
    await retry(fix)
  }

  const controls = createControls({
    onStop: () => abort?.abort(),
    onCancel: cancelTask,
    onFollow: () => followTask(),
    onReset: startConversation,
  })
  const form = createMessageForm(card, hostUrl, submit)
  const credentials = createCredentialFields(card, hostOrigins)
  const hasEndpoint = form.endpoint() !== undefined
  form.element.prepend(controls.continuationField)
  form.element.hidden = !hasEndpoint
  if (card.capabilities?.extendedAgentCard)
    credentials.element.append(button('Read the extended card', readExtendedCard))
  showProgress()
  const warning = !hasEndpoint && element('p.message.warn', NO_ENDPOINT)
  const conversation = [warning, log, refusal, status, controls.element, form.element, credentials.element, extended]
  const raw = [element('h3', 'Raw exchange'), exchanges.element]
  return {
    element: element(
      'div.console',
      element('div.console-main', conversation),
      element('section.console-raw-pane', { 'aria-label': 'Raw exchange' }, raw),
    ),
    focus: form.focus,
  }
}

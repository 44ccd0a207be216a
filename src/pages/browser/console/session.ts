import type { AgentCard, CallTarget } from '../../../card/model/index.ts'
import { exampleText, type MessageExample } from '../../components/index.ts'
import { type Agent, type CallOptions, callableEndpoints, connectAgent, type Draft, readSkills } from './agent.ts'
import { continuations, needsPerson, type Settings, Turn } from './conversation.ts'
import { ExchangeLog } from './exchanges.tsx'
import type { Fields } from './fields.ts'
import { type Credentials, createRecorder, type Exchange } from './recorder.ts'
import { explainRefusal, type Fix, type Refusal } from './refusal.ts'

const CANCEL_TIMEOUT_MS = 60_000
const MAX_TURNS = 50

type SessionOptions = {
  card: AgentCard
  /** The origins that receive the tokens of this host, so no card may name them. */
  hostOrigins: readonly string[]
  /** The path at which this host takes calls of the agent. */
  callPath: string
  /** Where this host forwards calls, if it does and the card names another address. */
  hostUrl: string | undefined
  example: MessageExample
  fields: Fields
}

type Action = (agent: Agent, options: CallOptions) => Promise<void>

/** Something that is done at the agent, and can be done again if it is refused. */
type Attempt = { draft?: Draft; retry: () => Promise<void> }

const WAITING = 'Waiting for the agent …'
const RESPONDED = 'The agent has responded.'

/** The conversations of a person with an agent, without the page. */
export type Session = ReturnType<typeof createSession>

/** Creates a session. `onChange` is called when `state` has changed; turns and exchanges report changes themselves. */
export const createSession = ({ card, hostOrigins, callPath, hostUrl, example, fields }: SessionOptions) => {
  const endpoints = callableEndpoints(card)
  const exchanges = new ExchangeLog()
  const state = {
    settings: {
      ...{ skillId: example.skillId ?? '', format: example.data === undefined ? 'text' : 'data', continuation: '' },
      ...{ endpoint: '0', delivery: card.capabilities?.streaming ? 'stream' : 'whole', route: 'card' },
      ...{ modes: '', header: 'Authorization' },
    } as Settings,
    skills: readSkills(card),
    /** The newest first. */
    turns: [] as Turn[],
    refusal: undefined as { refusal: Refusal; onFix: (fix: Fix) => void } | undefined,
    /** What is announced. The page shows what it does not show otherwise. */
    status: { text: '', isShown: false },
    isCalling: false,
    isCancelling: false,
    extendedCard: undefined as unknown,
  }
  let abort: AbortController | undefined
  let extensions: string[] = []

  const change = (changes: Partial<typeof state>): void => {
    Object.assign(state, changes)
    session.onChange()
  }
  const set = (changes: Partial<Settings>): void => change({ settings: { ...state.settings, ...changes } })
  const announce = (text: string, isShown = false): void => change({ status: { text, isShown } })

  const endpoint = (): CallTarget | undefined => {
    const chosen = endpoints[Number(state.settings.endpoint)]
    return chosen && hostUrl !== undefined && state.settings.route === 'host'
      ? { ...chosen, url: hostUrl, tenant: '' }
      : chosen
  }

  const credentials = (): Credentials => {
    const { header } = state.settings
    const token = fields.token()
    return token === '' ? undefined : { header, prefix: header === 'Authorization' ? 'Bearer ' : '', token }
  }

  /** Fills the form. */
  const begin = (example: MessageExample): void => {
    set({ skillId: example.skillId ?? '', format: example.data === undefined ? 'text' : 'data' })
    fields.setText(exampleText(example))
  }

  const submit = async (): Promise<void> => {
    const { settings } = state
    const parts = !abort && endpoint() && (await fields.read(settings.format))
    if (!parts || abort) return
    const { skillId, delivery, format } = settings
    const before = state.turns[0]?.progress
    const choices = continuations(before).map(([choice]) => choice)
    const continuation = choices.find(choice => choice === settings.continuation) ?? choices[0]
    const draft: Draft = {
      parts,
      ...(skillId !== '' && { skillId }),
      acceptedOutputModes: settings.modes.split(/[\s,]+/).filter(Boolean),
      returnImmediately: delivery === 'poll',
      contextId: continuation === 'new' ? '' : (before?.contextId ?? ''),
      taskId: continuation === 'task' ? (before?.taskId ?? '') : '',
    }
    const turn = new Turn(parts)
    change({ turns: [turn, ...(continuation === 'new' ? [] : state.turns)].slice(0, MAX_TURNS) })
    const isDone = await call(turn, {
      makeCall: (agent, options) => (delivery === 'stream' ? agent.stream(draft, options) : agent.send(draft, options)),
      draft,
      retry: submit,
    })
    if (isDone || turn.progress) {
      // Data is mostly sent again with a change.
      if (format === 'text') fields.setText('')
      fields.clearFile()
      set({ continuation: '' })
    }
    // The form still has the message.
    else change({ turns: state.turns.filter(each => each !== turn) })
    if (isDone && draft.returnImmediately && turn.progress?.state !== undefined) await followTask('poll')
  }

  /** Makes a call whose events a turn shows. Returns whether it succeeded; a refusal is explained. */
  const call = (
    turn: Turn,
    { makeCall, ...attempt }: Attempt & { makeCall: (...to: Parameters<Action>) => ReturnType<Agent['send']> },
  ): Promise<boolean> =>
    perform(attempt, async (agent, options) => {
      for await (const event of makeCall(agent, options)) {
        const before = turn.progress
        turn.apply(event)
        const state = turn.progress?.state
        if (!before || state !== before.state) announce(state ? `The task is ${state}.` : RESPONDED)
      }
    })

  /** Does something at the agent while the form waits. Returns whether it succeeded; a refusal is explained. */
  const perform = async (attempt: Attempt, action: Action): Promise<boolean> => {
    abort = new AbortController()
    const { signal } = abort
    change({ refusal: undefined, isCalling: true, status: { text: WAITING, isShown: false } })
    const failure = await connect(signal, action)
    abort = undefined
    change({ isCalling: false })
    const progress = state.turns[0]?.progress
    if (signal.aborted) announce('Stopped. The agent may still be at work.', true)
    else if (failure) explain(failure, attempt)
    else if (progress && needsPerson(progress)) {
      const needsInput = progress.state === 'input required'
      if (needsInput) announce('The agent needs more input: write a reply.')
      else announce('The agent needs a token: enter it, then reply.', true)
      // The question of the agent stays in sight.
      if (needsInput) fields.message.focus({ preventScroll: true })
      else fields.focusToken()
    } else if (state.status.text === WAITING) announce(RESPONDED)
    return failure === undefined
  }

  /** Does something at the agent, whose exchanges are shown. Returns why it failed. */
  const connect = async (signal: AbortSignal, action: Action) => {
    const target = endpoint()
    if (!target) return undefined
    let exchange: Exchange | undefined
    const onChange = (changed: Exchange): void => {
      exchange = changed
      exchanges.update(changed)
    }
    const fetchImpl = createRecorder({ credentials, hostOrigins, callPath, onChange })
    try {
      await action(await connectAgent(card, target, fetchImpl), { signal, extensions })
      return undefined
    } catch (error) {
      return { error, exchange }
    }
  }

  /** Shows what becomes of the task: in a stream if the agent has streams. */
  const followTask = async (way: 'poll' | 'stream' = card.capabilities?.streaming ? 'stream' : 'poll') => {
    const [turn] = state.turns
    if (!turn?.progress || turn.progress.hasEnded || needsPerson(turn.progress) || abort) return
    const { taskId } = turn.progress
    await call(turn, {
      makeCall: (agent, options) => (way === 'poll' ? agent.poll(taskId, options) : agent.follow(taskId, options)),
      retry: () => followTask(way),
    })
  }

  /** Cancels the task while its events may still arrive, which show the same. */
  const cancelTask = async (): Promise<void> => {
    const [turn] = state.turns
    if (!turn?.progress) return
    const { taskId } = turn.progress
    change({ isCancelling: true })
    const failure = await connect(AbortSignal.timeout(CANCEL_TIMEOUT_MS), async (agent, options) => {
      turn.apply(await agent.cancel(taskId, options))
      announce(`The task is ${turn.progress?.state}.`)
    })
    change({ isCancelling: false })
    if (failure) explain(failure, { retry: cancelTask })
  }

  const readExtendedCard = async (): Promise<void> => {
    if (abort) return
    await perform({ retry: readExtendedCard }, async (agent, options) => {
      const extendedCard = await agent.readExtendedCard(options)
      change({ extendedCard, skills: readSkills(extendedCard) })
      announce('The extended card is below. Its skills can be chosen.', true)
    })
  }

  const explain = (failure: { error: unknown; exchange: Exchange | undefined }, { draft, retry }: Attempt): void => {
    const canUseHost = hostUrl !== undefined && state.settings.route === 'card'
    const refusal = explainRefusal({ card, endpoints, draft, canUseHost, ...failure })
    // The refusal announces itself.
    change({ refusal: { refusal, onFix: fix => void applyFix(fix, retry) }, status: { text: '', isShown: false } })
  }

  const applyFix = async (fix: Fix, retry: Attempt['retry']): Promise<void> => {
    change({ refusal: undefined })
    if (fix.entersToken) return fields.focusToken()
    if (fix.announce) extensions = [...new Set([...extensions, ...fix.announce])]
    if (fix.set) set(fix.set)
    if (fix.leaveOut?.includes(fields.fileType() ?? '')) fields.clearFile()
    if (fix.leaveOut?.includes('application/json')) set({ format: 'text' })
    else if (fix.leaveOut?.includes('text/plain')) fields.setText('')
    await retry()
  }

  const session = {
    ...{ card, hostOrigins, hostUrl, endpoints, exchanges, fields, state },
    ...{ set, begin, submit, followTask, cancelTask, readExtendedCard },
    stop: () => abort?.abort(),
    onChange: (): void => {},
  }
  return session
}

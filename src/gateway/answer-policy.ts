import {
  type A2ACall,
  type AnswerPlace,
  type CallEnd,
  type CallError,
  type Inspected,
  observedCallOf,
  operations,
  type ResultFacts,
  readAcceptedOutputModes,
  type VisibleTasks,
} from '../a2a/index.ts'
import type { CallProfile } from '../card/index.ts'
import { essence } from '../json/index.ts'
import { observeCall, observeMediaTypes } from '../registry/edge/index.ts'
import {
  type CallContext,
  createOutputComparison,
  type GateWarning,
  logStream,
  readExtendedModes,
} from './gate/index.ts'
import type { OwnedCall } from './tasks/index.ts'
import type { AnswerPolicy, AnswerRepair } from './upstream/index.ts'

/** A call that is forwarded. */
type ForwardedCall = {
  call: A2ACall
  profile: CallProfile
  owned: OwnedCall | undefined
  /** Whether answers are translated for the caller. */
  isTranslated?: boolean
  /** Whether the call configures push notifications in its message. */
  hasPushConfig: boolean
}

/** Builds how the answers to a call are checked, and observes them for the counts of its agent. */
export const observeAnswers = (
  context: CallContext,
  { call, profile, owned, isTranslated = false, hasPushConfig }: ForwardedCall,
): AnswerObserver => {
  const policy = createAnswerPolicy(context, call, profile, owned)
  // Only what has the shape of its version can be translated.
  return new AnswerObserver(context, { call, hasPushConfig }, isTranslated ? { ...policy, level: 'enforce' } : policy)
}

/**
 * Observes the answers to one call. The first event of a stream shows whether the agent streams at all, because it may be an
 * error.
 */
class AnswerObserver {
  /** The given policy, which also shows this observer what it finds. With the level `off` it reads no more than before. */
  readonly policy: AnswerPolicy
  readonly #context: Pick<CallContext, 'agent' | 'env' | 'ctx'>
  readonly #forwarded: Pick<ForwardedCall, 'call' | 'hasPushConfig'>
  #facts: ResultFacts | undefined
  #fault: CallError | undefined
  #isCounted = false

  constructor(
    context: Pick<CallContext, 'agent' | 'env' | 'ctx'>,
    forwarded: Pick<ForwardedCall, 'call' | 'hasPushConfig'>,
    { inspect, warn, onStreamError, ...policy }: AnswerPolicy,
  ) {
    this.#context = context
    this.#forwarded = forwarded
    this.policy = {
      ...policy,
      inspect:
        policy.level === 'off'
          ? inspect
          : (facts, place) => {
              this.#facts = facts
              if (place === 'event') this.#observeEvent(facts)
              return inspect?.(facts, place)
            },
      warn: (error, place) => {
        this.#fault = error
        if (place === 'event') this.#count(endOf(error))
        warn(error, place)
      },
      onStreamError: error => {
        this.#count(endOf(error))
        onStreamError?.(error)
      },
    }
  }

  /** Sees the response for the caller, or why there is none. */
  end(response: Response | CallError): void {
    if ('kind' in response) {
      if (!NOT_OBSERVED.has(response.kind)) this.#end(this.#fault ?? response, { status: 200, isStream: false })
      return
    }
    const { status, headers } = response
    const { streams = false } = operations[this.#forwarded.call.operation]
    // What was read already is no stream, even where it is an event for the caller.
    const isRead = this.#facts !== undefined
    const isStream = streams && !isRead && essence(headers.get('Content-Type')) === 'text/event-stream'
    const awaitsEvents = isStream && this.policy.inspect !== undefined
    if (!awaitsEvents) this.#end(this.#fault, { status, isStream })
  }

  /** An answer that the host withholds shows as much as one that passes. */
  #end(error: CallError | undefined, passed: { status: number; isStream: boolean }): void {
    const end = error && !this.#facts ? endOf(error) : { ...passed, agentError: this.#facts?.error }
    this.#count(end, this.#facts?.mediaTypes, error?.kind === 'foreign-task' ? error.kind : undefined)
  }

  #observeEvent({ error: agentError, mediaTypes }: ResultFacts): void {
    this.#count({ status: 200, isStream: true, agentError })
    const { agent, env, ctx } = this.#context
    observeMediaTypes(agent.id, mediaTypes, env, ctx)
  }

  #count(end: CallEnd, mediaTypes?: readonly string[], failure?: string): void {
    if (this.#isCounted) return
    this.#isCounted = true
    const { agent, env, ctx } = this.#context
    const { call, hasPushConfig } = this.#forwarded
    const observed = { ...observedCallOf(call, hasPushConfig, end), ...(failure !== undefined && { failure }) }
    observeCall(agent.id, { ...observed, mediaTypes }, env, ctx)
  }
}

/** The errors of calls that this host did not send, or not with valid credentials. Anyone can forge a loop. */
const NOT_OBSERVED: ReadonlySet<CallError['kind']> = new Set(['loop', 'misconfigured'])

const endOf = (error: CallError): CallEnd => ({
  error: error.kind,
  ...('status' in error && { status: error.status }),
})

/**
 * Builds how the answers to a call are checked. What is found is reported in `Gate-Warning` and in the log. `owned` is set where
 * tasks are kept apart: then answers must be A2A, because what cannot be read could show the tasks of others.
 */
const createAnswerPolicy = (
  context: CallContext,
  call: A2ACall,
  profile: CallProfile,
  owned?: OwnedCall,
): AnswerPolicy => {
  const policy = createGatePolicy(context, call, profile)
  if (owned === undefined) return policy
  const inspect: AnswerPolicy['inspect'] = (facts, place) => {
    const inspectShown = (decision: Inspected) => {
      if (decision && 'kind' in decision) return decision
      const inspected = policy.inspect?.(decision ? withVisibleTypes(facts, decision.list) : facts, place)
      return inspected instanceof Promise ? inspected.then(other => other ?? decision) : (inspected ?? decision)
    }
    const decision = owned.inspect(facts)
    return decision instanceof Promise ? decision.then(inspectShown) : inspectShown(decision)
  }
  // A repair of the tasks of others would show that they exist, as a warning about them would.
  const onRepair = call.operation === 'listTasks' ? undefined : policy.onRepair
  return { ...policy, level: 'enforce', inspect, onRepair }
}

/** A warning about the tasks of others would show that they exist. */
const withVisibleTypes = (facts: ResultFacts, { ids }: VisibleTasks): ResultFacts => {
  const visible = facts.tasks.filter(({ id }) => ids.has(id))
  return { ...facts, mediaTypes: [...new Set(visible.flatMap(({ mediaTypes = [] }) => mediaTypes))] }
}

/** Reports each warning once, and each repair. */
const createReporter = (context: CallContext) => {
  const reported = new Set<string>()
  const warn = (warning: GateWarning, place: AnswerPlace): void => {
    if (reported.has(warning.kind)) return
    reported.add(warning.kind)
    report(warning, place)
  }
  // The headers of a stream have been sent, and its call was logged.
  const report = (warning: GateWarning, place: AnswerPlace): void => {
    if (place === 'event') logStream(context, { warning })
    else context.warnings = [...context.warnings, warning]
  }
  const reportRepairs = (found: readonly AnswerRepair[], place: AnswerPlace): void => {
    const repairs = found.filter(repair => !reported.has(`repaired ${repair}`))
    for (const repair of repairs) reported.add(`repaired ${repair}`)
    if (repairs.length > 0) report({ kind: 'repaired', repairs }, place)
  }
  return { reported, warn, reportRepairs }
}

const createGatePolicy = (context: CallContext, call: A2ACall, profile: CallProfile): AnswerPolicy => {
  const level = profile.gate.responses
  const { reported, warn, reportRepairs: onRepair } = createReporter(context)
  const onStreamError: AnswerPolicy['onStreamError'] = error => logStream(context, { error })
  if (level === 'off') return { level, onStreamError, onRepair, warn: () => undefined }
  const onStackTrace: AnswerPolicy['onStackTrace'] = place => warn({ kind: 'stack-trace' }, place)
  const policy: AnswerPolicy = { level, warn, onStreamError, onRepair, onStackTrace }
  if (profile.gate.modes === 'off') return policy
  const accepted = operations[call.operation].sends ? readAcceptedOutputModes(call.params) : undefined
  const compare = createOutputComparison(accepted)
  let extendedModes: ReturnType<typeof readExtendedModes> | undefined
  const inspect = ({ mediaTypes }: ResultFacts, place: AnswerPlace): Promise<undefined> | undefined => {
    const warnings = compare(mediaTypes, profile.modes, reported)
    if (warnings.length === 0) return undefined
    // The extended card that the caller may read can declare more.
    extendedModes ??= readExtendedModes(context, profile)
    return extendedModes.then(modes => {
      for (const warning of modes ? compare(mediaTypes, modes, reported) : warnings) warn(warning, place)
      return undefined
    })
  }
  return { ...policy, inspect }
}

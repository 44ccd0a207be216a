import {
  type A2ACall,
  type AnswerPlace,
  type CallError,
  type Inspected,
  listsTasks,
  type OperationName,
  operations,
  type ResultFacts,
  readAcceptedOutputModes,
  specifiedError,
  specifiedErrors,
  type VisibleTasks,
} from '../a2a/index.ts'
import type { CallProfile } from '../card/index.ts'
import type { ObservedCall, Outcome } from '../card/model/index.ts'
import { essence } from '../json/index.ts'
import { observeCall, observeMediaTypes } from '../registry/edge/index.ts'
import {
  type CallContext,
  createOutputComparison,
  type GateWarning,
  logStream,
  readExtendedModes,
  reportWarning,
} from './gate/index.ts'
import type { OwnedCall } from './tasks/index.ts'
import type { AnswerPolicy } from './upstream/index.ts'

/** A call that is forwarded. */
type ForwardedCall = {
  call: A2ACall
  profile: CallProfile
  owned: OwnedCall | undefined
  /** Set if answers are translated for the caller. */
  isTranslated?: boolean
  /** Set if the call configures push notifications in its message. */
  hasPushConfig: boolean
}

/**
 * Builds the policy for the answers to a call, and observes them for the counts of its agent. The first event of a
 * stream may be an error: it shows if the agent streams. With the level `off`, nothing more is read for the counts.
 */
export const observeAnswers = (context: CallContext, forwarded: ForwardedCall) => {
  const { agent, env, ctx } = context
  const { call, hasPushConfig, isTranslated } = forwarded
  const policy = createAnswerPolicy(context, forwarded)
  // Only what has the shape of its version can be translated.
  const level = isTranslated ? 'enforce' : policy.level
  let found: ResultFacts | undefined
  let fault: CallError | undefined
  let isCounted = false
  const count = (end: CallEnd, mediaTypes?: readonly string[], failure?: string): void => {
    if (isCounted) return
    isCounted = true
    const observed = { ...observedCallOf(call, hasPushConfig, end), ...(failure !== undefined && { failure }) }
    observeCall(agent.id, { ...observed, mediaTypes }, env, ctx)
  }
  /** An answer that the host withholds shows as much as one that passes. */
  const countAnswer = (error: CallError | undefined, passed: { status: number; isStream: boolean }): void => {
    const end = error && !found ? endOf(error) : { ...passed, agentError: found?.error }
    count(end, found?.mediaTypes, error?.kind === 'foreign-task' ? error.kind : undefined)
  }
  const inspect: AnswerPolicy['inspect'] = (facts, place) => {
    found = facts
    if (place === 'event') {
      count({ status: 200, isStream: true, agentError: facts.error })
      observeMediaTypes(agent.id, facts.mediaTypes, env, ctx)
    }
    return policy.inspect?.(facts, place)
  }
  const observed: AnswerPolicy = {
    ...policy,
    level,
    inspect: level === 'off' ? policy.inspect : inspect,
    warn: (error, place) => {
      fault = error
      if (place === 'event') count(endOf(error))
      policy.warn(error, place)
    },
    onStreamError: error => {
      count(endOf(error))
      policy.onStreamError?.(error)
    },
  }
  /** Sees the response for the caller, or why there is none. */
  const end = (response: Response | CallError): void => {
    if ('kind' in response) {
      if (!NOT_OBSERVED.has(response.kind)) countAnswer(fault ?? response, { status: 200, isStream: false })
      return
    }
    const { status, headers } = response
    const { streams = false } = operations[call.operation]
    // What was read already is no stream, even where it is an event for the caller.
    const isStream = streams && !found && essence(headers.get('Content-Type')) === 'text/event-stream'
    const awaitsEvents = isStream && observed.inspect !== undefined
    if (!awaitsEvents) countAnswer(fault, { status, isStream })
  }
  return { policy: observed, end }
}

/** The errors of calls that this host did not send, or not with valid credentials. Anyone can forge a loop. */
const NOT_OBSERVED: ReadonlySet<CallError['kind']> = new Set(['loop', 'misconfigured'])

const endOf = (error: CallError): CallEnd => ({
  error: error.kind,
  ...('status' in error && { status: error.status }),
})

/**
 * Builds the policy for the answers to a call. What is found is reported in `Gate-Warning` and in the log. `owned` is
 * set where tasks are kept apart: then answers must be A2A, because others could show the tasks of other callers.
 */
const createAnswerPolicy = (context: CallContext, { call, profile, owned }: ForwardedCall): AnswerPolicy => {
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
  const onRepair = listsTasks(call.operation) ? undefined : policy.onRepair
  return { ...policy, level: 'enforce', inspect, onRepair }
}

/** Returns the facts without the media types of others' tasks: a warning about those would show that they exist. */
const withVisibleTypes = (facts: ResultFacts, { ids }: VisibleTasks): ResultFacts => {
  const visible = facts.tasks.filter(({ id }) => ids.has(id))
  return { ...facts, mediaTypes: [...new Set(visible.flatMap(({ mediaTypes = [] }) => mediaTypes))] }
}

const createGatePolicy = (context: CallContext, call: A2ACall, profile: CallProfile): AnswerPolicy => {
  const level = profile.gate.responses
  const reported = new Set<string>()
  /** Reports each warning once, and each repair. */
  const warn = (warning: GateWarning, place: AnswerPlace): void => {
    if (reported.has(warning.kind)) return
    reported.add(warning.kind)
    reportWarning(context, warning, place)
  }
  const onRepair: AnswerPolicy['onRepair'] = (found, place) => {
    const repairs = found.filter(repair => !reported.has(`repaired ${repair}`))
    for (const repair of repairs) reported.add(`repaired ${repair}`)
    if (repairs.length > 0) reportWarning(context, { kind: 'repaired', repairs }, place)
  }
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

// Outcomes

/** The end of a forwarded call, as far as it shows something of the agent. */
export type CallEnd =
  /** An error of this host; `status` is the agent's where it responded. */
  | { error: CallError['kind']; status?: number; agentError?: undefined }
  /** A response of the agent, and its error, if it is one and was read. */
  | { status: number; isStream: boolean; error?: undefined; agentError?: ResultFacts['error'] | undefined }

const METHOD_NOT_FOUND = specifiedError('METHOD_NOT_FOUND').code
const PUSH_NOTIFICATION_NOT_SUPPORTED = specifiedError('PUSH_NOTIFICATION_NOT_SUPPORTED').code
const UNSUPPORTED_OPERATION = specifiedError('UNSUPPORTED_OPERATION').code
const VERSION_NOT_SUPPORTED = specifiedError('VERSION_NOT_SUPPORTED').code

/** The errors with which an agent refuses what it does not support. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([
  ...[METHOD_NOT_FOUND, PUSH_NOTIFICATION_NOT_SUPPORTED, UNSUPPORTED_OPERATION],
  specifiedError('EXTENDED_AGENT_CARD_NOT_CONFIGURED').code,
])

/** The errors that show what an agent supports, as HTTP+JSON names them. */
const CODES: ReadonlyMap<string, number> = new Map(
  specifiedErrors
    .filter(({ code }) => code === METHOD_NOT_FOUND || (code <= -32001 && code >= -32009))
    .map(({ code, reason }) => [reason, code]),
)

/** Returns what a forwarded call has shown of its agent. */
export const observedCallOf = (
  { operation, binding, version }: Pick<A2ACall, 'operation' | 'binding' | 'version'>,
  hasPushConfig: boolean,
  end: CallEnd,
): ObservedCall => {
  const { needs, sends } = operations[operation]
  const { agentError } = end
  const code = codeOf(agentError)
  const failure = failureOf(end, code)
  const outcome = outcomeOf(operation, end.status, code, failure)
  // An agent that answers with an error of A2A speaks the protocol, unless it refuses the version or the main method.
  const isMainMethodRefused =
    sends && needs === undefined && outcome === 'refused' && code !== PUSH_NOTIFICATION_NOT_SUPPORTED
  const isA2A = outcome === 'answered' || (agentError !== undefined && code !== METHOD_NOT_FOUND)
  const isRefused = code === VERSION_NOT_SUPPORTED || isMainMethodRefused
  const isStreamMissing = outcome === 'answered' && !(end.error === undefined && end.isStream)
  // An agent that answers a message may have ignored the configuration in it.
  const showsPush = needs === 'pushNotifications' || (hasPushConfig && code === PUSH_NOTIFICATION_NOT_SUPPORTED)
  return {
    operation,
    protocol: `${binding} ${version}`,
    outcome,
    protocolOutcome: isRefused ? 'refused' : isA2A ? 'answered' : 'failed',
    ...(needs === 'streaming' && { streaming: isStreamMissing ? 'failed' : outcome }),
    ...(showsPush && { pushNotifications: outcome }),
    ...(failure !== undefined && { failure }),
  }
}

const outcomeOf = (
  operation: OperationName,
  status: number | undefined,
  code: number | undefined,
  failure: string | undefined,
): Outcome => {
  const { http, failsIfEnded } = operations[operation]
  // A server that does not know a method or path responds with one of these. The id in a path may be unknown, too.
  const isUnknown = status === 405 || status === 501 || (status === 404 && !http[1].includes('{'))
  if (code === undefined && isUnknown) return 'refused'
  if (failure === undefined) return 'answered'
  return REFUSALS.has(code) && !(failsIfEnded && code === UNSUPPORTED_OPERATION) ? 'refused' : 'failed'
}

/** Returns the code of an agent's error in JSON-RPC; over HTTP+JSON the code in an error is a status. */
const codeOf = (error: ResultFacts['error']): number | undefined => {
  if (error?.reason !== undefined) return CODES.get(error.reason)
  return error?.code !== undefined && error.code < 0 ? error.code : undefined
}

const failureOf = ({ error, status = 0, agentError }: CallEnd, code: number | undefined): string | undefined => {
  if (error !== undefined) return error
  // JSON-RPC and A2A reserve these codes. Others are the agent's own, and can mean anything.
  if (code !== undefined && Number.isInteger(code) && code >= -32768 && code <= -32000) return `${code}`
  if (status >= 400) return `http-${status}`
  return agentError === undefined ? undefined : 'agent-error'
}

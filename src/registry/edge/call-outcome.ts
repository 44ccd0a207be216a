import type { A2ACall, CallError, OperationName, ResultFacts } from '../../a2a/index.ts'
import { operations, specifiedError, specifiedErrors } from '../../a2a/index.ts'
import type { ObservedCall, Outcome } from '../../card/model/index.ts'

/** A call as an agent was called. `hasPushConfig` is set if its message configures push notifications. */
export type ForwardedCall = Pick<A2ACall, 'operation' | 'binding' | 'version'> & { hasPushConfig?: boolean }

/** The end of a forwarded call, as far as it shows something of the agent. */
export type CallEnd = (
  | /** An error of this host; `status` is the agent's where it responded. */
  { error: CallError['kind']; status?: number; isStream?: undefined; agentError?: undefined }
  /** A response of the agent, and its error, if it is one and was read. */
  | { error?: undefined; status: number; isStream: boolean; agentError?: ResultFacts['error'] | undefined }
) & {
  /** The media types of the result. Those of a stream are observed with each event. */
  mediaTypes?: readonly string[] | undefined
  /** The reason why this host withholds the response, in place of one that the response shows. */
  failure?: CallError['kind'] | undefined
}

/** A call as it is counted. Observers compare `fact` to see whether it shows something new. */
type CountedCall = { readonly observed: ObservedCall; readonly fact: string }

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

/** The calls that were answered without an error: most calls, and there are few kinds, so each is described once. */
const answeredCalls: Partial<Record<OperationName, (CountedCall & { call: ForwardedCall; isStream: boolean })[]>> = {}

/** Returns a forwarded call as it is counted. */
export const countedCallOf = (call: ForwardedCall, end: CallEnd): CountedCall => {
  const { error, status, isStream, agentError, failure } = end
  const isAnswered = error === undefined && status < 400 && agentError === undefined && failure === undefined
  if (!isAnswered) return describeCall(call, end)
  const { operation, binding, version } = call
  answeredCalls[operation] ??= []
  const known = answeredCalls[operation]
  for (const each of known)
    if (each.call.version === version && each.call.binding === binding && each.isStream === isStream) return each
  const described = { ...describeCall(call, end), call: { operation, binding, version }, isStream }
  known.push(described)
  return described
}

const describeCall = (call: ForwardedCall, end: CallEnd): CountedCall => {
  const observed = observedCallOf(call, end)
  const { operation, protocol, outcome, streaming, pushNotifications } = observed
  // The outcome of a capability follows from the others, except where an answer is not what was asked for.
  return { observed, fact: `${operation} ${protocol} ${outcome} ${streaming} ${pushNotifications}` }
}

/** Returns what a forwarded call has shown of its agent. */
export const observedCallOf = (
  { operation, binding, version, hasPushConfig = false }: ForwardedCall,
  end: CallEnd,
): ObservedCall => {
  const { needs, sends } = operations[operation]
  const { agentError } = end
  const code = codeOf(agentError)
  const shown = failureOf(end, code)
  const outcome = outcomeOf(operation, end.status, code, shown)
  // An agent that answers with an error of A2A speaks the protocol, unless it refuses the version or the main method.
  const isMainMethodRefused =
    sends && needs === undefined && outcome === 'refused' && code !== PUSH_NOTIFICATION_NOT_SUPPORTED
  const isA2A = outcome === 'answered' || (agentError !== undefined && code !== METHOD_NOT_FOUND)
  const isRefused = code === VERSION_NOT_SUPPORTED || isMainMethodRefused
  const isStreamMissing = outcome === 'answered' && end.isStream !== true
  const { failure = shown } = end
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

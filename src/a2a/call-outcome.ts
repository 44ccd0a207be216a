import type { ObservedCall, Outcome } from '../card/model/index.ts'
import { specifiedError, specifiedErrors } from './error-catalogue.ts'
import type { CallError } from './errors.ts'
import { type A2ACall, type OperationName, operations } from './operations.ts'
import type { ResultFacts } from './results.ts'

/** How a forwarded call ended, as far as it shows something of the agent. */
export type CallEnd =
  /** An error of this host; `status` is the agent's where it responded. */
  | { error: CallError['kind']; status?: number; agentError?: undefined }
  /** A response of the agent, and its error, if it is one and was read. */
  | { status: number; isStream: boolean; error?: undefined; agentError?: AgentError | undefined }

/** The error of an agent, as `readResult` returns it. */
type AgentError = NonNullable<ResultFacts['error']>

const METHOD_NOT_FOUND = specifiedError('METHOD_NOT_FOUND').code
const PUSH_NOTIFICATION_NOT_SUPPORTED = specifiedError('PUSH_NOTIFICATION_NOT_SUPPORTED').code
const UNSUPPORTED_OPERATION = specifiedError('UNSUPPORTED_OPERATION').code
const EXTENDED_CARD_NOT_CONFIGURED = specifiedError('EXTENDED_AGENT_CARD_NOT_CONFIGURED').code
const VERSION_NOT_SUPPORTED = specifiedError('VERSION_NOT_SUPPORTED').code

/** The errors that show what an agent supports, as HTTP+JSON names them. */
const CODES: ReadonlyMap<string, number> = new Map(
  specifiedErrors
    .filter(({ code }) => code === METHOD_NOT_FOUND || (code <= -32001 && code >= -32009))
    .map(({ code, reason }) => [reason, code]),
)

/** The statuses of a server that does not know a method or path. */
const UNKNOWN_OPERATION_STATUSES = [405, 501]

/** Operations whose path names nothing that may not exist, so that a 404 is about the operation. */
const OPERATIONS_WITHOUT_IDS: readonly OperationName[] = ['send', 'stream', 'listTasks', 'extendedCard']

/** The codes that JSON-RPC and A2A reserve. Others are the agent's own, and can mean anything. */
const isReservedCode = (code: number): boolean => Number.isInteger(code) && code >= -32768 && code <= -32000

/** Returns what a forwarded call has shown of its agent. */
export const observedCallOf = (
  { operation, binding, version }: Pick<A2ACall, 'operation' | 'binding' | 'version'>,
  hasPushConfig: boolean,
  end: CallEnd,
): ObservedCall => {
  const { needs } = operations[operation]
  const code = codeOf(end.agentError)
  const failure = failureOf(end, code)
  const outcome = outcomeOf(operation, { status: end.status, code, failure })
  // An agent that answers a message may have ignored the configuration in it.
  const showsPush = needs === 'pushNotifications' || (hasPushConfig && code === PUSH_NOTIFICATION_NOT_SUPPORTED)
  return {
    operation,
    protocol: `${binding} ${version}`,
    outcome,
    protocolOutcome: protocolOutcomeOf(operation, outcome, { code, isAgentError: end.agentError !== undefined }),
    ...(needs === 'streaming' && { streaming: streamingOutcome(outcome, end) }),
    ...(showsPush && { pushNotifications: outcome }),
    ...(failure !== undefined && { failure }),
  }
}

const outcomeOf = (
  operation: OperationName,
  { status = 0, code, failure }: { status: number | undefined; code: number | undefined; failure: string | undefined },
): Outcome => {
  const isUnknownPath =
    UNKNOWN_OPERATION_STATUSES.includes(status) || (status === 404 && OPERATIONS_WITHOUT_IDS.includes(operation))
  if (code === undefined && isUnknownPath) return 'refused'
  if (failure === undefined) return 'answered'
  switch (code) {
    case METHOD_NOT_FOUND:
    case PUSH_NOTIFICATION_NOT_SUPPORTED:
    case EXTENDED_CARD_NOT_CONFIGURED:
      return 'refused'
    case UNSUPPORTED_OPERATION:
      // The specification has this error for a task that has ended, too.
      return operation === 'resubscribe' || operation === 'send' ? 'failed' : 'refused'
    default:
      return 'failed'
  }
}

/** An agent that answers with an error of A2A speaks the protocol, unless it refuses the version or does not know the main method. */
const protocolOutcomeOf = (
  operation: OperationName,
  outcome: Outcome,
  { code, isAgentError }: { code: number | undefined; isAgentError: boolean },
): Outcome => {
  const isMainMethodRefused = operation === 'send' && outcome === 'refused' && code !== PUSH_NOTIFICATION_NOT_SUPPORTED
  if (code === VERSION_NOT_SUPPORTED || isMainMethodRefused) return 'refused'
  const isA2AError = isAgentError && code !== METHOD_NOT_FOUND
  return outcome === 'answered' || isA2AError ? 'answered' : 'failed'
}

const streamingOutcome = (outcome: Outcome, end: CallEnd): Outcome =>
  outcome === 'answered' && !(end.error === undefined && end.isStream) ? 'failed' : outcome

/** Returns the code of an agent's error in JSON-RPC; over HTTP+JSON the code in an error is a status. */
const codeOf = (error: AgentError | undefined): number | undefined => {
  if (error?.reason !== undefined) return CODES.get(error.reason)
  return error?.code !== undefined && error.code < 0 ? error.code : undefined
}

const failureOf = (end: CallEnd, code: number | undefined): string | undefined => {
  if (end.error !== undefined) return end.error
  const { status, agentError } = end
  if (code !== undefined && isReservedCode(code)) return `${code}`
  if (status >= 400) return `http-${status}`
  return agentError === undefined ? undefined : 'agent-error'
}

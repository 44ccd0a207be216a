import type { CallError } from '../../a2a/index.ts'
import { operations } from '../../a2a/start.ts'
import { log } from '../../http/start.ts'
import type { CallContext, GateWarning } from './call-context.ts'

/**
 * Writes the log line of one call. Like every line of this log, it contains nothing that a caller or an agent wrote, except for the id
 * of a registered agent and the ids of a valid trace.
 */
export const logCall = (
  context: CallContext,
  error: CallError | undefined,
  status: number,
  milliseconds: number,
): void => {
  const { caller, warnings, upstreamStatus } = context
  log(levelOf(error), 'call', {
    ...describeCall(context),
    'calling_card.caller': caller.authenticated ? caller.subject : caller.reason,
    ...describeError(error),
    ...(warnings.length > 0 && { 'calling_card.warnings': kindsOf(warnings) }),
    ...(upstreamStatus !== undefined && { 'calling_card.upstream.status_code': upstreamStatus }),
    'http.response.status_code': status,
    'calling_card.duration_ms': milliseconds,
  })
}

/** Writes a log line about a stream that has begun: the error that ended it, or what a `warn` level found in an event. */
export const logStream = (context: CallContext, found: { error: CallError } | { warning: GateWarning }): void =>
  log('error' in found ? levelOf(found.error) : 'info', 'stream', {
    ...describeCall(context),
    ...('error' in found
      ? describeError(found.error)
      : { 'calling_card.warnings': kindOf(found.warning), ...detailOf(found.warning) }),
  })

/** An error is what the owner has to correct; `npm start` shows it. */
const levelOf = (error: CallError | undefined): 'error' | 'info' =>
  error?.kind === 'misconfigured' || error?.kind === 'foreign-task' ? 'error' : 'info'

const describeCall = ({ agent, profile, call, trace }: CallContext) => ({
  ...(profile && { 'gen_ai.agent.id': agent.id }),
  ...(call && {
    'a2a.method.name': operations[call.operation]['1.0'],
    'a2a.protocol.version': call.version,
    'calling_card.binding': call.binding,
  }),
  ...(trace && {
    trace_id: trace.traceId,
    span_id: trace.spanId,
    parent_span_id: trace.parentSpanId,
    trace_flags: trace.flags,
  }),
})

const describeError = (error: CallError | undefined) => error && { 'error.type': error.kind, ...detailOf(error) }

const detailOf = (error: GateWarning) =>
  'detail' in error && REASONED.has(error.kind) ? { 'calling_card.detail': error.detail } : undefined

/** The errors whose `detail` this host or the runtime writes. Others repeat what the caller sent. */
const REASONED: ReadonlySet<string> = new Set(['misconfigured', 'unreachable', 'invalid-response', 'foreign-task'])

/** Lists what was found, for the log and `Gate-Warning`. */
export const kindsOf = (warnings: readonly GateWarning[]): string => warnings.map(kindOf).join(', ')

const kindOf = (warning: GateWarning): string => {
  if (warning.kind === 'lossy') return `lossy (${warning.losses.join(' ')})`
  return warning.kind === 'repaired' ? `repaired (${warning.repairs.join(' ')})` : warning.kind
}

import type { CallError } from '../a2a/errors.ts'
import { log } from '../http/log.ts'
import type { CallContext, GateWarning } from './call-context.ts'

/**
 * Writes the log line of one call. Like every line of this log, it contains nothing that a caller or an agent wrote, except for the id
 * of a registered agent.
 */
export const logCall = (
  context: CallContext,
  error: CallError | undefined,
  status: number,
  milliseconds: number,
): void => {
  const { caller, warnings, upstreamStatus } = context
  // An error is what the owner has to correct; `npm start` shows it.
  log(error?.kind === 'misconfigured' ? 'error' : 'info', 'call', {
    ...describeCall(context),
    caller: caller.authenticated ? caller.subject : caller.reason,
    verdict: error?.kind ?? 'passed',
    ...(warnings.length > 0 && { warnings: kindsOf(warnings) }),
    ...reasonOf(error),
    ...(upstreamStatus !== undefined && { upstream: upstreamStatus }),
    status,
    milliseconds,
  })
}

/** Writes a log line about a stream that has begun: the error that ended it, or what a `warn` level found in an event. */
export const logStream = (context: CallContext, found: { error: CallError } | { warning: GateWarning }): void =>
  log('info', 'stream', {
    ...describeCall(context),
    ...('error' in found
      ? { verdict: found.error.kind, ...reasonOf(found.error) }
      : { warnings: found.warning.kind, ...reasonOf(found.warning) }),
  })

const describeCall = ({ agent, profile, call }: CallContext) => ({
  agent: profile ? agent.id : '',
  operation: call?.operation ?? '',
  binding: call?.binding ?? '',
  version: call?.version ?? '',
})

const reasonOf = (error: GateWarning | undefined): { why?: string } =>
  error !== undefined && 'detail' in error && REASONED.has(error.kind) ? { why: error.detail } : {}

/** The errors whose `detail` this host or the runtime writes. Others repeat what the caller sent. */
const REASONED: ReadonlySet<string> = new Set(['misconfigured', 'unreachable', 'invalid-response'])

/** Lists what was found, for the log and `Gate-Warning`. */
export const kindsOf = (warnings: readonly GateWarning[]): string => warnings.map(({ kind }) => kind).join(', ')

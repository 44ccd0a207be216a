import type { A2ACall, AnswerPlace, CallError, ErrorForm } from '../../a2a/index.ts'
import { methodOf, parseJsonLossless } from '../../a2a/start.ts'
import type { Authentication } from '../../auth/index.ts'
import type { CallProfile } from '../../card/index.ts'
import type { CallTarget } from '../../card/model/index.ts'
import { latestVersion } from '../../card/model/start.ts'
import type { RequestContext } from '../../http/index.ts'
import { type BodyText, log, readText } from '../../http/start.ts'
import type { Json } from '../../json/index.ts'
import { essence, isJsonType } from '../../json/start.ts'
import { MAX_CALL_BYTES, MAX_REFUSED_CALL_BYTES } from '../../limits.ts'
import type { CachedDocument } from '../../registry/edge/index.ts'
import type { AgentParameter, AnswerRepair, TraceContext, UpstreamMessage } from '../upstream/index.ts'
import type { OutputWarning } from './content-negotiation.ts'

/** An agent by its id, empty if there is none, and as the caller named it: errors repeat only what the caller wrote. */
export type AgentRef = { id: string; named: string }

/** Refers to an agent that the caller names by its id. */
export const agentById = (id = ''): AgentRef => ({ id, named: id })

/** A call in its binding: how to read it, and the form of its responses. */
export type InboundCall = {
  /** The agent, if the path names it. */
  readonly agent: AgentRef | undefined
  /** Finds the agent by the parameters of the call, where the path does not name it. */
  findAgent?: (context: CallContext) => Promise<AgentRef | CallError> | undefined
  /** Reads the body. Returns an error if it is not a call. */
  read: () => Promise<CallError | undefined>
  /** Parses what was read, now that the versions of the agent are known. */
  parse: (profile: CallProfile) => A2ACall | CallError
  /** The parameter that selected the agent; absent where the path does. */
  readonly selector?: AgentParameter | undefined
  /** Writes the call for an agent of the same version and binding, from what was parsed and checked. */
  toUpstream: (call: A2ACall, target: CallTarget) => UpstreamMessage
  /** The form of errors before the call is parsed. */
  getErrorForm: () => ErrorForm
  /** Wraps an extended card in a response of the binding. */
  wrapCard: (document: Pick<CachedDocument, 'body'>) => Response
}

/** A warning of the gate about a call that passes. */
export type GateWarning =
  | CallError
  | OutputWarning
  /** A translation between versions or bindings could not carry the members with these paths. */
  | { kind: 'lossy'; losses: readonly string[] }
  | { kind: 'repaired'; repairs: readonly AnswerRepair[] }
  /** A stack trace that a `warn` level lets pass. */
  | { kind: 'stack-trace' }

/** The state of a call so far. Each step of `handleCall` adds to it; the log line is written from it. */
export type CallContext = Readonly<RequestContext> & {
  /** Identified by a token of this host; once the agent is resolved, also by credentials that its card names. */
  caller: Authentication
  agent: AgentRef
  /** Null until the agent is resolved, and if there is no such agent. */
  profile: CallProfile | null
  call?: A2ACall
  /** The trace of the caller, if it has one. */
  trace?: TraceContext
  /** The findings of `warn` levels of the gate, and media types of an answer that were not expected. */
  warnings: readonly GateWarning[]
  /** The status of the agent's own response. */
  upstreamStatus?: number
}

/** Creates the context of a call whose agent is not resolved yet. */
export const createCallContext = (
  caller: Authentication,
  { request, env, ctx, timing }: RequestContext,
): CallContext => ({ request, env, ctx, timing, caller, agent: agentById(), profile: null, warnings: [] })

// Body

/** Checks whether a request declares a body that is small enough to be read even if the call is refused. */
export const hasSmallBody = ({ headers }: Request): boolean =>
  Number(headers.get('Content-Length') ?? MAX_CALL_BYTES) <= MAX_REFUSED_CALL_BYTES

/** Reads and parses the body of a call. The value of an empty body that is `optional` is null. */
export const readCallBody = async (
  request: Request,
  { optional = false } = {},
): Promise<{ value: Json } | CallError> => {
  const { headers } = request
  // A POST without a body has a length of 0 and no content type.
  if (optional && (headers.get('Content-Length') === '0' || request.body === null)) return { value: null }
  const type = headers.get('Content-Type')
  // What `curl -d` declares, as GopherHole's examples do, is accepted if `Authorization` requires a preflight.
  if (!isJsonType(type) && !(essence(type) === 'application/x-www-form-urlencoded' && headers.has('Authorization')))
    return { kind: 'content-type', offered: type }
  const read = await readText(request, MAX_CALL_BYTES)
  if ('failed' in read) return BODY_ERRORS[read.failed]
  return read.text === '' && optional ? { value: null } : parseJsonLossless(read.text)
}

const BODY_ERRORS: Record<Extract<BodyText, { failed: string }>['failed'], CallError> = {
  'too-large': { kind: 'too-large', maxBytes: MAX_CALL_BYTES },
  'not-utf-8': { kind: 'not-json', detail: 'The body is not UTF-8 text, as JSON must be.' },
  // The client has disconnected: this error is for the log.
  incomplete: { kind: 'aborted' },
}

// Log

/** Writes the log line of one call. No line contains what a caller or an agent wrote, except for valid ids. */
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

/** Reports a warning in `Gate-Warning` and the log line of the call; in a line of its own once those are written. */
export const reportWarning = (context: CallContext, warning: GateWarning, place: AnswerPlace): void => {
  if (place === 'event') logStream(context, { warning })
  else context.warnings = [...context.warnings, warning]
}

/** Writes a log line about a stream that has begun: the error that ended it, or a warning about an event. */
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
    'a2a.method.name': methodOf(call.operation, latestVersion) ?? call.operation,
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

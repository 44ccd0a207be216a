import type { ProblemCode } from '../problems.ts'

/** An error that a client may see, with a `code` of the table of problems, which is loaded with the first error. */
export class HttpError<Code extends ProblemCode = ProblemCode> extends Error {
  override readonly name = 'HttpError'
  readonly code: Code
  /** The errors in a body, by JSON Pointers. */
  readonly errors: { pointer: string; message: string }[]
  readonly headers: Record<string, string>

  constructor(code: Code, detail: string, { errors = [], headers = {} }: ProblemMembers = {}) {
    super(detail)
    this.code = code
    this.errors = errors
    this.headers = headers
  }
}

type ProblemMembers = Partial<Pick<HttpError, 'errors' | 'headers'>>

/** Returns the error with a code of the table of problems, to be returned or thrown. `detail` is for people. */
export const problem = <Code extends ProblemCode>(code: Code, detail: string, members?: ProblemMembers) =>
  new HttpError(code, detail, members)

/** The period of the host's rate limits (wrangler.toml). */
export const RATE_LIMIT_SECONDS = 60

/** The error for a client past a rate limit, which `detail` names. */
export const tooManyRequests = (detail: string) =>
  problem('too-many-requests', `${detail} Try again in a minute.`, {
    headers: { 'Retry-After': String(RATE_LIMIT_SECONDS) },
  })

/** The error while KV, the Registry or a token's issuer does not respond, which is logged where it arises. */
export const serviceUnavailable = (detail = 'This host cannot look up its agents right now.') =>
  problem('unavailable', `${detail} Try again in a moment.`, { headers: { 'Retry-After': '10' } })

/** Logs a defect of this host. */
export const logUnexpected = (error: unknown) => log('error', 'unexpected', { 'exception.stacktrace': stackOf(error) })

/** Returns the stack of an error, for the log. */
export const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))

type LogLevel = 'info' | 'warn' | 'error'

/** The events of the log. docs/observability.md explains each. */
type LogEvent =
  | ('call' | 'stream' | 'rpc' | 'tool-call' | 'check-unanswered' | 'task-owners-unavailable' | 'observations-lost')
  | ('card-unread' | 'extended-card-invalid' | 'refresh-failed' | 'source-blocked' | 'signing-key')
  | ('issuer-keys-ignored' | 'issuer-unread' | 'jwt-unverifiable' | 'refusal-unrecorded')
  | ('kv-read-failed' | 'registry-unavailable' | 'storage-unavailable' | 'publication-failed' | 'purge-failed')
  | ('webhook-changes-lost' | 'webhook-failed' | 'misconfigured' | 'unexpected')

/** The fields of a line: this host's own, and those of OpenTelemetry's semantic conventions. */
type LogFields = Partial<Record<TextField, string | undefined> & Record<NumberField, number | undefined>>
type TextField =
  | ('a2a.method.name' | 'a2a.protocol.version' | 'rpc.method' | 'gen_ai.agent.id' | 'server.address')
  | ('calling_card.binding' | 'calling_card.caller' | 'calling_card.detail' | 'calling_card.issuer')
  | ('calling_card.key' | 'calling_card.outcome' | 'calling_card.pointer' | 'calling_card.warnings')
  | ('error.type' | 'exception.message' | 'exception.stacktrace')
  | ('trace_id' | 'span_id' | 'parent_span_id' | 'trace_flags')
type NumberField =
  | ('calling_card.duration_ms' | 'calling_card.upstream.status_code')
  | ('http.response.status_code' | 'server.port')

/** Writes one structured line to the Worker's log. Fields never contain a token, a body or the value of a header. */
export const log = (level: LogLevel, event: LogEvent, fields: LogFields): void =>
  console[level](JSON.stringify({ event, ...fields }))

/** Writes the beginning of lines that differ in their last fields. */
export const beginLine = (event: LogEvent, fields: LogFields): string =>
  JSON.stringify({ event, ...fields }).slice(0, -1)

/** Writes a line with such a beginning, and at least one more field. */
export const endLine = (level: LogLevel, begun: string, fields: LogFields): void =>
  console[level](`${begun},${JSON.stringify(fields).slice(1)}`)

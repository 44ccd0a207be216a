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

/** The events of the log. `npm run docs` writes docs/reference/log.md from these comments: the level, and when. */
type LogEvent =
  /** info: An A2A call. `error` if the owner has to correct something (`misconfigured`, `foreign-task`). */
  | 'call'
  /** info: The host ends the stream of a call with an error, or an event has a warning. `error` for `foreign-task`. */
  | 'stream'
  /** info: A request to SuperX's `POST /rpc`. */
  | 'rpc'
  /** info: A call of a tool of an MCP server. `error` if the server fails. */
  | 'tool-call'
  /** info: A [check](docs/guide/owners.md#check-your-agent) could not reach an agent directly. */
  | 'check-unanswered'
  /** error: A remote card could not be fetched or read. */
  | 'card-unread'
  /** error: The refresh of a remote card failed unexpectedly. */
  | 'refresh-failed'
  /** warn: The host does not call the address of a remote card, or of an agent behind `route: gateway`. */
  | 'source-blocked'
  /** error: An agent returned an extended card that cannot be served. */
  | 'extended-card-invalid'
  /** error: The keys of an OpenID Connect issuer could not be fetched or read. */
  | 'issuer-unread'
  /** error: An issuer has more keys than `MAX_ISSUER_KEYS`. */
  | 'issuer-keys-ignored'
  /** error: A key of an issuer is malformed. */
  | 'jwt-unverifiable'
  /** error: `SIGNING_KEY` or `SIGNING_KEY_2` is not valid: the host signs nothing with it. */
  | 'signing-key'
  /** error: Variables have wrong values, once in an isolate. `calling_card.detail` names each, and its form. */
  | 'misconfigured'
  /** error: KV did not respond; the last known value is served. */
  | 'kv-read-failed'
  /** error: KV did not store a key; the host tries again. */
  | 'publication-failed'
  /** error: The cached lists could not be purged. */
  | 'purge-failed'
  /** error: The registry did not respond. */
  | 'registry-unavailable'
  /** error: A Durable Object did not respond; the client got 503. */
  | 'storage-unavailable'
  /** error: The Durable Object with the owners of tasks did not respond. */
  | 'task-owners-unavailable'
  /** warn: The audit could not record a refused write. */
  | 'refusal-unrecorded'
  /** warn: What calls have shown could not be recorded. */
  | 'observations-lost'
  /**
   * warn: The receiver of the webhook did not accept a change, or the host does not call its address; the host tries
   * again. `error` if the receiver is gone (410), after which nothing is sent until `WEBHOOK_URL` changes, or if the
   * state of the webhook could not be read.
   */
  | 'webhook-failed'
  /** error: Changes were given up, because the receiver of the webhook failed for too long. */
  | 'webhook-changes-lost'
  /**
   * error: A defect of this host: the client got an empty 500, its event stream ended, or a search by name left out an
   * agent.
   */
  | 'unexpected'

/** The fields of a line: this host's own, and those of OpenTelemetry's semantic conventions. */
type LogFields = Partial<Record<TextField, string | undefined> & Record<NumberField, number | undefined>>

// Each with its meaning, which docs/reference/log.md repeats.
type TextField =
  /** The id of the agent, if it exists. */
  | 'gen_ai.agent.id'
  /** The operation, by its name in A2A 1.0 in every version and binding: `SendMessage`, `GetTask` … */
  | 'a2a.method.name'
  /** The version of the caller: `1.0` or `0.3`. */
  | 'a2a.protocol.version'
  /** The method of SuperX. */
  | 'rpc.method'
  /** The error, by its [name](docs/reference/call-errors.md). */
  | 'error.type'
  /** The host name of a remote card's upstream. */
  | 'server.address'
  /** The error of the runtime. */
  | 'exception.message'
  /** The same, with the place in the code of this host. */
  | 'exception.stacktrace'
  /** The trace of the caller. */
  | 'trace_id'
  /** The span of this host, which is the parent of the agent's. */
  | 'span_id'
  /** The span of the caller. */
  | 'parent_span_id'
  /** `01` if the caller records the trace. */
  | 'trace_flags'
  /** The binding of the caller: `JSONRPC` or `HTTP+JSON`. */
  | 'calling_card.binding'
  /**
   * The subject of the caller, such as `token:k3v7q2mzt5ab` or `admin`; without one, the reason: `anonymous`,
   * `unrecognized`, `bad-token`, `throttled` or `unavailable`.
   */
  | 'calling_card.caller'
  /**
   * The errors of checks with the level `warn`, `undeclared-output-modes`, `unaccepted-output-modes`, what was
   * repaired (docs/design/calls.md#what-is-repaired), and `lossy` with what a translation lost
   * (docs/design/calls.md#what-is-lost).
   */
  | 'calling_card.warnings'
  /** The reason of an error, in the words of this host or of the runtime. */
  | 'calling_card.detail'
  /** The result of a tool: `done`, `tool-failed`, or why it did not run. */
  | 'calling_card.outcome'
  /** The origin of an OpenID Connect issuer. */
  | 'calling_card.issuer'
  /** The key in KV, without the digest of a token. */
  | 'calling_card.key'
  /** A JSON Pointer into an extended card. */
  | 'calling_card.pointer'

type NumberField =
  /** Milliseconds until the headers of the response; the rest of a stream is not included. */
  | 'calling_card.duration_ms'
  /** The status of the agent's response. */
  | 'calling_card.upstream.status_code'
  /** The status of the response; in `webhook-failed`, that of the webhook's receiver. */
  | 'http.response.status_code'
  /** The port of `server.address`, if the URL has one. */
  | 'server.port'

/** Writes one structured line to the Worker's log. Fields never contain a token, a body or the value of a header. */
export const log = (level: LogLevel, event: LogEvent, fields: LogFields): void =>
  console[level](JSON.stringify({ event, ...fields }))

/** Writes the beginning of lines that differ in their last fields. */
export const beginLine = (event: LogEvent, fields: LogFields): string =>
  JSON.stringify({ event, ...fields }).slice(0, -1)

/** Writes a line with such a beginning, and at least one more field. */
export const endLine = (level: LogLevel, begun: string, fields: LogFields): void =>
  console[level](`${begun},${JSON.stringify(fields).slice(1)}`)

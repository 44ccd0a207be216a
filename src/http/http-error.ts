import { jsonResponse } from './handler.ts'
import { CORS_HEADERS, NO_STORE } from './headers.ts'

/** An error that a client may see, thrown anywhere: the response has problem details (RFC 9457). `code` is stable. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly code: string
  /** The errors in a body, by JSON Pointers. */
  readonly errors: { pointer: string; message: string }[]
  readonly headers: Record<string, string>

  constructor(status: number, code: string, detail: string, more: Partial<Pick<HttpError, 'errors' | 'headers'>> = {}) {
    super(detail)
    this.status = status
    this.code = code
    this.errors = more.errors ?? []
    this.headers = more.headers ?? {}
  }
}

const titles: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  424: 'Failed Dependency',
  429: 'Too Many Requests',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  507: 'Insufficient Storage',
}

/** Returns the problem details of an error (RFC 9457). */
export const toProblem = ({ status, code, message, errors }: HttpError) => ({
  type: 'about:blank',
  title: titles[status],
  status,
  code,
  detail: message,
  ...(errors.length > 0 && { errors }),
})

/** The period of the host's rate limits (wrangler.toml). */
export const RATE_LIMIT_SECONDS = 60

/** The error for a client past a rate limit, which `detail` names. */
export const tooManyRequests = (detail: string): HttpError =>
  new HttpError(429, 'too-many-requests', `${detail} Try again in a minute.`, {
    headers: { 'Retry-After': String(RATE_LIMIT_SECONDS) },
  })

/** The error while KV, the Registry or a token's issuer does not respond, which is logged where it arises. */
export const serviceUnavailable = (detail = 'This host cannot look up its agents right now.'): HttpError =>
  new HttpError(503, 'unavailable', `${detail} Try again in a moment.`, { headers: { 'Retry-After': '10' } })

/** Returns the response to an error: problem details; for one that no client may see, which is logged, a blank 500. */
export const toErrorResponse = (error: unknown): Response => {
  const known = toHttpError(error)
  if (known)
    return jsonResponse(toProblem(known), known.status, {
      'Content-Type': 'application/problem+json',
      ...known.headers,
    })
  logUnexpected(error)
  return new Response(null, { status: 500, headers: { ...CORS_HEADERS, 'Cache-Control': NO_STORE } })
}

/**
 * Returns an error that a client may see: an HttpError, a 503 while a Durable Object is unavailable, or a 507 for a
 * write for which SQLite has no room. Undefined for any other.
 */
export const toHttpError = (error: unknown): HttpError | undefined => {
  if (error instanceof HttpError) return error
  if (!(error instanceof Error)) return undefined
  if (error.message.includes('database or disk is full')) return new HttpError(507, 'storage-full', STORAGE_FULL)
  // The object cannot be reached, is overloaded, or was reset by the platform.
  if (!['retryable', 'overloaded', 'durableObjectReset'].some(name => Reflect.get(error, name) === true))
    return undefined
  log('error', 'storage-unavailable', { 'exception.stacktrace': stackOf(error) })
  return serviceUnavailable('The storage of this host does not respond right now.')
}

const STORAGE_FULL =
  'Nothing was written: the storage of this host is full. Cards and calls still work. Remove agents to make room.'

/** Logs a defect of this host. */
export const logUnexpected = (error: unknown): void =>
  log('error', 'unexpected', { 'exception.stacktrace': stackOf(error) })

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

/** The events of the log. docs/observability.md explains each. */
type LogEvent =
  | 'call'
  | 'card-unread'
  | 'check-unanswered'
  | 'extended-card-invalid'
  | 'issuer-keys-ignored'
  | 'issuer-unread'
  | 'jwt-unverifiable'
  | 'kv-read-failed'
  | 'misconfigured'
  | 'observations-lost'
  | 'publication-failed'
  | 'purge-failed'
  | 'refresh-failed'
  | 'refusal-unrecorded'
  | 'registry-unavailable'
  | 'rpc'
  | 'signing-key'
  | 'source-blocked'
  | 'storage-unavailable'
  | 'stream'
  | 'task-owners-unavailable'
  | 'tool-call'
  | 'unexpected'
  | 'webhook-changes-lost'
  | 'webhook-failed'

/** The fields of a line: this host's own, and those of OpenTelemetry's semantic conventions. */
type LogFields = {
  'a2a.method.name'?: string
  'a2a.protocol.version'?: string
  'calling_card.binding'?: string
  'calling_card.caller'?: string
  'calling_card.detail'?: string
  'calling_card.duration_ms'?: number
  'calling_card.issuer'?: string
  'calling_card.key'?: string
  'calling_card.outcome'?: string
  'calling_card.pointer'?: string
  'calling_card.upstream.status_code'?: number
  'calling_card.warnings'?: string
  'error.type'?: string
  'exception.message'?: string
  'exception.stacktrace'?: string
  'gen_ai.agent.id'?: string
  'http.response.status_code'?: number
  parent_span_id?: string
  'rpc.method'?: string
  'server.address'?: string
  'server.port'?: number
  span_id?: string
  trace_flags?: string
  trace_id?: string
}

/** Writes one structured line to the Worker's log. Fields never contain a token, a body or the value of a header. */
export const log = (level: 'info' | 'warn' | 'error', event: LogEvent, fields: LogFields): void =>
  console[level](JSON.stringify({ event, ...fields }))

import { CORS_HEADERS } from './headers.ts'
import { jsonResponse } from './responses.ts'

/** One thing that is wrong with a body, and where: a JSON Pointer. */
type FieldError = { pointer: string; message: string }

/** An error that a client may see: thrown anywhere in the host, answered as RFC 9457 problem+json. `code` is stable. */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  readonly errors: FieldError[]
  readonly headers: Record<string, string>

  constructor(
    status: number,
    code: string,
    detail: string,
    { errors = [], headers = {} }: { errors?: FieldError[]; headers?: Record<string, string> } = {},
  ) {
    super(detail)
    this.status = status
    this.code = code
    this.errors = errors
    this.headers = headers
  }
}

const titles: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  508: 'Loop Detected',
}

/** The problem+json response of an error; never cached, readable from any origin. */
export const problemResponse = ({ status, code, message, errors, headers }: HttpError): Response =>
  jsonResponse(
    {
      type: 'about:blank',
      title: titles[status],
      status,
      code,
      detail: message,
      ...(errors.length > 0 && { errors }),
    },
    status,
    { 'Content-Type': 'application/problem+json', ...headers },
  )

/** What a client sees of an error that nobody foresaw: nothing but the status. */
export const internalError = (): Response =>
  new Response(null, { status: 500, headers: { ...CORS_HEADERS, 'Cache-Control': 'no-store' } })

/** More than the limit of a minute takes; the detail says of what. */
export const tooManyRequests = (detail: string): HttpError =>
  new HttpError(429, 'too-many-requests', `${detail} Try again in a minute.`, { headers: { 'Retry-After': '60' } })

/** What this host knows of its agents cannot be read now; the log says why. */
export const serviceUnavailable = (): HttpError =>
  new HttpError(503, 'unavailable', 'This host cannot look up its agents now. Try again in a moment.', {
    headers: { 'Retry-After': '10' },
  })

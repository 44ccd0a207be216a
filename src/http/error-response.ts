import { problems } from '../problems.ts'
import { jsonResponse } from './handler.ts'
import { CORS_HEADERS, NO_STORE } from './headers.ts'
import { HttpError, log, logUnexpected, problem, serviceUnavailable, stackOf } from './http-error.ts'

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

/** Returns the status of an error. */
export const statusOf = ({ code }: HttpError): number => problems[code][0]

/** Returns the problem details of an error (RFC 9457). */
export const toProblem = (error: HttpError) => ({
  type: 'about:blank' as const,
  title: titles[statusOf(error)] ?? '',
  status: statusOf(error),
  code: error.code,
  detail: error.message,
  ...(error.errors.length > 0 && { errors: error.errors }),
})

/** Returns the response to an error: problem details; for one that no client may see, which is logged, a blank 500. */
export const toErrorResponse = (error: unknown): Response => {
  const known = toHttpError(error)
  if (known)
    return jsonResponse(toProblem(known), statusOf(known), {
      'Content-Type': 'application/problem+json',
      ...known.headers,
    })
  logUnexpected(error)
  return new Response(null, { status: 500, headers: { ...CORS_HEADERS, 'Cache-Control': NO_STORE } })
}

/** Checks whether an error means that a database is full. */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('database or disk is full')

/** Returns the error that a client may see, also for storage that is unavailable or full; undefined for any other. */
export const toHttpError = (error: unknown): HttpError | undefined => {
  if (error instanceof HttpError) return error
  if (!(error instanceof Error)) return undefined
  if (isStorageFull(error))
    return problem(
      'storage-full',
      'Nothing was written: the storage of this host is full. Cards and calls still work. Remove agents to make room.',
    )
  // The object cannot be reached, is overloaded, or was reset by the platform.
  if (!['retryable', 'overloaded', 'durableObjectReset'].some(name => Reflect.get(error, name) === true))
    return undefined
  log('error', 'storage-unavailable', { 'exception.stacktrace': stackOf(error) })
  return serviceUnavailable('The storage of this host does not respond right now.')
}

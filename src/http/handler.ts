import { CORS_HEADERS, NO_STORE } from './headers.ts'
import type { ServerTiming } from './server-timing.ts'

/** The variable segments of a request's path by name, percent-encoded as they were sent. */
export type PathParams = Readonly<Record<string, string | undefined>>

/** An endpoint. Errors for clients are thrown as HttpError. */
export type Handler = (
  request: Request,
  env: Env,
  ctx: ExecutionContext,
  params: PathParams,
) => Promise<Response> | Response

/** The arguments of a handler, as one value for functions with more parameters. */
export type RequestContext = {
  request: Request
  env: Env
  ctx: ExecutionContext
  /** Measures the request, if its client prefers that. */
  timing?: ServerTiming | undefined
}

/** Starts to measure a request if its client may prefer that. Loaded on first use, because few clients do. */
export const startTiming = ({ headers }: Pick<Request, 'headers'>): Promise<ServerTiming | undefined> | undefined =>
  headers.has('Prefer')
    ? import('./server-timing.ts').then(({ ServerTiming }) => ServerTiming.start(headers))
    : undefined

/** Returns a JSON response for any origin, which is not cached unless `headers` say otherwise. */
export const jsonResponse = (body: unknown, status = 200, headers?: Record<string, string>): Response =>
  a2aResponse(typeof body === 'string' ? body : JSON.stringify(body), status, headers)

/** Checks whether a `Response` can have a body with a foreign status: with any other, its constructor throws. */
export const canHaveBody = (status: number): boolean =>
  status >= 200 && status < 600 && status !== 204 && status !== 205 && status !== 304

/** The headers of responses by their media types: cloning a `Headers` costs half as much as building one. */
const prebuiltHeaders = new Map<string, Headers>()

/** The number of media types that are kept: an agent may send any number of them. */
const MAX_PREBUILT = 20

const headersOf = (type: string): Headers => {
  const known = prebuiltHeaders.get(type)
  if (known) return known
  const headers = new Headers({ ...CORS_HEADERS, 'Cache-Control': NO_STORE, 'Content-Type': type })
  if (prebuiltHeaders.size < MAX_PREBUILT) prebuiltHeaders.set(type, headers)
  return headers
}

/** Returns the response to an A2A call: JSON that is not cached, unless `extra` says otherwise. */
export const a2aResponse = (body: BodyInit | null, status: number, extra: Record<string, string> = {}): Response => {
  const response = new Response(body, { status, headers: headersOf(extra['Content-Type'] ?? 'application/json') })
  for (const [name, value] of Object.entries(extra)) if (name !== 'Content-Type') response.headers.set(name, value)
  return response
}

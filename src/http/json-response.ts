import { NO_STORE } from './caching.ts'
import { CORS_HEADERS } from './headers.ts'

/** A JSON response, open to every origin and kept by no cache unless `headers` say otherwise. */
export const jsonResponse = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), {
    status,
    headers: { ...CORS_HEADERS, 'Content-Type': 'application/json', 'Cache-Control': NO_STORE, ...headers },
  })

import { noStore } from './caching.ts'
import { cors } from './headers.ts'

/** A JSON response, open to every origin and kept by no cache unless `headers` say otherwise. */
export const jsonResponse = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), {
    status,
    headers: { ...cors, 'Content-Type': 'application/json', 'Cache-Control': noStore, ...headers },
  })

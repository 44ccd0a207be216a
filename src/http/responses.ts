import { A2A_CORS_HEADERS, CORS_HEADERS, NO_STORE } from './headers.ts'

/** A JSON response, open to every origin and kept by no cache unless `headers` say otherwise. */
export const jsonResponse = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), {
    status,
    headers: { ...CORS_HEADERS, 'Content-Type': 'application/json', 'Cache-Control': NO_STORE, ...headers },
  })

/** What every answer to a call says, most often all that it says: copied from here they cost the runtime half. */
const said: Record<string, string> = {
  ...A2A_CORS_HEADERS,
  'Cache-Control': NO_STORE,
  'Content-Type': 'application/json',
}
const always = new Headers(said)

/** The response to a call: JSON that nobody keeps and any page may read, unless `more` or who has it says otherwise. */
export const a2aResponse = (body: BodyInit | null, status: number, more: Record<string, string> = {}): Response => {
  const response = new Response(body, { status, headers: always })
  for (const [name, value] of Object.entries(more)) if (value !== said[name]) response.headers.set(name, value)
  return response
}

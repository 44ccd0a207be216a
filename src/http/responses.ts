import { NO_STORE } from './caching.ts'
import { A2A_CORS_HEADERS } from './headers.ts'

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

import { boundedText } from './bounded-text.ts'
import { guardedFetch } from './fetch-guard.ts'
import { isJsonType } from './json-type.ts'

/** A JSON document of another host; or why there is none, for the log alone: to a client all of these are the same. */
export type Fetched =
  | { value: unknown }
  | { failed: 'blocked' | 'unreachable' | 'timeout' | 'redirect' | 'status' | 'not-json' | 'too-large'; detail: string }

/** What a document may cost (design §9); a caller may ask for less. `allowedOrigins` as for `guardedFetch`. */
export type FetchLimits = { allowedOrigins?: string; maxBytes?: number; seconds?: number }

/** Fetches a JSON document through the guard: a 200 with a JSON type, whole, within the limits. Never rejects. */
export const guardedJson = async (
  url: string,
  { allowedOrigins, maxBytes = 1024 * 1024, seconds = 10 }: FetchLimits = {},
): Promise<Fetched> => {
  const signal = AbortSignal.timeout(seconds * 1000)
  try {
    const response = await guardedFetch(url, { headers: { Accept: 'application/json' }, signal }, allowedOrigins)
    if ('blocked' in response) return { failed: 'blocked', detail: response.blocked }
    const fetched = await read(response, maxBytes)
    // What is left of a body that nobody wants would hold its connection.
    if (!response.bodyUsed) response.body?.cancel().catch(() => undefined)
    return fetched
  } catch (error) {
    if (signal.aborted) return { failed: 'timeout', detail: `more than ${seconds} s` }
    return { failed: 'unreachable', detail: error instanceof Error ? error.message : '' }
  }
}

const read = async (response: Response, maxBytes: number): Promise<Fetched> => {
  const { status, headers } = response
  if (status >= 300 && status < 400) return { failed: 'redirect', detail: `${status}` }
  if (status !== 200) return { failed: 'status', detail: `${status}` }
  const type = headers.get('Content-Type')
  if (!isJsonType(type)) return { failed: 'not-json', detail: `its Content-Type is ${type}` }
  const body = await boundedText(response, maxBytes)
  if ('failed' in body && body.failed === 'too-large')
    return { failed: 'too-large', detail: `more than ${maxBytes} bytes` }
  try {
    if ('text' in body) return { value: JSON.parse(body.text) }
  } catch {
    // Told below, as what is not even text.
  }
  return { failed: 'not-json', detail: 'it says that it is JSON, but does not parse' }
}

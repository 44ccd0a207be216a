import { boundedBody } from '../http/bounded-body.ts'
import { noStore } from '../http/caching.ts'
import { callCors } from '../http/cors.ts'
import { isJsonType } from '../http/json-type.ts'
import type { Failure } from './verdict.ts'

/** What an answer is judged by. */
export type AnswerTerms = {
  /** The most that an answer may hold, in bytes. */
  maxBytes: number
  /** Whether the agent may answer nothing at all, as to a DELETE over HTTP+JSON. */
  mayBeEmpty: boolean
  /** Whether the credentials were this Worker's: then that the agent does not take them is no concern of the caller's. */
  ownCredentials: boolean
  /** The body that tells an error in the form of the call. */
  errorText: (message: string) => string
}

/** Only these of an agent's headers come down. */
const passed = ['A2A-Version', 'A2A-Extensions', 'X-A2A-Extensions', 'Retry-After']

/** What a caller must see even where the agent tells it in HTML, and what is said then. */
const plainRefusals: Readonly<Record<number, string>> = {
  401: 'The agent wants credentials (HTTP 401).',
  403: 'The agent does not let these credentials do this (HTTP 403).',
  429: 'The agent is called too often (HTTP 429).',
}

/** An agent's answer on its way down, but a stream: JSON byte for byte as it came, no more of it than allowed. */
export const answered = async (upstream: Response, terms: AnswerTerms): Promise<Response | Failure> => {
  const { status, headers } = upstream
  if (status >= 300 && status < 400) return { failed: 'redirect' }
  if (terms.ownCredentials && (status === 401 || status === 403))
    return { failed: 'misconfigured', detail: `the agent answers ${status} to the Worker's own credentials` }
  const isJson = isJsonType(headers.get('Content-Type'))
  if (isJson || terms.mayBeEmpty) {
    const bytes = await boundedBody(upstream, terms.maxBytes)
    if (bytes === undefined) return { failed: 'too-large', most: terms.maxBytes }
    if (terms.mayBeEmpty && upstream.ok && bytes.byteLength === 0)
      return new Response(null, { status, headers: downHeaders(upstream) })
    // What a Response can carry is what HTTP knows.
    if (isJson && status >= 200 && status < 600 && parses(bytes))
      return new Response(bytes, { status, headers: downHeaders(upstream, headers.get('Content-Type')) })
  }
  const said = plainRefusals[status]
  return said === undefined
    ? { failed: 'not-json', status }
    : new Response(terms.errorText(said), { status, headers: downHeaders(upstream, 'application/json') })
}

/** The headers of an agent's answer that its caller sees, and this host's own. */
export const downHeaders = ({ status, headers }: Response, type: string | null = null): Record<string, string> => {
  const down: Record<string, string> = { ...callCors, 'Cache-Control': noStore }
  if (type !== null) down['Content-Type'] = type
  for (const name of status === 401 ? [...passed, 'WWW-Authenticate'] : passed) {
    const value = headers.get(name)
    if (value !== null) down[name] = value
  }
  return down
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

const parses = (bytes: Uint8Array): boolean => {
  try {
    JSON.parse(decoder.decode(bytes))
    return true
  } catch {
    return false
  }
}

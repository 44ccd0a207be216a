import { type Failure, PASSTHROUGH_STATUSES } from '../a2a/errors.ts'
import { readText } from '../http/body.ts'
import { isJsonType } from '../http/media-type.ts'
import { a2aResponse } from '../http/responses.ts'
import { CLOUDFLARE_ERRORS } from '../http/safe-fetch.ts'

const json = 'application/json'

/** Only these of an agent's headers come down. */
const passed = ['A2A-Version', 'A2A-Extensions', 'X-A2A-Extensions', 'Retry-After']
const passedRefusing = [...passed, 'WWW-Authenticate']

/** What an agent's caller gets: a body of a type, the agent's status, an allow-list of its headers, and this host's own. */
export const toClientResponse = (
  body: BodyInit | null,
  type: string | null,
  { status, headers: from }: Response,
): Response => {
  const response = a2aResponse(body, status)
  if (type === null) response.headers.delete('Content-Type')
  else if (type !== json) response.headers.set('Content-Type', type)
  for (const name of status === 401 ? passedRefusing : passed) {
    const value = from.get(name)
    if (value !== null) response.headers.set(name, name === 'WWW-Authenticate' ? sanitizeChallenge(value) : value)
  }
  return response
}

/** The parameters of a challenge that go on, and what they may say: where an agent is, none of them can. */
const told: ReadonlyMap<string, RegExp> = new Map([
  ['realm', /^[\w -]{1,64}$/],
  ['error', /^[a-z_]{1,64}$/],
  ['scope', /^[\w:. -]{1,256}$/],
  ['charset', /^[\w-]{1,16}$/],
  // Of RFC 7616, without which nobody could answer it.
  ...['algorithm', 'qop', 'nonce', 'opaque', 'stale'].map((name): [string, RegExp] => [name, /^[\w+/=, -]{1,256}$/]),
])

/** No honest challenge is longer, in characters. */
const longestChallenge = 1024

/** An agent's challenge, made anew of its scheme and of what it tells without an address. */
const sanitizeChallenge = (challenge: string): string => {
  const text = challenge.slice(0, longestChallenge)
  const [scheme = ''] = /^[\w-]{1,32}/.exec(text) ?? []
  const said = [...text.matchAll(/[\s,]([a-z]{1,32})=(?:"([^"\\]*)"|([^\s",\\]*))/gi)].flatMap(
    ([, name = '', quoted, plain = '']) => {
      const value = quoted ?? plain
      if (!told.get(name.toLowerCase())?.test(value)) return []
      return [quoted === undefined ? `${name}=${value}` : `${name}="${value}"`]
    },
  )
  return `${scheme} ${said.join(', ')}`.trim()
}

/** What an answer is judged by. */
type AnswerTerms = {
  /** The most that an answer may hold, in bytes. */
  maxBytes: number
  /** Whether the agent may answer nothing at all, as to a DELETE over HTTP+JSON. */
  mayBeEmpty: boolean
  /** Whether the credentials were this Worker's: then that the agent does not take them is no concern of the caller's. */
  ownCredentials: boolean
  /** The body that tells a failure in the form of the call. */
  errorText: (failure: Failure) => string
}

/** An agent's answer on its way down, but a stream: its JSON as it came, but for a BOM, and no more of it than allowed. */
export const readUpstreamResponse = async (upstream: Response, terms: AnswerTerms): Promise<Response | Failure> => {
  const { status, headers } = upstream
  if (status >= 300 && status < 400) return { failed: 'redirect', status }
  if (terms.ownCredentials && (status === 401 || status === 403))
    return { failed: 'misconfigured', detail: `the agent answers ${status} to the Worker's own credentials` }
  const type = headers.get('Content-Type')
  const isJson = isJsonType(type)
  if (isJson || terms.mayBeEmpty) {
    const read = await readText(upstream, terms.maxBytes)
    if ('failed' in read)
      return read.failed === 'too-large'
        ? { failed: 'too-large', most: terms.maxBytes, status }
        : { failed: 'not-json', status }
    if (terms.mayBeEmpty && upstream.ok && read.text === '') return toClientResponse(null, null, upstream)
    // What a Response can carry is what HTTP knows.
    if (isJson && status >= 200 && status < 600 && parses(read.text)) return toClientResponse(read.text, type, upstream)
  }
  if (!(status in PASSTHROUGH_STATUSES)) return CLOUDFLARE_ERRORS.get(status) ?? { failed: 'not-json', status }
  return toClientResponse(terms.errorText({ failed: 'agent-refused', status }), 'application/json', upstream)
}

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

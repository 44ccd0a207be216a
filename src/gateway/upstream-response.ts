import { a2aResponse } from '../http/responses.ts'

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

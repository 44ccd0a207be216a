import { callAnswer } from '../http/call-answer.ts'

const json = 'application/json'

/** Only these of an agent's headers come down. */
const passed = ['A2A-Version', 'A2A-Extensions', 'X-A2A-Extensions', 'Retry-After']
const passedRefusing = [...passed, 'WWW-Authenticate']

/** What an agent's caller gets: a body of a type, the agent's status, an allow-list of its headers, and this host's own. */
export const handedDown = (
  body: BodyInit | null,
  type: string | null,
  { status, headers: from }: Response,
): Response => {
  const response = callAnswer(body, status)
  if (type === null) response.headers.delete('Content-Type')
  else if (type !== json) response.headers.set('Content-Type', type)
  for (const name of status === 401 ? passedRefusing : passed) {
    const value = from.get(name)
    if (value !== null) response.headers.set(name, name === 'WWW-Authenticate' ? withoutAddresses(value) : value)
  }
  return response
}

/** A challenge without the parameters that say where the agent is, such as RFC 9728's `resource_metadata`. */
const withoutAddresses = (challenge: string): string =>
  challenge
    .replace(/(?:,\s*)?[\w-]+\s*=\s*(?:"[^"]*:\/\/[^"]*"|[^\s",]*:\/\/[^\s",]*)/g, '')
    .replace(/^(\S+)\s*,\s*/, '$1 ')
    .trim()

import { PASSTHROUGH_STATUSES } from '../a2a/failures.ts'
import type { Failure } from '../a2a/verdict.ts'
import { readText } from '../http/bounded-text.ts'
import { isJsonType } from '../http/json-type.ts'
import { CLOUDFLARE_ERRORS } from '../http/network-failures.ts'
import { toClientResponse } from './upstream-response.ts'

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

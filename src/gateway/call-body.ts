import { parseJsonLossless } from '../a2a/jsonrpc.ts'
import { readText } from '../http/bounded-text.ts'
import { essence, isJsonType } from '../http/json-type.ts'
import type { Body } from './endpoint.ts'

/** The largest call that this host takes, in bytes (design §9). */
const most = 4 * 1024 * 1024

/** Whether the body of a call says that it is small: then it is read, were it but for the id of a call that goes no further. */
export const isSmall = ({ headers }: Request): boolean => Number(headers.get('Content-Length') ?? most) <= small

const small = 16 * 1024

/** The body of a call, parsed; or why it cannot be one. An empty one is null where the call needs none. */
export const readCallBody = async (request: Request, needed: boolean): Promise<Body> => {
  const { headers } = request
  // A POST without a body says so by its length, and has no type.
  if (!needed && (request.body === null || headers.get('Content-Length') === '0')) return { value: null }
  if (!isAccepted(headers)) return { refused: 'content-type', offered: headers.get('Content-Type') }
  const read = await readText(request, most)
  if ('failed' in read)
    return read.failed === 'too-large'
      ? { refused: 'too-large', most }
      : { refused: 'not-json', detail: 'The body is not UTF-8 text; JSON always is.' }
  return read.text === '' && !needed ? { value: null } : parseJsonLossless(read.text)
}

/**
 * JSON; and what `curl -d` says of its body, which GopherHole's examples leave at that. A page could send that one anywhere
 * without asking, but no Authorization with it.
 */
const isAccepted = (headers: Headers): boolean => {
  const type = headers.get('Content-Type')
  return isJsonType(type) || (essence(type) === 'application/x-www-form-urlencoded' && headers.has('Authorization'))
}

import { parseCall } from '../../a2a/exact-json.ts'
import type { Refusal } from '../../a2a/verdict.ts'
import type { Json } from '../../card/json.ts'
import { boundedBody } from '../../http/bounded-body.ts'
import { isJsonType, mediaTypeName } from '../../http/json-type.ts'

/** The largest call that this host takes, in bytes (design §9). */
const most = 4 * 1024 * 1024

/** The body of a call, parsed; or why it cannot be one. An empty one is null where the call needs none. */
export const callBody = async (request: Request, needed: boolean): Promise<{ value: Json } | Refusal> => {
  const { headers, body } = request
  // A POST without a body says so by its length, and has no type.
  if (!needed && (body === null || headers.get('Content-Length') === '0')) return { value: null }
  if (!isAccepted(headers)) return { refused: 'content-type', offered: headers.get('Content-Type') }
  const bytes = await boundedBody(request, most)
  if (bytes === undefined) return { refused: 'too-large', most }
  if (bytes.byteLength === 0 && !needed) return { value: null }
  const text = decode(bytes)
  return text === undefined
    ? { refused: 'not-json', detail: 'The body is not UTF-8 text; JSON always is.' }
    : parseCall(text)
}

/**
 * JSON; and what `curl -d` says of its body, which GopherHole's examples leave at that. A page could send that one anywhere
 * without asking, but no Authorization with it.
 */
const isAccepted = (headers: Headers): boolean => {
  const type = headers.get('Content-Type')
  return (
    isJsonType(type) || (mediaTypeName(type) === 'application/x-www-form-urlencoded' && headers.has('Authorization'))
  )
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

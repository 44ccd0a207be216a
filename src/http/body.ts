import type { Json } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { MAX_BODY_BYTES } from '../limits.ts'
import { HttpError } from './errors.ts'
import { isJsonType } from './media-type.ts'

/** The text of a body, or why there is none. `incomplete`: the client disconnected while sending it. */
export type BodyText = { text: string } | { failed: 'too-large' | 'not-utf-8' | 'incomplete' }

/** Reads a request's JSON body. Checks its media type first, then its size, syntax and depth. */
export const readJson = async (request: Request): Promise<Json> => {
  if (!isJsonType(request.headers.get('Content-Type')))
    throw new HttpError(415, 'unsupported-media-type', 'Send JSON, with `Content-Type: application/json`.')
  const body = await readText(request, MAX_BODY_BYTES)
  if ('failed' in body) throw bodyErrors[body.failed]()
  const parsed = parseJson(body.text)
  if ('value' in parsed) return parsed.value
  throw new HttpError(parsed.refused === 'too-deep' ? 422 : 400, parsed.refused, parsed.detail)
}

const bodyErrors = {
  'too-large': () => new HttpError(413, 'too-large', `The body is larger than ${MAX_BODY_BYTES / 1024} KiB.`),
  'not-utf-8': () => new HttpError(400, 'not-json', 'The body is not UTF-8 text, as JSON must be.'),
  incomplete: () => new HttpError(400, 'incomplete-body', 'The request ended before its body was complete.'),
}

/**
 * Reads a body as UTF-8 text of at most `maxBytes`, counted after decompression. Rejects if the body of a response breaks off.
 *
 * A body with a `Content-Length` is left to the runtime, which decodes it at half the cost of reading the stream here, and
 * replaces what is not UTF-8 by U+FFFD. Then the result has another length than the body, or, if only the last byte of a
 * character is missing, the same length and a U+FFFD that was not sent.
 */
export const readText = async (message: Request | Response, maxBytes: number): Promise<BodyText> => {
  const length = declaredContentLength(message)
  try {
    // `message.body` is not read: creating the object of the stream would slow down every call.
    if (length !== null && length <= maxBytes) return checkText(await message.text(), length, maxBytes)
    const { body } = message
    if (body === null) return { text: '' }
    return length === null ? await readStream(message, body, maxBytes) : await drain(message, body.getReader())
  } catch (error) {
    // Only the client can break off its own request.
    if (message instanceof Request) return { failed: 'incomplete' }
    throw error
  }
}

const checkText = (text: string, length: number, maxBytes: number): BodyText => {
  // A service binding does not enforce the declared length, as HTTP does.
  if (isLarger(text, maxBytes)) return { failed: 'too-large' }
  return text.includes('\ufffd') && !hasLength(text, length) ? { failed: 'not-utf-8' } : { text }
}

/**
 * Returns `Content-Length`; null if it is not the number of bytes that will be read: with `Content-Encoding` they are inflated, and
 * `Transfer-Encoding` overrides it (RFC 9112 §6.3).
 */
const declaredContentLength = ({ headers }: Request | Response): number | null => {
  const length = headers.get('Content-Length')
  const isReliable = !headers.has('Content-Encoding') && !headers.has('Transfer-Encoding')
  return isReliable && length !== null && /^\d+$/.test(length) ? Number(length) : null
}

/** Compares the UTF-8 length of a text with a limit. A UTF-16 unit takes one to three bytes, so few texts must be encoded. */
const isLarger = (text: string, maxBytes: number): boolean =>
  text.length > maxBytes || (3 * text.length > maxBytes && utf8Length(text) > maxBytes)

/** The byte order mark, of three bytes, is not part of the text. */
const hasLength = (text: string, length: number): boolean => [length, length - 3].includes(utf8Length(text))

const utf8Length = (text: string): number => new TextEncoder().encode(text).byteLength

const INITIAL_BUFFER_BYTES = 16 * 1024

const readStream = async (
  message: Request | Response,
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<BodyText> => {
  const reader = body.getReader()
  // One growing buffer: a list of chunks of one byte each would take a hundred times the size of the body.
  let buffer: Uint8Array = new Uint8Array(Math.min(maxBytes, INITIAL_BUFFER_BYTES))
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return decodeUtf8(buffer.subarray(0, size))
    const needed = size + value.byteLength
    if (needed > maxBytes) return drain(message, reader)
    if (needed > buffer.byteLength) buffer = grow(buffer, needed, maxBytes)
    buffer.set(value, size)
    size = needed
  }
}

const grow = (buffer: Uint8Array, needed: number, maxBytes: number): Uint8Array => {
  const larger = new Uint8Array(Math.min(maxBytes, Math.max(needed, 2 * buffer.byteLength)))
  larger.set(buffer)
  return larger
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

const decodeUtf8 = (bytes: Uint8Array): BodyText => {
  try {
    return { text: strictDecoder.decode(bytes) }
  } catch {
    return { failed: 'not-utf-8' }
  }
}

/** How much of a request that is too large is read and dropped. */
const MAX_DRAINED_BYTES = 16 * 1024 * 1024

/**
 * Drops the rest of a body that is too large. A request is read on, within limits: a client that is still sending when the
 * connection closes may never see the response.
 */
const drain = async (
  message: Request | Response,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<BodyText> => {
  for (let drained = 0; message instanceof Request && drained < MAX_DRAINED_BYTES; ) {
    const { done, value } = await reader.read()
    if (done) return { failed: 'too-large' }
    drained += value.byteLength
  }
  // Not awaited: how the sender takes it does not matter.
  reader.cancel().catch(() => undefined)
  return { failed: 'too-large' }
}

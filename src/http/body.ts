import type { Json } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { MAX_BODY_BYTES } from '../limits.ts'
import { HttpError } from './errors.ts'
import { isJsonType } from './media-type.ts'

/**
 * The bytes of a body, as its sender tells them before; null where that is not to be relied on: they are other bytes than will be
 * read, or HTTP goes by the chunks (RFC 9112 §6.3), and the length may be a lie.
 */
const declaredContentLength = ({ headers }: Request | Response): number | null => {
  const length = headers.get('Content-Length')
  return length === null || headers.has('Content-Encoding') || headers.has('Transfer-Encoding') ? null : Number(length)
}

/**
 * Reads the body of a request or response to its end, but no more of it than `most` bytes, inflated: undefined where there are
 * more. One whose length is known, as it comes, is read at once: that is much the cheaper way.
 */
export const readBytes = async (message: Request | Response, most: number): Promise<Uint8Array | undefined> => {
  const { body } = message
  if (body === null) return new Uint8Array()
  const length = declaredContentLength(message)
  if (length === null) return boundedStream(message, body, most)
  if (length <= most) return new Uint8Array(await message.arrayBuffer())
  await drain(message, body.getReader())
  return undefined
}

const boundedStream = async (
  message: Request | Response,
  body: ReadableStream<Uint8Array>,
  most: number,
): Promise<Uint8Array | undefined> => {
  const reader = body.getReader()
  // One buffer: a body that comes byte by byte would cost a hundred times its size in chunks.
  let held: Uint8Array = new Uint8Array(Math.min(most, 16 * 1024))
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return held.subarray(0, size)
    if (size + value.byteLength > most) {
      await drain(message, reader)
      return undefined
    }
    if (size + value.byteLength > held.byteLength) held = grown(held, size + value.byteLength, most)
    held.set(value, size)
    size += value.byteLength
  }
}

const grown = (held: Uint8Array, needed: number, most: number): Uint8Array => {
  const larger = new Uint8Array(Math.min(most, Math.max(needed, 2 * held.byteLength)))
  larger.set(held)
  return larger
}

/** The most of a request that is read only to be dropped, in bytes. */
const mostDropped = 16 * 1024 * 1024

/**
 * Leaves the rest of a body. Of a request it is read, within reason: who is still sending when the answer comes may find the
 * connection cut, and never read why.
 */
const drain = async (message: Request | Response, reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> => {
  for (let dropped = 0; message instanceof Request && dropped < mostDropped; ) {
    const { done, value } = await reader.read()
    if (done) return
    dropped += value.byteLength
  }
  // Not awaited: what an upstream makes of it is nobody's concern.
  reader.cancel().catch(() => undefined)
}

/** The text of a body; or why there is none. */
type BoundedText = { text: string } | { failed: 'too-large' | 'not-utf-8' }

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
const replacement = '\ufffd'

/**
 * Reads a body that is text, as `boundedBody` does. One whose length is known is left to the runtime, which makes text of bytes
 * at half the cost but puts a replacement character for what is no UTF-8: then there are other bytes than came, or, of a
 * character that lacks its last byte, as many, and a replacement character is all that is lost. Nor is the stream looked at, which
 * the runtime would have to make an object of.
 */
export const readText = async (message: Request | Response, most: number): Promise<BoundedText> => {
  const length = declaredContentLength(message)
  if (length !== null && length <= most) {
    const text = await message.text()
    return text.includes(replacement) && !hasLength(text, length) ? { failed: 'not-utf-8' } : { text }
  }
  const bytes = await readBytes(message, most)
  if (bytes === undefined) return { failed: 'too-large' }
  try {
    return { text: decoder.decode(bytes) }
  } catch {
    return { failed: 'not-utf-8' }
  }
}

/** A BOM, of three bytes, is no part of the text. */
const hasLength = (text: string, length: number): boolean =>
  [length, length - 3].includes(new TextEncoder().encode(text).byteLength)

/** Reads a request's JSON body: its media type first, never more than the limit, then its syntax and depth. */
export const readJson = async (request: Request): Promise<Json> => {
  if (!isJsonType(request.headers.get('Content-Type')))
    throw new HttpError(415, 'unsupported-media-type', 'Send JSON, with `Content-Type: application/json`.')
  const body = await readText(request, MAX_BODY_BYTES)
  if ('failed' in body) throw body.failed === 'too-large' ? tooLarge() : notText()
  const parsed = parseJson(body.text)
  if ('value' in parsed) return parsed.value
  throw new HttpError(parsed.refused === 'too-deep' ? 422 : 400, parsed.refused, parsed.detail)
}

const tooLarge = () =>
  new HttpError(
    413,
    'too-large',
    `The body is larger than ${MAX_BODY_BYTES / 1024} KiB, the most that this host takes.`,
  )

const notText = () => new HttpError(400, 'not-json', 'The body is not UTF-8 text; JSON always is.')

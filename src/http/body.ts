/** The text of a body, or why there is none. `incomplete`: the client disconnected while sending it. */
export type BodyText = { text: string } | { failed: 'too-large' | 'not-utf-8' | 'incomplete' }

type BodyBytes = { bytes: Uint8Array } | { failed: 'too-large' | 'incomplete' }

/**
 * Reads a body as UTF-8 text of at most `maxBytes`, counted after decompression. Rejects if the body of a response
 * breaks off.
 *
 * A body with a `Content-Length` is left to the runtime, which decodes it at half the cost, and replaces what is not
 * UTF-8 by U+FFFD: then the text has another length, or if only the last byte of a character is missing, the same one.
 */
export const readText = (
  message: Request | Response,
  maxBytes: number,
  headers = message.headers,
): Promise<BodyText> => {
  const length = declaredContentLength(headers)
  if (length === null || length > maxBytes)
    return readBytes(message, maxBytes).then(read => ('bytes' in read ? decodeUtf8(read.bytes) : read))
  // `message.body` is not read: creating the object of the stream would slow down every call.
  return message.text().then(
    text => {
      // A service binding does not enforce the declared length, as HTTP does.
      if (isLarger(text, maxBytes)) return { failed: 'too-large' }
      return text.includes('\ufffd') && !hasLength(text, length) ? { failed: 'not-utf-8' } : { text }
    },
    error => incomplete(message, error),
  )
}

/** Only the client can break off its own request. */
const incomplete = (message: Request | Response, error: unknown): { failed: 'incomplete' } => {
  if (message instanceof Request) return { failed: 'incomplete' }
  throw error
}

/** Returns `Content-Length`; null if it is not the number of bytes that will be read (RFC 9112 §6.3). */
const declaredContentLength = (headers: Headers): number | null => {
  const length = headers.get('Content-Length')
  const isReliable = !headers.has('Content-Encoding') && !headers.has('Transfer-Encoding')
  return isReliable && length !== null && /^\d+$/.test(length) ? Number(length) : null
}

/** Checks the UTF-8 length of a text. A UTF-16 unit takes one to three bytes, so few texts must be encoded. */
const isLarger = (text: string, maxBytes: number): boolean =>
  text.length > maxBytes || (3 * text.length > maxBytes && utf8Length(text) > maxBytes)

/** The byte order mark, of three bytes, is not part of the text. */
const hasLength = (text: string, length: number): boolean => [length, length - 3].includes(utf8Length(text))

const utf8Length = (text: string): number => new TextEncoder().encode(text).byteLength

const INITIAL_BUFFER_BYTES = 16 * 1024

/** Reads the bytes of a body in the same way, undecoded. */
export const readBytes = async (message: Request | Response, maxBytes: number): Promise<BodyBytes> => {
  if (message.body === null) return { bytes: new Uint8Array() }
  const length = declaredContentLength(message.headers)
  try {
    const reader: ReadableStreamDefaultReader<Uint8Array> = message.body.getReader()
    if (length !== null && length > maxBytes) return await drain(message, reader)
    // One growing buffer: a list of chunks of one byte each would take a hundred times the size of the body.
    let buffer: Uint8Array = new Uint8Array(Math.min(maxBytes, INITIAL_BUFFER_BYTES))
    let size = 0
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { bytes: buffer.subarray(0, size) }
      const needed = size + value.byteLength
      if (needed > maxBytes) return await drain(message, reader)
      if (needed > buffer.byteLength) {
        const larger = new Uint8Array(Math.min(maxBytes, Math.max(needed, 2 * buffer.byteLength)))
        larger.set(buffer)
        buffer = larger
      }
      buffer.set(value, size)
      size = needed
    }
  } catch (error) {
    return incomplete(message, error)
  }
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

const decodeUtf8 = (bytes: Uint8Array): BodyText => {
  try {
    return { text: strictDecoder.decode(bytes) }
  } catch {
    return { failed: 'not-utf-8' }
  }
}

const MAX_DRAINED_BYTES = 16 * 1024 * 1024

/** Drops the rest of a body. Reads a request on, within limits: a client that is still sending may see no response. */
const drain = async (message: Request | Response, reader: ReadableStreamDefaultReader<Uint8Array>) => {
  const result = { failed: 'too-large' } as const
  for (let drained = 0; message instanceof Request && drained < MAX_DRAINED_BYTES; ) {
    const { done, value } = await reader.read()
    if (done) return result
    drained += value.byteLength
  }
  reader.cancel().catch(() => undefined)
  return result
}

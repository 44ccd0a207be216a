import { declaredContentLength } from './told-length.ts'

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

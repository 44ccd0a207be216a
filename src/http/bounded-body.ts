/**
 * Reads the body of a request or response to its end, but no more of it than `most` bytes, inflated: undefined where there are
 * more. One whose length is known, as it comes, is read at once: that is much the cheaper way.
 */
export const boundedBody = async (message: Request | Response, most: number): Promise<Uint8Array | undefined> => {
  const { body, headers } = message
  if (body === null) return new Uint8Array()
  const length = headers.has('Content-Encoding') ? null : headers.get('Content-Length')
  if (length === null) return boundedStream(message, body, most)
  if (Number(length) <= most) return new Uint8Array(await message.arrayBuffer())
  await leave(message, body.getReader())
  return undefined
}

const boundedStream = async (
  message: Request | Response,
  body: ReadableStream<Uint8Array>,
  most: number,
): Promise<Uint8Array | undefined> => {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > most) {
      await leave(message, reader)
      return undefined
    }
    chunks.push(value)
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : joined(chunks, size)
}

/** The most of a request that is read only to be dropped, in bytes. */
const mostDropped = 16 * 1024 * 1024

/**
 * Leaves the rest of a body. Of a request it is read, within reason: who is still sending when the answer comes may find the
 * connection cut, and never read why.
 */
const leave = async (message: Request | Response, reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> => {
  for (let dropped = 0; message instanceof Request && dropped < mostDropped; ) {
    const { done, value } = await reader.read()
    if (done) return
    dropped += value.byteLength
  }
  // Not awaited: what an upstream makes of it is nobody's concern.
  reader.cancel().catch(() => undefined)
}

const joined = (chunks: readonly Uint8Array[], size: number): Uint8Array => {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

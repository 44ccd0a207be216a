/**
 * Reads the body of a request or response to its end, but no more of it than `most` bytes, inflated: undefined where there are
 * more. One whose length is known, as it comes, is read at once: that is much the cheaper way.
 */
export const boundedBody = async (message: Request | Response, most: number): Promise<Uint8Array | undefined> => {
  const { body, headers } = message
  if (body === null) return new Uint8Array()
  const length = headers.has('Content-Encoding') ? null : headers.get('Content-Length')
  if (length === null) return boundedStream(body, most)
  return Number(length) <= most ? new Uint8Array(await message.arrayBuffer()) : undefined
}

const boundedStream = async (body: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array | undefined> => {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > most) {
      // Not awaited: what an upstream makes of it is nobody's concern.
      reader.cancel().catch(() => undefined)
      return undefined
    }
    chunks.push(value)
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : joined(chunks, size)
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

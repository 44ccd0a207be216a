import { readBytes } from './body.ts'
import { declaredContentLength } from './told-length.ts'

/** The text of a body; or why there is none. */
export type BoundedText = { text: string } | { failed: 'too-large' | 'not-utf-8' }

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

/** The first byte that is not UTF-8, for people: its offset, from 0, and the line and column of the text there, from 1. */
type InvalidByte = { message: string; offset: number; line: number; column: number }

/** Decodes UTF-8 text, without its byte order mark. Returns the place of the first byte that is not UTF-8, if there is one. */
export const decodeUtf8 = (bytes: Uint8Array): { text: string } | InvalidByte => {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes) }
  } catch {
    return findInvalidByte(bytes)
  }
}

const REPLACEMENT_BYTES = [0xef, 0xbf, 0xbd]

/** A lenient decoder replaces the byte, so it is at the first U+FFFD that the bytes themselves do not have. */
const findInvalidByte = (bytes: Uint8Array): InvalidByte => {
  const text = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes)
  const encoder = new TextEncoder()
  let [index, offset] = [0, 0]
  for (;;) {
    const next = text.indexOf('\ufffd', index)
    offset += encoder.encode(text.slice(index, next)).byteLength
    if (!REPLACEMENT_BYTES.every((byte, position) => bytes[offset + position] === byte)) {
      const lines = text
        .slice(0, next)
        .replace(/^\ufeff/, '')
        .split('\n')
      const byte = bytes[offset]?.toString(16).toUpperCase().padStart(2, '0')
      const message = `the byte 0x${byte} at offset ${offset}`
      return { message, offset, line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
    }
    index = next + 1
    offset += REPLACEMENT_BYTES.length
  }
}

// The part of Node.js's `Buffer` that the SDK needs for base64: browsers have none. Import it before the SDK.

class Bytes extends Uint8Array {
  override toString(encoding?: string): string {
    return encoding === 'base64' ? toBase64(this) : super.toString()
  }
}

/** `btoa` takes a string, which `String.fromCharCode` builds from a limited number of arguments. */
const CHUNK_LENGTH = 0x8000

/** Writes bytes in base64. */
export const toBase64 = (bytes: Uint8Array): string => {
  let binary = ''
  for (let start = 0; start < bytes.length; start += CHUNK_LENGTH)
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_LENGTH))
  return btoa(binary)
}

/** Wraps bytes in what the SDK takes for Node.js's `Buffer`. */
export const toBuffer = (bytes: ArrayLike<number>): Uint8Array => new Bytes(bytes)

/** Reads base64 in either alphabet, as ProtoJSON allows; `atob` knows one. Any other text has no bytes. */
const fromBase64 = (text: string): Bytes => {
  try {
    return Bytes.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), character => character.charCodeAt(0))
  } catch {
    return new Bytes()
  }
}

Object.assign(globalThis, {
  Buffer: {
    from: (source: unknown) =>
      typeof source === 'string' ? fromBase64(source) : toBuffer(source instanceof Uint8Array ? source : []),
    isBuffer: (value: unknown) => value instanceof Bytes,
  },
})

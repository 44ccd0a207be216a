/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4 §4.2.2). */
const CONSTANTS = new Uint32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
])

/** The same of the square roots of the first 8 primes (§5.3.3). */
const INITIAL = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

const BLOCK_BYTES = 64
/** Where the length of the message begins in its last block. */
const LENGTH_OFFSET = 56

/**
 * Computes SHA-256 (FIPS 180-4) synchronously and piece by piece. Web Crypto can do neither: a transaction of SQLite cannot wait for
 * it, and it takes a whole file at once.
 */
export class Sha256 {
  readonly #state = new Uint32Array(INITIAL)
  readonly #block = new Uint8Array(BLOCK_BYTES)
  readonly #view = new DataView(this.#block.buffer)
  readonly #words = new Uint32Array(64)
  #length = 0

  /** Adds bytes, or a text in UTF-8. */
  update(data: Uint8Array | string): this {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
    for (let offset = 0; offset < bytes.byteLength; ) {
      const filled = this.#length % BLOCK_BYTES
      const part = bytes.subarray(offset, offset + BLOCK_BYTES - filled)
      this.#block.set(part, filled)
      this.#length += part.byteLength
      offset += part.byteLength
      if (this.#length % BLOCK_BYTES === 0) this.#compress()
    }
    return this
  }

  /** Returns the digest in hexadecimal. Nothing can be added after that. */
  digest(): string {
    const bits = this.#length * 8
    const filled = this.#length % BLOCK_BYTES
    const zeros = (filled < LENGTH_OFFSET ? LENGTH_OFFSET : LENGTH_OFFSET + BLOCK_BYTES) - filled - 1
    const padding = new Uint8Array(1 + zeros + 8)
    padding[0] = 0x80
    const view = new DataView(padding.buffer)
    view.setUint32(1 + zeros, Math.floor(bits / 2 ** 32))
    view.setUint32(1 + zeros + 4, bits % 2 ** 32)
    this.update(padding)
    return Array.from(this.#state, word => word.toString(16).padStart(8, '0')).join('')
  }

  /** Processes the block (§6.2.2). */
  #compress(): void {
    const words = this.#words
    for (let index = 0; index < 16; index++) words[index] = this.#view.getUint32(4 * index)
    for (let index = 16; index < 64; index++) {
      const [before15 = 0, before2 = 0] = [words[index - 15], words[index - 2]]
      const sigma0 = rotate(before15, 7) ^ rotate(before15, 18) ^ (before15 >>> 3)
      const sigma1 = rotate(before2, 17) ^ rotate(before2, 19) ^ (before2 >>> 10)
      words[index] = at(words, index - 16) + sigma0 + at(words, index - 7) + sigma1
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = this.#state
    for (let index = 0; index < 64; index++) {
      const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      const choice = (e & f) ^ (~e & g)
      const first = (h + sum1 + choice + at(CONSTANTS, index) + at(words, index)) | 0
      const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
      const majority = (a & b) ^ (a & c) ^ (b & c)
      h = g
      g = f
      f = e
      e = (d + first) | 0
      d = c
      c = b
      b = a
      a = (first + sum0 + majority) | 0
    }
    for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) this.#state[index] = at(this.#state, index) + word
  }
}

/** Returns the SHA-256 of bytes, or of a text in UTF-8, in hexadecimal. */
export const sha256 = (data: Uint8Array | string): string => new Sha256().update(data).digest()

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits))

const at = (words: Uint32Array, index: number): number => words[index] ?? 0

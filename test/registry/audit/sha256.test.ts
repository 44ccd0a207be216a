import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Sha256, sha256 } from '../../../src/registry/audit/sha256.ts'

const expected = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')

describe('sha256', () => {
  it.each(['', 'abc', 'é漢😀', 'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'])('hashes %j', text => {
    expect(sha256(text)).toBe(expected(text))
  })

  it('hashes every length around the size of a block', () => {
    const lengths = Array.from({ length: 200 }, (_, length) => 'x'.repeat(length))
    expect(lengths.map(sha256)).toEqual(lengths.map(expected))
  })

  it('hashes pieces of any size as it hashes the whole', () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, index) => (index * 31) % 256)
    const whole = expected(bytes)
    expect(sha256(bytes)).toBe(whole)
    let offset = 0
    const pieces = new Sha256()
    for (const size of [1, 63, 64, 65, 0, 1000, 3807]) {
      pieces.update(bytes.subarray(offset, offset + size))
      offset += size
    }
    expect([offset, pieces.digest()]).toEqual([5000, whole])
  })
})

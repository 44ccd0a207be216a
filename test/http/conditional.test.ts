import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../../src/http/conditional.ts'

describe('sha256Hex', () => {
  it('returns the SHA-256 of a text in hexadecimal', async () => {
    expect(await sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})

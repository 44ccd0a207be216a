import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createToken, isToken, tokenId } from '../../src/auth/token.ts'
import { sha256Hex } from '../../src/http/conditional.ts'

const sound = `cc_${'a'.repeat(12)}_${'b'.repeat(32)}`

describe('a new token', () => {
  it('has the form that is asked of tokens, names its id, and is known by its SHA-256', async () => {
    const { id, token, hash } = await createToken()
    expect({ token: isToken(token), id: tokenId.test(id), named: token.startsWith(`cc_${id}_`), hash }).toEqual({
      token: true,
      id: true,
      named: true,
      hash: createHash('sha256').update(token).digest('hex'),
    })
  })

  it('is another each time, of all characters alike', async () => {
    const tokens = await Promise.all(Array.from({ length: 500 }, createToken))
    const characters = tokens.map(({ token }) => token.slice(16)).join('')
    const counts = Object.values(Object.groupBy(characters, character => character)).map(found => found?.length ?? 0)
    expect([new Set(tokens.map(({ token }) => token)).size, counts.length]).toEqual([500, 32])
    // 16,000 characters of 32 kinds: 500 of each, give or take 22; nine times that is never reached by chance.
    expect(Math.max(...counts.map(count => Math.abs(count - 500)))).toBeLessThan(200)
  })
})

describe('the form of a token', () => {
  it.each([
    ['a sound one', sound, true],
    ['empty', '', false],
    ['only the prefix', 'cc_', false],
    ['without its secret', `cc_${'a'.repeat(12)}`, false],
    ['cut short', sound.slice(0, -1), false],
    ['too long', `${sound}b`, false],
    ['in upper case', sound.toUpperCase(), false],
    ['with a digit that base32 has not', sound.replace('b', '1'), false],
    ['with a newline behind', `${sound}\n`, false],
    ['with a space before', ` ${sound}`, false],
    ['with another prefix', sound.replace('cc_', 'cd_'), false],
    ['two of them', `${sound}, ${sound}`, false],
    ['very long', `cc_${'a'.repeat(100_000)}`, false],
  ])('%s: %#', (_, text, is) => {
    expect(isToken(text)).toBe(is)
  })
})

describe('hashOf', () => {
  it('is the SHA-256 of the whole text in hexadecimal', async () => {
    expect(await sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})

import { createHash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import {
  containsAdminToken,
  containsHostToken,
  createToken,
  createTokenFinder,
  isToken,
} from '../../src/auth/bearer-token.ts'
import { tokenIdPattern } from '../../src/card/model/constants.ts'

const token = `cc_${'a'.repeat(12)}_${'b'.repeat(32)}`
const admin = 'Zm9v+the/admin=token'

describe('createToken', () => {
  it('returns another token each time, with its id and its SHA-256', async () => {
    const { id, token, hash } = await createToken()
    expect([isToken(token), tokenIdPattern.test(id), token.startsWith(`cc_${id}_`)]).toEqual([true, true, true])
    expect(hash).toBe(createHash('sha256').update(token).digest('hex'))
    expect((await createToken()).token).not.toBe(token)
  })
})

describe('isToken', () => {
  it('accepts a token, and nothing else', () => {
    expect(isToken(token)).toBe(true)
    for (const text of [`${token}b`, token.toUpperCase(), token.replace('b', '1'), `${token}\n`, ` ${token}`])
      expect(isToken(text), text).toBe(false)
  })
})

describe('the ADMIN_TOKEN', () => {
  it('is not found if it is too short to be accepted: other words may contain it', () => {
    vi.spyOn(console, 'error').mockReturnValue()
    expect(containsAdminToken('Bearer dev', { ADMIN_TOKEN: 'dev' })).toBe(false)
    expect(containsAdminToken('Bearer of-16-characters', { ADMIN_TOKEN: 'of-16-characters' })).toBe(true)
  })
})

describe('containsHostToken', () => {
  const encodeBasic = (text: string) => `Basic ${btoa(text)}`
  const contains = (value: string, ADMIN_TOKEN = admin) => containsHostToken(value, { ADMIN_TOKEN })

  it('finds a token of this host in any form of a header', () => {
    const issued = [
      ...['cc_', `CC_${token.slice(3)}`, `Bearer: ${token}`, `Digest username="u", response="${token}"`],
      ...[`theirs;${token}`, `Bearer%20${token}`, `x.${token}.y`, encodeBasic(`u:${token}`)],
      `basic  ${btoa(`>>>???${token}`).replaceAll('+', '-').replaceAll('/', '_')}`,
      `Basic dTpw, ${encodeBasic(`u:${token}`)}`,
    ]
    const ofAdmin = [admin, `x${admin}x`, encodeBasic(`u:${admin}`), encodeBasic(`u:${admin}`).replace(/=+$/, '')]
    expect([...issued, ...ofAdmin].filter(value => !contains(value))).toEqual([])
  })

  it('finds none in other headers, nor on a host without an ADMIN_TOKEN', () => {
    const others = [
      ...['', 'acc_theirs', 'eyJhbGciOiJub25lIn0.cc_theirs.acc_-cc_x/cc_y+cc_z'],
      ...['Basic dTpw', 'Basic !', 'Basic A', 'Basic AAAAA'],
      ...[admin.slice(1), admin.slice(0, -1)],
    ]
    expect(others.filter(value => contains(value))).toEqual([])
    expect(containsHostToken('undefined', { ADMIN_TOKEN: undefined })).toBe(false)
  })

  it('searches the beginning and the end of a long value for the ADMIN_TOKEN, which could carry hundreds of guesses', () => {
    const guesses = Array.from({ length: 300 }, (_, index) => `admin-token-guess-${index}`)
    const found = (toValue: (guesses: string[]) => string, token = admin) =>
      [0, 150, 299].map(index => contains(toValue(guesses.with(index, token))))
    expect(found(all => all.join(','))).toEqual([true, false, true])
    expect(found(all => all.map(encodeBasic).join(', '))).toEqual([true, false, true])
    expect(found(all => all.join(','), token)).toEqual([true, true, true])
    // 104 characters at either end: two tokens, and what may be around them.
    const around = (before: number, after: number) => contains('x'.repeat(before) + admin + 'x'.repeat(after))
    expect([around(84, 105), around(85, 103), around(85, 104)]).toEqual([true, true, false])
  })
})

describe('the texts of one call', () => {
  /** Returns how many of the texts are withheld of a call that has 300 other ones before them. */
  const countFound = (before: string, texts: string[]): number => {
    const contains = createTokenFinder({ ADMIN_TOKEN: admin })
    for (let index = 0; index < 300; index++) contains(`${before}${index}`)
    return texts.filter(contains).length
  }

  it('are searched for the ADMIN_TOKEN up to the 16th, so that a query or a list carries no hundreds of guesses', () => {
    expect([countFound('', [admin]), countFound('the-guess-of-the-token-', [admin])]).toEqual([1, 0])
    expect(countFound('the-guess-of-the-token-', [token, `Bearer ${token}`, 'cc_'])).toBe(3)
  })

  it('have the same result each time', () => {
    const contains = createTokenFinder({ ADMIN_TOKEN: admin })
    const texts = Array.from({ length: 20 }, (_, index) => `${admin} ${index}`)
    for (let time = 0; time < 2; time++) expect(texts.filter(contains)).toEqual(texts.slice(0, 16))
  })
})

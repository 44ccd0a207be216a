import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  containsAdminToken,
  containsHostToken,
  createToken,
  createTokenFinder,
  isAdminTokenMissing,
  isToken,
} from '../../src/auth/token.ts'
import { tokenIdPattern } from '../../src/card/model/constants.ts'
import { growth, linear } from '../support/cpu-time.ts'

const token = `cc_${'a'.repeat(12)}_${'b'.repeat(32)}`

describe('createToken', () => {
  it('returns a token with its id and its SHA-256', async () => {
    const { id, token, hash } = await createToken()
    expect({
      isToken: isToken(token),
      isId: tokenIdPattern.test(id),
      containsId: token.startsWith(`cc_${id}_`),
      hash,
    }).toEqual({
      isToken: true,
      isId: true,
      containsId: true,
      hash: createHash('sha256').update(token).digest('hex'),
    })
  })

  it('returns another token each time, with uniformly distributed characters', async () => {
    const tokens = await Promise.all(Array.from({ length: 500 }, createToken))
    const characters = tokens.map(({ token }) => token.slice(16)).join('')
    const counts = Object.values(Object.groupBy(characters, character => character)).map(found => found?.length ?? 0)
    expect([new Set(tokens.map(({ token }) => token)).size, counts.length]).toEqual([500, 32])
    // Each of 32 characters is expected 500 times, with a standard deviation of 22: chance never exceeds nine times that.
    expect(Math.max(...counts.map(count => Math.abs(count - 500)))).toBeLessThan(200)
  })
})

describe('isToken', () => {
  it('accepts a token', () => {
    expect(isToken(token)).toBe(true)
  })

  it.each([
    ['an empty text', ''],
    ['the prefix alone', 'cc_'],
    ['a token without its secret', `cc_${'a'.repeat(12)}`],
    ['a truncated token', token.slice(0, -1)],
    ['a token with an extra character', `${token}b`],
    ['a token in upper case', token.toUpperCase()],
    ['a token with a digit that base32 does not have', token.replace('b', '1')],
    ['a token before a newline', `${token}\n`],
    ['a token after a space', ` ${token}`],
    ['a token with another prefix', token.replace('cc_', 'cd_')],
    ['two tokens', `${token}, ${token}`],
    ['a very long text', `cc_${'a'.repeat(100_000)}`],
  ])('rejects %s', (_, text) => {
    expect(isToken(text)).toBe(false)
  })
})

describe('isAdminTokenMissing', () => {
  it.each([
    ['', true],
    [undefined, true],
    ['dev', true],
    ['a'.repeat(15), true],
    ['a'.repeat(16), false],
  ])('for the ADMIN_TOKEN %j is %s', (ADMIN_TOKEN, expected) => {
    expect(isAdminTokenMissing({ ADMIN_TOKEN })).toBe(expected)
  })
})

describe('containsAdminToken', () => {
  it('finds no token that is too short to be accepted, which other words may contain', () => {
    expect(containsAdminToken('Bearer dev', { ADMIN_TOKEN: 'dev' })).toBe(false)
    expect(containsAdminToken('Bearer of-16-characters', { ADMIN_TOKEN: 'of-16-characters' })).toBe(true)
  })
})

describe('containsHostToken', () => {
  const admin = 'Zm9v+the/admin=token'
  const encodeBasic = (text: string) => `Basic ${btoa(text)}`
  const contains = (value: string, ADMIN_TOKEN = admin) => containsHostToken(value, { ADMIN_TOKEN })

  it.each([
    token,
    admin,
    'cc_',
    'cc_mistyped',
    `CC_${token.slice(3)}`,
    `Bearer ${token}`,
    `Bearer: ${token}`,
    `Bearer:${token}`,
    `Bearer\t${token}`,
    `Bearer "${token}"`,
    `Token ${token}`,
    `Token token=${token}`,
    `ApiKey key='${token}'`,
    `Digest username="u", response="${token}"`,
    `theirs, ${token}`,
    `theirs;${token}`,
    `u:${token}`,
    `Bearer${token}`,
    `Bearer%20${token}`,
    `x.${token}.y`,
    `${token}${token}`,
    `Token ${admin}`,
    `Bearer: ${admin}`,
    `x${admin}x`,
    `${admin.slice(0, 5)}${admin}`,
    `u:${admin}`,
    encodeBasic(`u:${token}`),
    encodeBasic(`${token}:`),
    encodeBasic(`u:${admin}`),
    encodeBasic(`u:${admin}`).replace(/=+$/, ''),
    `basic  ${btoa(`>>>???${token}`).replaceAll('+', '-').replaceAll('/', '_')}`,
    `Basic dTpw, ${encodeBasic(`u:${token}`)}`,
  ])('finds a token of this host in the header value %s', value => {
    expect(contains(value)).toBe(true)
  })

  it.each([
    '',
    'theirs',
    'Bearer theirs',
    'acc_theirs',
    'eyJhbGciOiJub25lIn0.cc_theirs.acc_-cc_x/cc_y+cc_z',
    'Basic dTpw',
    'Basic !',
    'Basic A',
    'Basic AAAAA',
    admin.slice(1),
    admin.slice(0, -1),
    `${admin.slice(0, -1)}x`,
    admin.toLowerCase(),
  ])('finds none in the header value %s', value => {
    expect(contains(value)).toBe(false)
  })

  it('searches the beginning and the end of a long value for the ADMIN_TOKEN, which could carry hundreds of guesses', () => {
    const guesses = Array.from({ length: 300 }, (_, index) => `admin-token-guess-${index}`)
    const found = [0, 150, 299].map(index => contains(guesses.with(index, admin).join(',')))
    const passwords = [0, 150, 299].map(index => contains(guesses.with(index, admin).map(encodeBasic).join(', ')))
    expect([found, passwords]).toEqual([
      [true, false, true],
      [true, false, true],
    ])
    expect(contains(guesses.with(150, token).join(','))).toBe(true)
  })

  it('finds none on a host without an ADMIN_TOKEN', () => {
    expect([
      contains('', ''),
      contains('theirs', ''),
      containsHostToken('undefined', { ADMIN_TOKEN: undefined as never }),
    ]).toEqual([false, false, false])
  })

  it('takes linear time', () => {
    for (const text of ['cc', 'Basic ', 'Basic A', 'cc_aaaaaaaaaaaa', admin.slice(0, -1)])
      expect(growth(1_000, size => contains(`x${text.repeat(size)}`))).toBeLessThan(linear)
  })
})

describe('the texts of one call', () => {
  const admin = 'Zm9v+the/admin=token'
  /** Returns how many of the texts are withheld of a call that has 300 other ones before them. */
  const countFound = (before: string, texts: string[]): number => {
    const contains = createTokenFinder({ ADMIN_TOKEN: admin })
    for (let index = 0; index < 300; index++) contains(`${before}${index}`)
    return texts.filter(contains).length
  }

  it('are searched for the ADMIN_TOKEN up to the 16th, so that a query or a list carries no hundreds of guesses', () => {
    expect([countFound('', [admin]), countFound('the-guess-of-the-token-', [admin])]).toEqual([1, 0])
  })

  it('are all searched for the tokens that a host issues', () => {
    expect(countFound('the-guess-of-the-token-', [token, `Bearer ${token}`, 'cc_'])).toBe(3)
  })

  it('have the same result each time', () => {
    const contains = createTokenFinder({ ADMIN_TOKEN: admin })
    const texts = Array.from({ length: 20 }, (_, index) => `${admin} ${index}`)
    const results = texts.map(contains)
    expect(results).toEqual(texts.map((_, index) => index < 16))
    expect(texts.map(contains)).toEqual(results)
  })
})

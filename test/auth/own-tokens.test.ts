import { describe, expect, it } from 'vitest'
import { containsHostToken } from '../../src/auth/token.ts'
import { growth, linear } from '../support/cpu-time.ts'

const token = `cc_${'a'.repeat(12)}_${'b'.repeat(32)}`
const admin = 'Zm9v+the/admin=token'
const basic = (text: string) => `Basic ${btoa(text)}`
const holds = (value: string, ADMIN_TOKEN = admin) => containsHostToken(value, { ADMIN_TOKEN })

describe('a header that holds a token of this host', () => {
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
    basic(`u:${token}`),
    basic(`${token}:`),
    basic(`u:${admin}`),
    basic(`u:${admin}`).replace(/=+$/, ''),
    `basic  ${btoa(`>>>???${token}`).replaceAll('+', '-').replaceAll('/', '_')}`,
    `Basic dTpw, ${basic(`u:${token}`)}`,
  ])('%s', value => {
    expect(holds(value)).toBe(true)
  })
})

describe('a header that holds none', () => {
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
  ])('%s', value => {
    expect(holds(value)).toBe(false)
  })

  it('is any, of an ADMIN_TOKEN that is not there', () => {
    expect([
      holds('', ''),
      holds('theirs', ''),
      containsHostToken('undefined', { ADMIN_TOKEN: undefined as never }),
    ]).toEqual([false, false, false])
  })

  it('is read in linear time', () => {
    for (const text of ['cc', 'Basic ', 'Basic A', 'cc_aaaaaaaaaaaa', admin.slice(0, -1)])
      expect(growth(1_000, size => holds(`x${text.repeat(size)}`))).toBeLessThan(linear)
  })
})

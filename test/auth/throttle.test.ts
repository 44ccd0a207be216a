import { describe, expect, it } from 'vitest'
import {
  clientKey,
  hasKnownCredentials,
  isBlocked,
  isLimited,
  recordFailure,
  recordLimited,
  recordSuccess,
} from '../../src/auth/throttle.ts'
import { sha256Hex } from '../../src/http/conditional.ts'

const keyOf = (address?: string) =>
  clientKey(new Request('https://host.example.com/', { headers: address ? { 'CF-Connecting-IP': address } : {} }))

describe('clientKey', () => {
  it.each([
    ['2001:db8:1::', '2001:db8:1:0:5:6:7:8'],
    ['2001:db8:1::5', '2001:0DB8:0001:0000:0000:0000:0000:0006'],
    ['2001:db8::1:0:0:1', '2001:db8:0:0:2::'],
    ['::1', '0:0:0:0:0:0:0:2'],
    ['1::', '1:0:0::8'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:0:0:1.2.3.4'],
    ['::ffff:1.2.3.4', '::ffff:1.2.3.4'],
  ])('is the same for %s and %s', (one, other) => {
    expect(keyOf(one)).toBe(keyOf(other))
  })

  it.each([
    ['2001:db8:1::5', '2001:db8:1:1::5'],
    ['2001:db8::1:2:0:0:1', '2001:db8::2:2:0:0:1'],
    ['1::2', '1:0:0:1::2'],
    ['203.0.113.1', '203.0.113.2'],
    ['::ffff:203.0.113.1', '::ffff:203.0.113.2'],
    ['203.0.113.1', undefined],
    ['not:an:address', 'no:address:either'],
  ])('differs for %s and %s', (one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other))
  })
})

describe('recordFailure', () => {
  const withoutAddress = new Request('https://host.example.com/')
  const exceededLimit = { limit: async () => ({ success: false }) }

  it('does not count or block requests without a client address', async () => {
    expect(await recordFailure(withoutAddress, exceededLimit)).toBe(false)
    expect(isBlocked(withoutAddress, 'digest')).toBe(false)
  })

  it('blocks an address that exceeds the limit, but not requests without an address', async () => {
    const withAddress = new Request('https://host.example.com/', { headers: { 'CF-Connecting-IP': '198.51.100.201' } })
    expect(await recordFailure(withAddress, exceededLimit)).toBe(true)
    expect([isBlocked(withAddress, 'digest'), isBlocked(withoutAddress, 'digest')]).toEqual([true, false])
  })
})

const requestFrom = (address: string, headers: Record<string, string> = {}) =>
  new Request('https://host.example.com/', { headers: { 'CF-Connecting-IP': address, ...headers } })

describe('isLimited', () => {
  it('returns true for an address past its limit of calls, for a minute', () => {
    expect(isLimited(requestFrom('198.51.100.202'))).toBe(false)
    recordLimited(requestFrom('198.51.100.202'), 1000)
    expect(isLimited(requestFrom('198.51.100.202'), 60_999)).toBe(true)
    expect(isLimited(requestFrom('198.51.100.202'), 61_000)).toBe(false)
    expect(isLimited(requestFrom('198.51.100.203'), 1000)).toBe(false)
  })
})

describe('hasKnownCredentials', () => {
  const token = (letter: string) => `cc_${letter.repeat(12)}_${'q'.repeat(32)}`

  it.each([
    ['Authorization', `Bearer ${token('a')}`],
    ['Authorization', 'Bearer e30.e30.AAAA'],
    ['X-API-Key', token('b')],
    ['X-API-Key', `Bearer ${token('c')}`],
  ])('returns true only for credentials that were valid before: %s: %s', async (name, value) => {
    const request = requestFrom('198.51.100.204', { [name]: value })
    expect(await hasKnownCredentials(request)).toBe(false)
    recordSuccess(await sha256Hex(value.replace('Bearer ', '')))
    expect(await hasKnownCredentials(request)).toBe(true)
    expect(await hasKnownCredentials(requestFrom('198.51.100.204', { [name]: `${value}x` }))).toBe(false)
  })
})

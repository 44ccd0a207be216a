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

const requestFrom = (address: string | undefined, headers: Record<string, string> = {}) =>
  new Request('https://host.example.com/', { headers: { ...(address && { 'CF-Connecting-IP': address }), ...headers } })

describe('clientKey', () => {
  it('is the address of a client, or its /64 network of IPv6', () => {
    const addresses = ['2001:db8:1::5', '1::', '1:2:3:4:5:6:7:8', '203.0.113.1', '::ffff:1.2.3.4', 'not:an:address']
    expect([...addresses, undefined].map(address => clientKey(requestFrom(address)))).toEqual([
      ...['2001:db8:1:0::', '1:0:0:0::', '1:2:3:4::', '203.0.113.1', '::ffff:1.2.3.4', 'not:an:address', 'unknown'],
    ])
    for (const [one, other] of [
      ['2001:db8:1::', '2001:db8:1:0:5:6:7:8'],
      ['2001:db8:1::5', '2001:0DB8:0001:0000:0000:0000:0000:0006'],
      ['::1', '0:0:0:0:0:0:0:2'],
      ['1::4:5:6:7:8', '1:0:0:4::'],
    ] as const)
      expect(clientKey(requestFrom(one)), one).toBe(clientKey(requestFrom(other)))
  })
})

describe('recordFailure', () => {
  it('blocks an address that exceeds the limit, but no requests without an address, which it does not count', async () => {
    const exceeded = { limit: async () => ({ success: false }) }
    const [known, unknown] = [requestFrom('198.51.100.201'), requestFrom(undefined)]
    expect([await recordFailure(known, exceeded), await recordFailure(unknown, exceeded)]).toEqual([true, false])
    expect([isBlocked(known, 'digest'), isBlocked(unknown, 'digest')]).toEqual([true, false])
  })
})

describe('isLimited', () => {
  it('returns true for an address past its limit of calls, for a minute', () => {
    const request = requestFrom('198.51.100.202')
    expect(isLimited(request)).toBe(false)
    recordLimited(request, 1000)
    expect([isLimited(request, 60_999), isLimited(request, 61_000)]).toEqual([true, false])
    expect(isLimited(requestFrom('198.51.100.203'), 1000)).toBe(false)
    recordLimited(requestFrom(undefined), 1000)
    expect(isLimited(requestFrom(undefined), 1000)).toBe(false)
  })
})

describe('hasKnownCredentials', () => {
  it('returns true only for credentials that were valid before, as a bearer token or a token in any header', async () => {
    const token = (letter: string) => `cc_${letter.repeat(12)}_${'q'.repeat(32)}`
    for (const [name, value] of [
      ['Authorization', `Bearer ${token('a')}`],
      ['Authorization', 'Bearer e30.e30.AAAA'],
      ['X-API-Key', token('b')],
      ['X-API-Key', `Bearer ${token('c')}`],
    ] as const) {
      const isKnown = (value: string) => hasKnownCredentials(requestFrom('198.51.100.204', { [name]: value }))
      expect(await isKnown(value), value).toBe(false)
      recordSuccess(await sha256Hex(value.replace('Bearer ', '')))
      expect([await isKnown(value), await isKnown(`${value}x`)], value).toEqual([true, false])
    }
  })
})

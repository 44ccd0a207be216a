import { describe, expect, it } from 'vitest'
import { cardCacheSeconds, describeKeys } from '../../../src/api/admin/host-keys.ts'
import { getSigningKeys } from '../../../src/signing/signing-keys.ts'
import { sharedHost, token } from '../../support/host.ts'
import { startNodeHost } from '../../support/node-host.ts'
import { makeSigningKey } from '../../support/signing-key.ts'

const secretOf = (nbf?: number): string => JSON.stringify({ ...makeSigningKey(), ...(nbf !== undefined && { nbf }) })
const headers = { Authorization: `Bearer ${token}` }

describe('GET /keys', () => {
  it('returns the role of each key, the secret that has it and since when it signs', async () => {
    const vars = { PUBLIC_URL: 'https://cards.example.com', SIGNING_KEY: secretOf(1_700_000_000) }
    const host = await startNodeHost({ vars: { ...vars, SIGNING_KEY_2: secretOf(4_000_000_000) } })
    const response = await host.fetch('/keys', { headers })
    expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'private, no-store'])
    const text = await response.text()
    const kid = expect.stringMatching(/^[\w-]{43}$/)
    expect(JSON.parse(text)).toEqual({
      keys: [
        { kid, role: 'current', secret: 'SIGNING_KEY', signsFrom: '2023-11-14T22:13:20.000Z' },
        { kid, role: 'next', secret: 'SIGNING_KEY_2', signsFrom: '2096-10-02T07:06:40.000Z' },
      ],
      unsigned: 0,
      cacheSeconds: 86_520,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(text).not.toContain(JSON.parse(vars.SIGNING_KEY).d)
  })

  it('needs the scope admin', async () => {
    const { token: reader } = await sharedHost().issue({ scopes: ['read', 'write'] })
    expect((await sharedHost().fetch('/keys')).status).toBe(401)
    expect((await sharedHost().fetch('/keys', { headers: { Authorization: `Bearer ${reader}` } })).status).toBe(403)
  })

  it('is 404 without keys, and shows an administrator why', async () => {
    const response = await sharedHost().fetch('/keys', { headers })
    const detail = 'This Worker has no SIGNING_KEY. Create one: npx sync-card keys create'
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'no-signing-key', detail }])
  })
})

describe('the time at which a card is in no cache any more', () => {
  it('is that of the caches after it was replaced', () => {
    expect(cardCacheSeconds({} as never)).toBe(60 + 60 + 86_400)
    expect(cardCacheSeconds({ CACHE_MAX_AGE: '10', CACHE_STALE_WHILE_REVALIDATE: '0' } as never)).toBe(70)
    expect(cardCacheSeconds({ CACHE_MAX_AGE: 'x', CACHE_STALE_WHILE_REVALIDATE: '5' } as never)).toBe(125)
  })

  it('counts from when the current key has begun to sign, or the last card was signed again, if that was later', async () => {
    const current = Date.parse('2026-11-26T12:00:00Z')
    const keys = await getSigningKeys({ SIGNING_KEY: secretOf(), SIGNING_KEY_2: secretOf(current / 1000) }, current)
    if ('misconfigured' in keys) throw new Error(keys.misconfigured)
    const previous = { kid: keys.previous?.kid, role: 'previous', secret: 'SIGNING_KEY' }
    const describeAt = (resigned: number) => describeKeys(keys, { unsigned: 3, resigned }, 100, current)
    expect(describeAt(Date.parse('2026-11-26T13:00:00Z')).keys).toContainEqual({
      ...{ ...previous, retirable: '2026-11-26T13:01:40.000Z' },
    })
    expect(describeAt(0)).toEqual({
      keys: [
        { kid: keys.current.kid, role: 'current', secret: 'SIGNING_KEY_2', signsFrom: '2026-11-26T12:00:00.000Z' },
        { ...previous, retirable: '2026-11-26T12:01:40.000Z' },
      ],
      unsigned: 3,
      cacheSeconds: 100,
      time: '2026-11-26T12:00:00.000Z',
    })
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRemoteJWKSet, decodeProtectedHeader, flattenedVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { cardCacheSeconds, describeKeys } from '../../../src/api/admin/keys.ts'
import { canonicalJson } from '../../../src/json/canonical.ts'
import { type JsonObject, omit } from '../../../src/json/json.ts'
import { getSigningKeys } from '../../../src/signing/keys.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { type OwnHost, sharedHost, startHost, token } from '../../support/host.ts'
import { makeSigningKey } from '../../support/signing-key.ts'

const secretOf = (nbf?: number): string => JSON.stringify({ ...makeSigningKey(), ...(nbf !== undefined && { nbf }) })
const headers = { Authorization: `Bearer ${token}` }

type Keys = { keys: JsonObject[]; unsigned: number; cacheSeconds: number; time: string }

describe('GET /keys', () => {
  const storage = mkdtempSync(join(tmpdir(), 'calling-card-keys-'))
  const vars = { PUBLIC_URL: 'https://cards.example.com', SIGNING_KEY: secretOf(1_700_000_000) }
  let host: OwnHost
  beforeAll(async () => {
    host = await startHost({ ...vars, SIGNING_KEY_2: secretOf(4_000_000_000) }, { storage })
    await host.put('keys-weather', minimalCard)
  })
  afterAll(async () => {
    await host.close()
    rmSync(storage, { recursive: true, force: true })
  })
  const getKeys = async () => (await (await host.fetch('/keys', { headers })).json()) as Keys
  const kid = expect.stringMatching(/^[\w-]{43}$/)

  it('returns the role of each key, the secret that has it and since when it signs', async () => {
    const response = await host.fetch('/keys', { headers })
    expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'private, no-store'])
    const text = await response.text()
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

  it('counts the agents that a deployment with other keys still has to sign again', async () => {
    await host.close()
    host = await startHost({ ...vars, SIGNING_KEY_2: secretOf(1_700_000_001) }, { storage })
    expect(await getKeys()).toMatchObject({
      keys: [
        { role: 'current', secret: 'SIGNING_KEY_2' },
        { role: 'previous', retirable: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
      ],
    })
    await vi.waitFor(async () => expect((await getKeys()).unsigned).toBe(0), 15_000)
    const { keys } = await getKeys()
    const card = (await (await host.fetch('/agents/keys-weather')).json()) as JsonObject
    const signatures = card.signatures as { protected: string; signature: string }[]
    expect([...new Set(signatures.map(entry => decodeProtectedHeader(entry).kid))]).toEqual(keys.map(({ kid }) => kid))
    const keySet = createRemoteJWKSet(new URL('/.well-known/jwks.json', host.url))
    const payload = Buffer.from(canonicalJson(omit(card, 'signatures'))).toString('base64url')
    const verified = await Promise.allSettled(signatures.map(entry => flattenedVerify({ ...entry, payload }, keySet)))
    expect(verified.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
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

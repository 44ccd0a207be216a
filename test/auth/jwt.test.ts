import { createHmac } from 'node:crypto'
import { exportSPKI, importJWK } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallProfile } from '../../src/card/call-profile.ts'
import { type IssuerServer, type Key, makeKey, startIssuer } from '../support/issuer.ts'

const ctx = { waitUntil: () => undefined } as unknown as ExecutionContext
const audience = 'https://host/agents/a'
const rules = { audience: [audience], tiers: {} }

/** Made once: it takes longer than most of these tests. */
let first: Key
beforeAll(async () => {
  first = await makeKey('first', 'RS256')
})

let server: IssuerServer
let jwts: typeof import('../../src/auth/jwt.ts')
beforeEach(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.resetModules()
  jwts = await import('../../src/auth/jwt.ts')
  server = await startIssuer(first)
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  await server.close()
})

/** Verifies a token; undefined where it is not for this host. */
const judge = async (
  token: string,
  jwt: NonNullable<CallProfile['jwt']> = rules,
  urls = [server.discoveryUrl],
  ALLOWED_ORIGINS = server.origin,
) => {
  const discoveryUrl = jwts.findDiscoveryUrl(token, { jwt, openIdConnectUrls: urls })
  return discoveryUrl && jwts.verifyJwt(token, { id: 'a', discoveryUrl, rules: jwt }, { ALLOWED_ORIGINS }, ctx)
}
const bearer = (more: object = {}) => ({
  principal: { authenticated: true, subject: expect.any(String), scopes: ['read'], agents: ['a'], tiers: [], ...more },
})
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const seconds = () => Math.floor(Date.now() / 1000)
/** Only the clock: what the network does goes on. */
const pass = (milliseconds: number) => {
  const now = Date.now() + milliseconds
  vi.useFakeTimers({ toFake: ['Date'], now })
}

describe("a JWT of an issuer that the agent's card names", () => {
  it('lets its bearer read this agent, and no other', async () => {
    expect(await judge(await server.sign())).toEqual(bearer())
  })

  it('names its bearer by what says nothing of him, and the same each time', async () => {
    const subjects = await Promise.all(
      [{ sub: 'ann@example.com' }, { sub: 'ann@example.com', jti: 'x' }, { sub: 'bob@example.com' }].map(
        async claims => (await judge(await server.sign(claims))) as { principal: { subject: string } },
      ),
    )
    const [ann, again, bob] = subjects.map(({ principal }) => principal.subject)
    expect(ann).toMatch(/^jwt:127\.0\.0\.1:[0-9a-f]{16}$/)
    expect([again === ann, bob === ann]).toEqual([true, false])
  })

  it.each(['RS256', 'PS384', 'ES256', 'EdDSA'])('may be signed with %s', async alg => {
    await server.rotate('other', alg)
    expect(await judge(await server.sign())).toEqual(bearer())
  })

  it.each<[string, (now: number) => Record<string, unknown>]>([
    ['for several audiences', () => ({ aud: ['https://elsewhere', audience] })],
    ['that has just expired: clocks differ', now => ({ exp: now - 5 })],
    ['that is about to hold', now => ({ nbf: now + 5 })],
    ['without a subject', () => ({ sub: undefined })],
  ])('holds %s', async (_, claims) => {
    expect(await judge(await server.sign(claims(seconds())))).toEqual(bearer())
  })

  it.each(['JWT', 'at+jwt'])('holds with the typ %s', async typ => {
    expect(await judge(await server.sign({}, { typ }))).toEqual(bearer())
  })

  it('holds without a kid whichever of several keys signed it', async () => {
    const [first] = server.keys
    const second = await makeKey('second', 'RS256')
    server.keys = [...server.keys, second]
    for (const key of [first, second])
      expect(await judge(await server.sign({}, { kid: undefined }, key))).toEqual(bearer())
    expect(await judge(await server.sign({ exp: 1 }, { kid: undefined }, second))).toEqual({ error: 'expired' })
    const stranger = await makeKey('third', 'RS256')
    expect(await judge(await server.sign({}, { kid: undefined }, stranger))).toEqual({ error: 'unknown' })
  })

  it('holds without a kid where one key fits', async () => {
    expect(await judge(await server.sign({}, { kid: undefined }))).toEqual(bearer())
  })

  it.each<[string, (now: number) => Record<string, unknown>, object | undefined]>([
    ['that has expired', now => ({ exp: now - 60 }), { error: 'expired' }],
    ['that never expires', () => ({ exp: undefined }), { error: 'unknown' }],
    ['whose expiry is text', () => ({ exp: '99999999999' as never }), { error: 'unknown' }],
    ['that does not hold yet', now => ({ nbf: now + 60 }), { error: 'unknown' }],
    ['for another audience', () => ({ aud: 'https://elsewhere' }), undefined],
    ['for no audience', () => ({ aud: undefined }), undefined],
    ['of another issuer', () => ({ iss: 'https://login.example.com' }), undefined],
    ['of no issuer', () => ({ iss: undefined }), undefined],
  ])('does not hold %s', async (_, claims, expected) => {
    expect(await judge(await server.sign(claims(seconds())))).toEqual(expected)
  })

  it('does not hold with another slash than the issuer writes', async () => {
    expect(await judge(await server.sign({ iss: `${server.issuer}/` }))).toEqual({ error: 'unknown' })
  })

  it('does not hold where its claims or its signature were changed', async () => {
    const [header, , signature] = (await server.sign()).split('.')
    const claims = part({ iss: server.issuer, aud: audience, exp: seconds() + 60, sub: 'admin' })
    const forged = await server.sign({}, {}, { ...(await makeKey('first', 'RS256')) })
    expect(await judge(`${header}.${claims}.${signature}`)).toEqual({ error: 'unknown' })
    expect(await judge(forged)).toEqual({ error: 'unknown' })
  })

  it.each(['none', 'None', 'NONE', ''])('does not hold unsigned: alg "%s"', async alg => {
    const claims = part({ iss: server.issuer, aud: audience, exp: seconds() + 60 })
    for (const signature of ['', 'AAAA'])
      expect(await judge(`${part({ alg, kid: 'first' })}.${claims}.${signature}`)).toEqual({ error: 'unknown' })
  })

  it('does not hold where the public key was taken for a secret', async () => {
    const { jwk } = server.keys[0] as { jwk: object }
    const pem = await exportSPKI((await importJWK(jwk, 'RS256', { extractable: true })) as CryptoKey)
    const claims = part({ iss: server.issuer, aud: audience, exp: seconds() + 60 })
    for (const kid of ['first', 'secret'])
      for (const secret of [pem, JSON.stringify(jwk)]) {
        const signed = `${part({ alg: 'HS256', kid })}.${claims}`
        const signature = createHmac('sha256', secret).update(signed).digest('base64url')
        expect(await judge(`${signed}.${signature}`)).toEqual({ error: 'unknown' })
      }
  })

  it('does not hold with a secret that the issuer published', async () => {
    server.keySet = {
      keys: [{ kty: 'oct', kid: 'secret', alg: 'HS256', k: Buffer.from('known').toString('base64url') }],
    }
    const signed = `${part({ alg: 'HS256', kid: 'secret' })}.${part({ iss: server.issuer, aud: audience, exp: seconds() + 60 })}`
    const signature = createHmac('sha256', 'known').update(signed).digest('base64url')
    expect(await judge(`${signed}.${signature}`)).toEqual({ error: 'unknown' })
  })

  it('does not hold with a key of its own', async () => {
    const own = await makeKey('own', 'ES256')
    const token = await server.sign({}, { jwk: own.jwk, jku: 'https://evil.example/keys' } as never, own)
    expect(await judge(token)).toEqual({ error: 'unknown' })
  })

  it.each(['', '.', '..', 'a.b.c', 'e30.e30.', `${part({ alg: 'RS256' })}.bm90IGpzb24.AAAA`, 'eyJ.'.repeat(2000)])(
    'is none: %#',
    async token => {
      expect([await judge(token), server.paths]).toEqual([undefined, []])
    },
  )

  it('is for the agent to judge where the card names no issuer', async () => {
    expect([await judge(await server.sign(), rules, []), server.paths]).toEqual([undefined, []])
  })

  it('makes this host ask nobody where it is of another issuer, or for another audience', async () => {
    await judge(await server.sign({ iss: 'http://127.0.0.1:1/other' }))
    await judge(await server.sign({ aud: 'https://elsewhere' }))
    expect(server.paths).toEqual([])
  })
})

describe('what a JWT may read', () => {
  const tiered = {
    audience: [audience],
    tiers: {
      partner: { scope: 'cards:partner' },
      staff: { claim: 'groups', equals: 'staff' },
      gold: { claim: 'level', equals: 3 },
      tested: { claim: 'https://example.com/tested', equals: true },
    },
  }
  it.each<[Record<string, unknown>, string[]]>([
    [{}, []],
    [{ scope: 'openid cards:partner' }, ['partner']],
    [{ scope: 'cards:partners' }, []],
    [{ scp: ['cards:partner'] }, ['partner']],
    [{ scp: 'a cards:partner' }, ['partner']],
    [{ scope: 7, scp: { a: 1 } }, []],
    [{ groups: 'staff' }, ['staff']],
    [{ groups: ['guests', 'staff'] }, ['staff']],
    [{ groups: ['guests'] }, []],
    [{ groups: { staff: true } }, []],
    [{ level: 3 }, ['gold']],
    [{ level: '3' }, []],
    [{ 'https://example.com/tested': true }, ['tested']],
    [{ 'https://example.com/tested': 'true' }, []],
  ])('%j: %j', async (claims, tiers) => {
    expect(await judge(await server.sign(claims), tiered)).toEqual(bearer({ tiers }))
  })

  it.each([
    [{ scope: 'agents:read' }, ['read']],
    [{ scope: 'agents:write' }, []],
    [{}, []],
  ])('is nothing without the scope that the manifest asks for: %j', async (claims, scopes) => {
    expect(await judge(await server.sign(claims), { ...rules, scope: 'agents:read' })).toEqual(bearer({ scopes }))
  })
})

describe("an issuer's keys", () => {
  it('are read once, for all tokens', async () => {
    await Promise.all(Array.from({ length: 20 }, async () => judge(await server.sign())))
    await judge(await server.sign())
    expect(server.paths).toEqual(['/tenant/.well-known/openid-configuration', '/keys'])
  })

  it('are read again for a key that they have not, but not again for as many more', async () => {
    await judge(await server.sign())
    await server.rotate('second')
    const stranger = await makeKey('nobody', 'ES256')
    pass(31_000)
    expect(await judge(await server.sign())).toEqual(bearer())
    for (let count = 0; count < 5; count++)
      expect(await judge(await server.sign({}, {}, stranger))).toEqual({ error: 'unknown' })
    expect(server.paths.filter(url => url === '/keys')).toHaveLength(2)
  })

  it('stop holding once they are gone, in ten minutes', async () => {
    const token = await server.sign({ exp: seconds() + 7200 })
    await judge(token)
    await server.rotate('second')
    expect(await judge(token)).toEqual(bearer())
    pass(10 * 60_000)
    expect(await judge(token)).toEqual({ error: 'unknown' })
  })

  it('hold on for an hour while the issuer is away, and then nobody can tell', async () => {
    const token = await server.sign({ exp: seconds() + 7200 })
    await judge(token)
    server.isUp = false
    pass(30 * 60_000)
    expect(await judge(token)).toEqual(bearer())
    pass(30 * 60_000)
    expect(await judge(token)).toBe('unavailable')
  })

  it('are used while an issuer that hangs is asked for new ones', async () => {
    const token = await server.sign({ exp: seconds() + 7200 })
    await judge(token)
    server.respond(() => undefined)
    pass(30 * 60_000)
    const startedAt = performance.now()
    expect(await judge(token)).toEqual(bearer())
    expect(performance.now() - startedAt).toBeLessThan(2000)
  })

  it('are asked for again in half a minute where the issuer was away, and not for each token', async () => {
    server.isUp = false
    const token = await server.sign()
    expect([await judge(token), await judge(token), server.paths.length]).toEqual(['unavailable', 'unavailable', 1])
    server.isUp = true
    pass(30_000)
    expect(await judge(token)).toEqual(bearer())
  })

  it('that nobody knows cannot be told while the issuer is away', async () => {
    await judge(await server.sign())
    server.isUp = false
    pass(31_000)
    expect(await judge(await server.sign({}, {}, await makeKey('second', 'ES256')))).toBe('unavailable')
  })

  it.each<[string, () => void]>([
    ['the discovery document names another issuer', () => (server.discovery = { issuer: 'https://evil.example' })],
    ['the discovery document names no keys', () => (server.discovery = { jwks_uri: undefined })],
    ['the keys are at a private address', () => (server.discovery = { jwks_uri: 'http://169.254.169.254/keys' })],
    ['the keys are no set of keys', () => (server.keySet = { keys: 'none' })],
    ['the keys are null', () => (server.keySet = { keys: [null] })],
    ['the keys are a list', () => (server.keySet = [])],
    ['the keys are too many', () => (server.keySet = { keys: [], filler: 'x'.repeat(200_000) })],
  ])('cannot be told where %s', async (_, fault) => {
    fault()
    expect(await judge(await server.sign())).toBe('unavailable')
  })

  it('that are broken do not hold', async () => {
    server.keySet = { keys: [{ kty: 'RSA', kid: 'first', n: '!', e: 7 }] }
    expect(await judge(await server.sign())).toEqual({ error: 'unknown' })
  })

  it('are asked for only where this host may go', async () => {
    const verdict = await judge(await server.sign(), rules, [server.discoveryUrl], '')
    expect([verdict, server.paths]).toEqual(['unavailable', []])
  })
})

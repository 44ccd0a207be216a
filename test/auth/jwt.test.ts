import { createHmac } from 'node:crypto'
import { CompactSign, exportSPKI, importJWK } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallProfile } from '../../src/card/call-profile.ts'
import type { Json } from '../../src/json/json.ts'
import { MAX_ISSUER_KEYS, MAX_KEYS_TRIED } from '../../src/limits.ts'
import { type IssuerServer, type Key, makeKey, startIssuer } from '../support/issuer.ts'

const ctx = { waitUntil: () => undefined } as unknown as ExecutionContext
const audience = 'https://host/agents/a'
const rules = { audience: [audience], tiers: {} }

/** Generated once, because that takes longer than most of these tests. */
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

/** Verifies a token; returns undefined for a token that is not for this host. */
const verify = async (
  token: string,
  jwt: NonNullable<CallProfile['jwt']> = rules,
  urls = [server.discoveryUrl],
  ALLOWED_ORIGINS = server.origin,
) => {
  const discoveryUrl = jwts.findDiscoveryUrl(token, { jwt, openIdConnectUrls: urls })
  return (
    discoveryUrl &&
    jwts.verifyJwt(token, { id: 'a', discoveryUrl, rules: jwt, scope: 'read' }, { ALLOWED_ORIGINS }, ctx)
  )
}
const authenticated = (more: object = {}) => ({
  principal: {
    ...{ authenticated: true, subject: expect.any(String), scopes: ['read'], agents: ['a'], tiers: [] },
    oidcSubject: { iss: server.issuer, sub: 'somebody' },
    ...more,
  },
})
const encodePart = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const nowInSeconds = () => Math.floor(Date.now() / 1000)
/** Advances the clock only; timers of the network keep running. */
const advanceClock = (milliseconds: number) => {
  const now = Date.now() + milliseconds
  vi.useFakeTimers({ toFake: ['Date'], now })
}

describe("a JWT of an issuer that the agent's card names", () => {
  it('authenticates a principal that may read this agent, and no other', async () => {
    expect(await verify(await server.sign())).toEqual(authenticated())
  })

  it('identifies the subject by a stable pseudonym', async () => {
    const subjects = await Promise.all(
      [{ sub: 'ann@example.com' }, { sub: 'ann@example.com', jti: 'x' }, { sub: 'bob@example.com' }].map(
        async claims => (await verify(await server.sign(claims))) as { principal: { subject: string } },
      ),
    )
    const [ann, annAgain, bob] = subjects.map(({ principal }) => principal.subject)
    expect(ann).toMatch(/^jwt:127\.0\.0\.1:[0-9a-f]{32}$/)
    expect([annAgain === ann, bob === ann]).toEqual([true, false])
  })

  it.each(['RS256', 'PS384', 'ES256', 'EdDSA'])('can be signed with %s', async alg => {
    await server.rotate('other', alg)
    expect(await verify(await server.sign())).toEqual(authenticated())
  })

  it.each<[string, (now: number) => Record<string, unknown>]>([
    ['with several audiences', () => ({ aud: ['https://other.example', audience] })],
    ['that expired within the clock tolerance', now => ({ exp: now - 5 })],
    ['that becomes valid within the clock tolerance', now => ({ nbf: now + 5 })],
  ])('is valid %s', async (_, claims) => {
    expect(await verify(await server.sign(claims(nowInSeconds())))).toEqual(authenticated())
  })

  it.each(['JWT', 'at+jwt'])('is valid with the typ %s', async typ => {
    expect(await verify(await server.sign({}, { typ }))).toEqual(authenticated())
  })

  it.each([undefined, '', 7, {}])('names no user with the subject %j', async sub => {
    expect(await verify(await server.sign({ sub }))).toEqual(authenticated({ oidcSubject: 'none' }))
  })

  it('is valid without a kid, with each of several keys', async () => {
    const [first] = server.keys
    const second = await makeKey('second', 'RS256')
    server.keys = [...server.keys, second]
    for (const key of [first, second])
      expect(await verify(await server.sign({}, { kid: undefined }, key))).toEqual(authenticated())
    expect(await verify(await server.sign({ exp: 1 }, { kid: undefined }, second))).toEqual({ error: 'expired' })
    const unknownKey = await makeKey('third', 'RS256')
    expect(await verify(await server.sign({}, { kid: undefined }, unknownKey))).toEqual({ error: 'unknown' })
  })

  it('is tried without a kid with the first keys only, so that a large key set costs no more', async () => {
    const [known] = server.keys as [Key]
    const { jwk } = await makeKey('other', 'RS256')
    const token = await server.sign({}, { kid: undefined })
    const verifications = vi.spyOn(crypto.subtle, 'verify')
    for (const [others, accepted] of [
      [MAX_KEYS_TRIED - 1, true],
      [MAX_KEYS_TRIED, false],
      [MAX_ISSUER_KEYS - 1, false],
    ] as const) {
      verifications.mockClear()
      vi.resetModules()
      jwts = await import('../../src/auth/jwt.ts')
      server.keySet = { keys: [...Array.from({ length: others }, () => jwk), known.jwk] }
      expect(await verify(token)).toEqual(accepted ? authenticated() : { error: 'unknown' })
      expect(verifications).toHaveBeenCalledTimes(MAX_KEYS_TRIED)
    }
  })

  it('is verified with the first keys of an issuer that publishes too many', async () => {
    const [known] = server.keys as [Key]
    const others = Array.from({ length: MAX_ISSUER_KEYS }, (_, index) => ({ ...known.jwk, kid: `other-${index}` }))
    server.keySet = { keys: [...others, known.jwk] }
    expect(await verify(await server.sign())).toEqual({ error: 'unknown' })
    expect(await verify(await server.sign({}, { kid: 'other-0' }))).toEqual(authenticated())
    expect(console.error).toHaveBeenCalledWith(expect.stringContaining('issuer-keys-ignored'))
  })

  it('is valid without a kid, with a single key', async () => {
    expect(await verify(await server.sign({}, { kid: undefined }))).toEqual(authenticated())
  })

  it.each<[string, (now: number) => Record<string, unknown>, object | undefined]>([
    ['that has expired', now => ({ exp: now - 60 }), { error: 'expired' }],
    ['that never expires', () => ({ exp: undefined }), { error: 'unknown' }],
    ['whose expiry is text', () => ({ exp: '99999999999' as never }), { error: 'unknown' }],
    ['that is not yet valid', now => ({ nbf: now + 60 }), { error: 'unknown' }],
    ['with another audience', () => ({ aud: 'https://other.example' }), undefined],
    ['without an audience', () => ({ aud: undefined }), undefined],
    ['with another issuer', () => ({ iss: 'https://login.example.com' }), undefined],
    ['without an issuer', () => ({ iss: undefined }), undefined],
  ])('is invalid %s', async (_, claims, expected) => {
    expect(await verify(await server.sign(claims(nowInSeconds())))).toEqual(expected)
  })

  it.each([
    ['exp', '1e400'],
    ['exp', '1e300'],
    ['exp', '8640000000001'],
    ['nbf', '-1e400'],
    ['iat', '-1e13'],
  ])('is invalid if %s is %s, which is no time', async (claim, value) => {
    const claims: Record<string, Json> = { iss: server.issuer, aud: audience, exp: nowInSeconds() + 60 }
    const text = JSON.stringify({ ...claims, [claim]: JSON.rawJSON(value) })
    expect(text).toContain(`"${claim}":${value}`)
    const { kid, alg, privateKey } = first
    const token = await new CompactSign(Buffer.from(text)).setProtectedHeader({ alg, kid }).sign(privateKey)
    expect(await verify(token)).toEqual({ error: 'unknown' })
  })

  it('is invalid with an issuer that differs by a trailing slash', async () => {
    expect(await verify(await server.sign({ iss: `${server.issuer}/` }))).toEqual({ error: 'unknown' })
  })

  it('is invalid with changed claims or a forged signature', async () => {
    const [header, , signature] = (await server.sign()).split('.')
    const claims = encodePart({ iss: server.issuer, aud: audience, exp: nowInSeconds() + 60, sub: 'admin' })
    const forged = await server.sign({}, {}, { ...(await makeKey('first', 'RS256')) })
    expect(await verify(`${header}.${claims}.${signature}`)).toEqual({ error: 'unknown' })
    expect(await verify(forged)).toEqual({ error: 'unknown' })
  })

  it.each(['none', 'None', 'NONE', ''])('is invalid without a signature: alg "%s"', async alg => {
    const claims = encodePart({ iss: server.issuer, aud: audience, exp: nowInSeconds() + 60 })
    for (const signature of ['', 'AAAA'])
      expect(await verify(`${encodePart({ alg, kid: 'first' })}.${claims}.${signature}`)).toEqual({ error: 'unknown' })
  })

  it('is invalid with the public key as an HMAC secret', async () => {
    const { jwk } = server.keys[0] as { jwk: object }
    const pem = await exportSPKI((await importJWK(jwk, 'RS256', { extractable: true })) as CryptoKey)
    const claims = encodePart({ iss: server.issuer, aud: audience, exp: nowInSeconds() + 60 })
    for (const kid of ['first', 'secret'])
      for (const secret of [pem, JSON.stringify(jwk)]) {
        const signed = `${encodePart({ alg: 'HS256', kid })}.${claims}`
        const signature = createHmac('sha256', secret).update(signed).digest('base64url')
        expect(await verify(`${signed}.${signature}`)).toEqual({ error: 'unknown' })
      }
  })

  it('is invalid with a symmetric key that the issuer published', async () => {
    server.keySet = {
      keys: [{ kty: 'oct', kid: 'secret', alg: 'HS256', k: Buffer.from('known').toString('base64url') }],
    }
    const signed = `${encodePart({ alg: 'HS256', kid: 'secret' })}.${encodePart({ iss: server.issuer, aud: audience, exp: nowInSeconds() + 60 })}`
    const signature = createHmac('sha256', 'known').update(signed).digest('base64url')
    expect(await verify(`${signed}.${signature}`)).toEqual({ error: 'unknown' })
  })

  it('is invalid with a key that its own header names', async () => {
    const embeddedKey = await makeKey('embedded', 'ES256')
    const token = await server.sign(
      {},
      { jwk: embeddedKey.jwk, jku: 'https://evil.example/keys' } as never,
      embeddedKey,
    )
    expect(await verify(token)).toEqual({ error: 'unknown' })
  })

  it.each([
    '',
    '.',
    '..',
    'a.b.c',
    'e30.e30.',
    `${encodePart({ alg: 'RS256' })}.bm90IGpzb24.AAAA`,
    'eyJ.'.repeat(2000),
  ])('is not recognized in other text: %#', async token => {
    expect([await verify(token), server.paths]).toEqual([undefined, []])
  })

  it('is not verified for a card without an issuer', async () => {
    expect([await verify(await server.sign(), rules, []), server.paths]).toEqual([undefined, []])
  })

  it('causes no request with another issuer or audience', async () => {
    await verify(await server.sign({ iss: 'http://127.0.0.1:1/other' }))
    await verify(await server.sign({ aud: 'https://other.example' }))
    expect(server.paths).toEqual([])
  })
})

describe('the tiers and scopes of a JWT', () => {
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
  ])('with the claims %j are the tiers %j', async (claims, tiers) => {
    expect(await verify(await server.sign(claims), tiered)).toEqual(authenticated({ tiers }))
  })

  it.each([
    [{ scope: 'agents:read' }, ['read']],
    [{ scope: 'agents:write' }, []],
    [{}, []],
  ])('require the scope of the manifest: %j', async (claims, scopes) => {
    expect(await verify(await server.sign(claims), { ...rules, scope: 'agents:read' })).toEqual(
      authenticated({ scopes }),
    )
  })
})

describe('the keys of an issuer', () => {
  it('are fetched once for all tokens', async () => {
    await Promise.all(Array.from({ length: 20 }, async () => verify(await server.sign())))
    await verify(await server.sign())
    expect(server.paths).toEqual(['/tenant/.well-known/openid-configuration', '/keys'])
  })

  it('are fetched again for an unknown key, but not for each unknown key', async () => {
    await verify(await server.sign())
    await server.rotate('second')
    const unknownKey = await makeKey('unknown', 'ES256')
    advanceClock(31_000)
    expect(await verify(await server.sign())).toEqual(authenticated())
    for (let count = 0; count < 5; count++)
      expect(await verify(await server.sign({}, {}, unknownKey))).toEqual({ error: 'unknown' })
    expect(server.paths.filter(url => url === '/keys')).toHaveLength(2)
  })

  it('become invalid within ten minutes of their removal', async () => {
    const token = await server.sign({ exp: nowInSeconds() + 7200 })
    await verify(token)
    await server.rotate('second')
    expect(await verify(token)).toEqual(authenticated())
    advanceClock(10 * 60_000)
    expect(await verify(token)).toEqual({ error: 'unknown' })
  })

  it('are used for an hour while the issuer is unavailable', async () => {
    const token = await server.sign({ exp: nowInSeconds() + 7200 })
    await verify(token)
    server.isUp = false
    advanceClock(30 * 60_000)
    expect(await verify(token)).toEqual(authenticated())
    advanceClock(30 * 60_000)
    expect(await verify(token)).toBe('unavailable')
  })

  it('are used without delay while the issuer does not respond', async () => {
    const token = await server.sign({ exp: nowInSeconds() + 7200 })
    await verify(token)
    server.respond(() => undefined)
    advanceClock(30 * 60_000)
    const startedAt = performance.now()
    expect(await verify(token)).toEqual(authenticated())
    expect(performance.now() - startedAt).toBeLessThan(2000)
  })

  it('are requested again after half a minute from an issuer that was unavailable, not for each token', async () => {
    server.isUp = false
    const token = await server.sign()
    expect([await verify(token), await verify(token), server.paths.length]).toEqual(['unavailable', 'unavailable', 1])
    server.isUp = true
    advanceClock(30_000)
    expect(await verify(token)).toEqual(authenticated())
  })

  it('make the result "unavailable" for an unknown key while the issuer is unavailable', async () => {
    await verify(await server.sign())
    server.isUp = false
    advanceClock(31_000)
    expect(await verify(await server.sign({}, {}, await makeKey('second', 'ES256')))).toBe('unavailable')
  })

  it.each<[string, () => void]>([
    ['the discovery document names another issuer', () => (server.discovery = { issuer: 'https://evil.example' })],
    ['the discovery document names no keys', () => (server.discovery = { jwks_uri: undefined })],
    ['the keys are at a private address', () => (server.discovery = { jwks_uri: 'http://169.254.169.254/keys' })],
    ['the keys are not a JSON Web Key Set', () => (server.keySet = { keys: 'none' })],
    [
      'the keys have a name twice',
      () => (server.keySet = `{"keys":[],"keys":[${JSON.stringify(server.keys[0]?.jwk)}]}`),
    ],
    ['the keys are null', () => (server.keySet = { keys: [null] })],
    ['the keys are an array', () => (server.keySet = [])],
    ['the keys are too large', () => (server.keySet = { keys: [], filler: 'x'.repeat(200_000) })],
  ])('make the result "unavailable" if %s', async (_, misconfigure) => {
    misconfigure()
    expect(await verify(await server.sign())).toBe('unavailable')
  })

  it('are invalid if they are malformed', async () => {
    server.keySet = { keys: [{ kty: 'RSA', kid: 'first', n: '!', e: 7 }] }
    expect(await verify(await server.sign())).toEqual({ error: 'unknown' })
  })

  it.each<[string, () => void]>([
    ['whose discovery document cannot be fetched', () => (server.isUp = false)],
    ['whose discovery document names no keys', () => (server.discovery = { jwks_uri: undefined })],
    ['whose keys cannot be fetched', () => (server.discovery = { jwks_uri: `${server.origin}/tenant/keys?secret=1` })],
    ['whose keys are none', () => (server.keySet = { keys: 'none' })],
    ['whose keys are malformed', () => (server.keySet = { keys: [{ kty: 'RSA', kid: 'first', n: '!', e: 7 }] })],
    ['with too many keys', () => (server.keySet = { keys: Array(1000).fill({ kty: 'EC' }) })],
  ])('are logged with the origin of an issuer only: %s', async (_, misconfigure) => {
    misconfigure()
    await verify(await server.sign())
    const lines = vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(String(line)))
    expect(lines).toContainEqual(expect.objectContaining({ 'calling_card.issuer': server.origin }))
    expect(JSON.stringify(lines)).not.toMatch(/tenant|well-known|keys\?|secret/)
  })

  it('are fetched only from URLs that this host calls', async () => {
    const result = await verify(await server.sign(), rules, [server.discoveryUrl], '')
    expect([result, server.paths]).toEqual(['unavailable', []])
  })
})

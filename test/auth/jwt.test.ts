import { createHmac } from 'node:crypto'
import { CompactSign, exportSPKI, importJWK } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { authenticateJwt } from '../../src/auth/jwt.ts'
import { ANONYMOUS } from '../../src/auth/principal.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import type { Json } from '../../src/json/json.ts'
import { MAX_ISSUER_KEYS, MAX_KEYS_TRIED } from '../../src/limits.ts'
import { type IssuerServer, type Key, makeKey, startIssuer } from '../support/issuer.ts'

const audience = 'https://host/agents/a'
const rules = { audience: [audience], tiers: {} }

let first: Key
let second: Key
let server: IssuerServer
beforeAll(async () => {
  first = await makeKey('first', 'ES256')
  second = await makeKey('second', 'ES256')
  server = await startIssuer(first)
})
afterAll(() => server.close())

const waitUntil = vi.fn<(work: Promise<unknown>) => void>()
let issuers = 0
/** Makes the server an issuer that the isolate does not know yet. */
const renew = () => {
  Object.assign(server, { tenant: `tenant-${++issuers}`, keys: [first], discovery: {}, keySet: undefined, isUp: true })
  server.requests.length = 0
}
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  waitUntil.mockReset()
  renew()
})

/** Verifies a token; returns undefined for a token that is not for this host. */
const verify = async (token: string, jwt: NonNullable<CallProfile['jwt']> = rules, ALLOWED_ORIGINS = server.origin) => {
  const profile = { callers: 'anyone' as const, jwt, openIdConnectUrls: [server.discoveryUrl] }
  const context = { request: new Request(audience), env: { ALLOWED_ORIGINS }, ctx: { waitUntil } }
  const caller = await authenticateJwt(token, ANONYMOUS, { id: 'a', profile }, context as never)
  if (caller === ANONYMOUS) return undefined
  return !caller.authenticated && caller.reason === 'unavailable' ? caller.reason : caller
}
const authenticated = (more: object = {}) => ({
  ...{ authenticated: true, subject: expect.any(String), scopes: ['read'], agents: ['a'], tiers: [] },
  oidcSubject: { iss: server.issuer, sub: 'somebody' },
  strippedHeaders: ['authorization'],
  ...more,
})
const unknown = { authenticated: false, reason: 'bad-token', error: 'unknown' }
const expired = { authenticated: false, reason: 'bad-token', error: 'expired' }
const encodePart = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const nowInSeconds = () => Math.floor(Date.now() / 1000)
const validClaims = () => ({ iss: server.issuer, aud: audience, exp: nowInSeconds() + 60 })
/** Advances the clock only; timers of the network keep running. */
const advanceClock = (milliseconds: number) => {
  const now = Date.now() + milliseconds
  vi.useFakeTimers({ toFake: ['Date'], now })
}
/** Compares the results of tokens with several claims. */
const expectClaims = async (rows: [Record<string, unknown>, object | undefined][], jwt = rules) => {
  for (const [claims, expected] of rows)
    expect([claims, await verify(await server.sign(claims), jwt)]).toEqual([claims, expected])
}

describe("a JWT of an issuer that the agent's card names", () => {
  it('authenticates a principal that may read this agent, and no other, with each asymmetric algorithm', async () => {
    for (const alg of ['ES256', 'RS256', 'PS384', 'EdDSA']) {
      renew()
      if (alg !== 'ES256') await server.rotate('other', alg)
      expect(await verify(await server.sign()), alg).toEqual(authenticated())
    }
  })

  it('identifies the subject by a stable pseudonym', async () => {
    const subjectOf = async (claims: object) => {
      const caller = (await verify(await server.sign({ ...claims }))) as { subject: string }
      return caller.subject
    }
    const ann = await subjectOf({ sub: 'ann@example.com' })
    expect(ann).toMatch(/^jwt:127\.0\.0\.1:[0-9a-f]{32}$/)
    expect(await subjectOf({ sub: 'ann@example.com', jti: 'x' })).toBe(ann)
    expect(await subjectOf({ sub: 'bob@example.com' })).not.toBe(ann)
  })

  it('is valid within the clock tolerance, and for one of several audiences; the rest of its claims must fit', async () => {
    const now = nowInSeconds()
    const noUser = authenticated({ oidcSubject: 'none' })
    await expectClaims([
      [{ aud: ['https://other.example', audience] }, authenticated()],
      [{ exp: now - 5 }, authenticated()],
      [{ nbf: now + 5 }, authenticated()],
      ...['', 7].map((sub): [object, object] => [{ sub }, noUser]),
      [{ exp: now - 60 }, expired],
      [{ exp: undefined }, unknown],
      [{ exp: '99999999999' }, unknown],
      [{ nbf: now + 60 }, unknown],
      // Differs by a trailing slash.
      [{ iss: `${server.issuer}/` }, unknown],
      [{ aud: 'https://other.example' }, undefined],
      [{ iss: 'https://login.example.com' }, undefined],
      [{ iss: undefined }, undefined],
    ] as [Record<string, unknown>, object | undefined][])
  })

  it('is invalid with a number that is no time', async () => {
    for (const [claim, value] of Object.entries({
      exp: ['1e400', '8640000000001'],
      nbf: ['-1e400'],
      iat: ['-1e13'],
    }))
      for (const number of value) {
        const claims: Record<string, Json> = { ...validClaims(), [claim]: JSON.rawJSON(number) as never }
        const signing = new CompactSign(Buffer.from(JSON.stringify(claims)))
        const token = await signing.setProtectedHeader({ alg: 'ES256', kid: 'first' }).sign(first.privateKey)
        expect([claim, number, await verify(token)]).toEqual([claim, number, unknown])
      }
  })

  it('is valid without a kid, with each of several keys', async () => {
    const signWith = (key: Key, claims = {}) => server.sign(claims, { kid: undefined }, key)
    server.keys = [first, second]
    for (const key of [first, second]) expect(await verify(await signWith(key))).toEqual(authenticated())
    expect(await verify(await signWith(second, { exp: 1 }))).toEqual(expired)
    expect(await verify(await signWith(await makeKey('third', 'ES256')))).toEqual(unknown)
  })

  it('is tried without a kid with the first keys only, so that a large key set costs no more', async () => {
    const verifications = vi.spyOn(crypto.subtle, 'verify')
    for (const [others, expected] of [
      [MAX_KEYS_TRIED - 1, authenticated],
      [MAX_KEYS_TRIED, () => unknown],
    ] as const) {
      renew()
      server.keySet = { keys: [...Array.from({ length: others }, () => second.jwk), first.jwk] }
      const token = await server.sign({}, { kid: undefined })
      verifications.mockClear()
      expect([others, await verify(token)]).toEqual([others, expected()])
      expect(verifications).toHaveBeenCalledTimes(MAX_KEYS_TRIED)
    }
  })

  it('is verified with the first keys of an issuer that publishes too many', async () => {
    const others = Array.from({ length: MAX_ISSUER_KEYS }, (_, index) => ({ ...first.jwk, kid: `other-${index}` }))
    server.keySet = { keys: [...others, first.jwk] }
    expect(await verify(await server.sign())).toEqual(unknown)
    expect(await verify(await server.sign({}, { kid: `other-${MAX_ISSUER_KEYS - 1}` }))).toEqual(authenticated())
    expect(console.error).toHaveBeenCalledWith(expect.stringContaining('issuer-keys-ignored'))
    renew()
    server.keySet = { keys: [...others.slice(1), first.jwk] }
    vi.mocked(console.error).mockClear()
    expect(await verify(await server.sign())).toEqual(authenticated())
    expect(console.error).not.toHaveBeenCalled()
  })

  it('is invalid with changed claims, a forged signature, or the key that its own header names', async () => {
    const [header, , signature] = (await server.sign()).split('.')
    const claims = encodePart({ ...validClaims(), sub: 'admin' })
    const embedded = { jwk: second.jwk, jku: 'https://evil.example/keys' } as object
    for (const token of [
      `${header}.${claims}.${signature}`,
      await server.sign({}, {}, { ...second, kid: 'first' }),
      await server.sign({}, embedded, second),
    ])
      expect(await verify(token)).toEqual(unknown)
  })

  it('is invalid without a signature', async () => {
    for (const signature of ['', 'AAAA']) {
      const token = `${encodePart({ alg: 'none', kid: 'first' })}.${encodePart(validClaims())}.${signature}`
      expect(await verify(token), token).toEqual(unknown)
    }
  })

  it('is invalid with an HMAC: neither the public key nor a symmetric key that the issuer published is a secret', async () => {
    const pem = await exportSPKI((await importJWK(first.jwk, 'ES256', { extractable: true })) as CryptoKey)
    const symmetric = { kty: 'oct', kid: 'secret', alg: 'HS256', k: Buffer.from('known').toString('base64url') }
    server.keySet = { keys: [first.jwk, symmetric] }
    for (const kid of ['first', 'secret'])
      for (const secret of [pem, JSON.stringify(first.jwk), 'known']) {
        const signed = `${encodePart({ alg: 'HS256', kid })}.${encodePart(validClaims())}`
        const signature = createHmac('sha256', secret).update(signed).digest('base64url')
        expect(await verify(`${signed}.${signature}`), kid).toEqual(unknown)
      }
  })

  it('causes no request where it is none, or of another issuer or audience', async () => {
    const noJson = `${encodePart({ alg: 'RS256' })}.bm90IGpzb24.AAAA`
    for (const token of ['', 'a.b.c', noJson]) expect(await verify(token), token).toBeUndefined()
    await verify(await server.sign({ iss: 'http://127.0.0.1:1/other' }))
    await verify(await server.sign({ aud: 'https://other.example' }))
    expect(server.paths).toEqual([])
  })
})

describe('a JWT that was verified before', () => {
  const tiers = { partner: { scope: 'cards:partner' } }

  it('is not verified again until it expires', async () => {
    const token = await server.sign({ exp: nowInSeconds() + 100 })
    const result = await verify(token)
    expect(result).toEqual(authenticated())
    const verifications = vi.spyOn(crypto.subtle, 'verify')
    // A profile that was read again has other objects with the same content.
    for (const jwt of [rules, { ...rules }, structuredClone(rules)]) expect(await verify(token, jwt)).toEqual(result)
    advanceClock(108_000)
    expect(await verify(token)).toEqual(result)
    expect(verifications).not.toHaveBeenCalled()
    advanceClock(3000)
    expect(await verify(token)).toEqual(expired)
  })

  it('is verified again by other rules, other keys and another agent', async () => {
    const token = await server.sign({ scope: 'cards:partner' })
    expect(await verify(token)).toEqual(authenticated())
    expect(await verify(token, { ...rules, tiers })).toEqual(authenticated({ tiers: ['partner'] }))
    expect(await verify(token, { ...rules, scope: 'x' })).toEqual(authenticated({ scopes: [] }))
    expect(await verify(token, { ...rules, audience: ['https://other.example'] })).toBeUndefined()
    const context = { request: new Request(audience), env: { ALLOWED_ORIGINS: server.origin }, ctx: { waitUntil } }
    const verifyFor = (id: string, more: object = {}) => {
      const profile = { callers: 'anyone' as const, jwt: rules, openIdConnectUrls: [server.discoveryUrl], ...more }
      return authenticateJwt(token, ANONYMOUS, { id, profile }, context as never)
    }
    expect(await verifyFor('a')).toEqual(authenticated())
    expect(await verifyFor('b')).toEqual(authenticated({ agents: ['b'] }))
    expect(await verifyFor('a', { openIdConnectUrls: [] })).toBe(ANONYMOUS)
    expect(await verifyFor('a', { jwt: undefined })).toBe(ANONYMOUS)
    expect(await verifyFor('a', { callers: 'issuer' })).toEqual(authenticated({ scopes: ['call'] }))
    expect(await verify(token)).toEqual(authenticated())
    // Another token has an unknown key, so the keys are fetched again.
    server.keys = [second]
    advanceClock(31_000)
    expect(await verify(await server.sign())).toEqual(authenticated())
    expect(await verify(token)).toEqual(unknown)
  })
})

describe('the tiers and scopes of a JWT', () => {
  it('are those whose rule its claims fulfill', async () => {
    const tiers = {
      partner: { scope: 'cards:partner' },
      staff: { claim: 'groups', equals: 'staff' },
      gold: { claim: 'level', equals: 3 },
      tested: { claim: 'https://example.com/tested', equals: true },
    }
    const rows: [Record<string, unknown>, string[]][] = [
      [{ scope: 'openid cards:partner' }, ['partner']],
      [{ scope: 'cards:partners' }, []],
      [{ scp: ['cards:partner'] }, ['partner']],
      [{ groups: ['guests', 'staff'] }, ['staff']],
      [{ groups: ['guests'] }, []],
      [{ level: 3 }, ['gold']],
      [{ level: '3' }, []],
      [{ 'https://example.com/tested': true }, ['tested']],
    ]
    const expected = rows.map(([claims, tiers]): [object, object] => [claims, authenticated({ tiers })])
    await expectClaims(expected as never, { ...rules, tiers })
  })

  it('require the scope of the manifest', async () => {
    const scoped = { ...rules, scope: 'agents:read' }
    const none = authenticated({ scopes: [] })
    await expectClaims(
      [
        [{ scope: 'agents:read' }, authenticated()],
        [{ scope: 'agents:write' }, none],
      ],
      scoped,
    )
  })
})

describe('the keys of an issuer', () => {
  /** A token that stays valid while the clock advances. */
  const signForLong = () => server.sign({ exp: nowInSeconds() + 7200 })

  it('are fetched once for all tokens, even if the request that fetches them is cancelled', async () => {
    await Promise.all(Array.from({ length: 20 }, async () => verify(await server.sign())))
    await verify(await server.sign())
    expect(server.requests.map(({ path, headers }) => [path, headers.accept])).toEqual([
      [`/${server.tenant}/.well-known/openid-configuration`, 'application/json'],
      ['/keys', 'application/json'],
    ])
    expect(waitUntil).toHaveBeenCalledExactlyOnceWith(expect.any(Promise))
  })

  it('are fetched again for an unknown key, but not for each unknown key', async () => {
    await verify(await server.sign())
    await server.rotate('third')
    advanceClock(31_000)
    expect(await verify(await server.sign())).toEqual(authenticated())
    for (let count = 0; count < 5; count++) expect(await verify(await server.sign({}, {}, second))).toEqual(unknown)
    expect(server.paths.filter(url => url === '/keys')).toHaveLength(2)
  })

  it('become invalid within ten minutes of their removal', async () => {
    const token = await signForLong()
    await verify(token)
    server.keys = [second]
    expect(await verify(token)).toEqual(authenticated())
    advanceClock(10 * 60_000)
    expect(await verify(token)).toEqual(unknown)
  })

  it('are used for an hour while the issuer is unavailable', async () => {
    const token = await signForLong()
    await verify(token)
    server.isUp = false
    advanceClock(30 * 60_000)
    expect(await verify(token)).toEqual(authenticated())
    advanceClock(30 * 60_000)
    expect(await verify(token)).toBe('unavailable')
  })

  it('are used without delay while the issuer does not respond', async () => {
    const hanging = await startIssuer(first)
    const [own, token] = [server, await hanging.sign({ exp: nowInSeconds() + 7200 })]
    server = hanging
    try {
      await verify(token)
      server.respond(() => undefined)
      advanceClock(30 * 60_000)
      const startedAt = performance.now()
      expect(await verify(token)).toEqual(authenticated())
      expect(performance.now() - startedAt).toBeLessThan(2000)
    } finally {
      server = own
      await hanging.close()
    }
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
    expect(await verify(await server.sign({}, {}, second))).toBe('unavailable')
  })

  it('make the result "unavailable" if they cannot be used; the log has only the origin of the issuer', async () => {
    const malformed = { kty: 'EC', crv: 'P-256', kid: 'first', x: '!', y: 7 }
    for (const [title, broken, expected] of [
      ['the issuer does not respond', { isUp: false }, 'unavailable'],
      ['its document names another issuer', { discovery: { issuer: 'https://evil.example' } }, 'unavailable'],
      ['its document names no keys', { discovery: { jwks_uri: undefined } }, 'unavailable'],
      ['they are at a private address', { discovery: { jwks_uri: 'http://169.254.169.254/keys' } }, 'unavailable'],
      ['they are missing', { discovery: { jwks_uri: `${server.origin}/tenant/keys?secret=1` } }, 'unavailable'],
      ['they are no list', { keySet: { keys: 'none' } }, 'unavailable'],
      ['they have a name twice', { keySet: `{"keys":[],"keys":[${JSON.stringify(first.jwk)}]}` }, 'unavailable'],
      ['they are null', { keySet: { keys: [null] } }, 'unavailable'],
      ['they have no type', { keySet: { keys: [{ kid: 'first' }] } }, 'unavailable'],
      ['they are too large', { keySet: { keys: [], filler: 'x'.repeat(200_000) } }, 'unavailable'],
      ['they are malformed', { keySet: { keys: [malformed] } }, unknown],
    ] as const) {
      renew()
      Object.assign(server, broken)
      vi.mocked(console.error).mockClear()
      expect([title, await verify(await server.sign())]).toEqual([title, expected])
      const lines = vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(String(line)))
      const origin = title.includes('private') ? 'http://169.254.169.254' : server.origin
      expect([title, lines[0]['calling_card.issuer']]).toEqual([title, origin])
      expect(JSON.stringify(lines)).not.toMatch(/tenant|well-known|keys\?|secret/)
    }
  })

  it('are fetched only from URLs that this host calls', async () => {
    expect([await verify(await server.sign(), rules, ''), server.paths]).toEqual(['unavailable', []])
  })
})

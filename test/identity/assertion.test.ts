import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import type { Authentication, Principal } from '../../src/auth/principal.ts'
import { ASSERTION_TYPE, type AssertedCall, assertCaller } from '../../src/identity/assertion.ts'
import { getSigningKeys } from '../../src/signing/keys.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const issuer = 'https://cards.example.com'
const audience = 'https://weather.example.com/a2a'
const key = makeSigningKey()
const now = Date.parse('2026-11-22T12:00:00.400Z')

const principal = (more: Partial<Principal> = {}): Principal => ({
  authenticated: true,
  subject: 'token:k3v7q2mzt5ab',
  scopes: ['read'],
  agents: ['*'],
  tiers: [],
  strippedHeaders: ['authorization'],
  ...more,
})

type Options = Partial<Omit<AssertedCall, 'caller'>> & { secret?: object; previous?: object; now?: number }

const sign = async (caller: Authentication, { secret = key, previous, now: at = now, ...more }: Options = {}) => {
  const result = await assertCaller(
    { caller, issuer, audience, agent: 'weather', tiers: ['base', 'partner', 'staff'], ...more },
    { SIGNING_KEY: JSON.stringify(secret), ...(previous && { SIGNING_KEY_2: JSON.stringify(previous) }) },
    at,
  )
  if ('misconfigured' in result) throw new Error(result.misconfigured)
  return result.assertion
}

/** Verifies an assertion as an agent does. */
const verify = async (assertion: string, { secret = key, second = '', at = now, aud = audience } = {}) => {
  const keys = await getSigningKeys({ SIGNING_KEY: JSON.stringify(secret), SIGNING_KEY_2: second }, at)
  if ('misconfigured' in keys) throw new Error(keys.misconfigured)
  const keySet = createLocalJWKSet({ keys: [...keys.published] })
  const currentDate = new Date(at)
  return jwtVerify(assertion, keySet, { issuer, audience: aud, typ: ASSERTION_TYPE, currentDate })
}

describe('the assertion of a caller', () => {
  it('is a JWT with the type of an assertion and the thumbprint of the key', async () => {
    const keys = await getSigningKeys({ SIGNING_KEY: JSON.stringify(key) })
    expect(decodeProtectedHeader(await sign(principal()))).toEqual({
      alg: 'ES256',
      typ: 'calling-card-assertion+jwt',
      kid: 'current' in keys && keys.current.kid,
    })
  })

  it('names this host, the endpoint, the agent and the caller, for a minute', async () => {
    expect((await verify(await sign(principal()))).payload).toEqual({
      iss: issuer,
      aud: audience,
      sub: 'token:k3v7q2mzt5ab',
      agent: 'weather',
      scopes: ['read'],
      tiers: ['base'],
      iat: Math.floor(now / 1000),
      exp: Math.floor(now / 1000) + 60,
      jti: expect.stringMatching(/^[\da-f-]{36}$/),
    })
  })

  it('has exactly the claims of its caller', async () => {
    const jwt = { subject: 'jwt:login.example.com:0f' }
    const ann = { iss: 'https://login.example.com', sub: 'ann' }
    const sub = 'token:k3v7q2mzt5ab'
    const rows: [Authentication, object][] = [
      [{ authenticated: false, reason: 'anonymous' }, {}],
      [{ authenticated: false, reason: 'unrecognized' }, {}],
      [
        principal({ subject: 'admin', scopes: ['admin'], tiers: ['*'] }),
        { sub: 'admin', scopes: ['admin'], tiers: ['base', 'partner', 'staff'] },
      ],
      [principal({ tiers: ['partner', 'other'] }), { sub, scopes: ['read'], tiers: ['base', 'partner'] }],
      [principal({ scopes: ['write'], tiers: ['*'] }), { sub, scopes: ['write'] }],
      [principal({ agents: ['news'], tiers: ['*'] }), { sub }],
      [
        principal({ ...jwt, oidcSubject: ann }),
        { sub: jwt.subject, sub_id: { format: 'iss_sub', ...ann }, scopes: ['read'], tiers: ['base'] },
      ],
      // Its issuer does not name its users.
      [principal({ ...jwt, oidcSubject: 'none' }), { scopes: ['read'], tiers: ['base'] }],
    ]
    for (const [caller, expected] of rows) {
      const { iss, aud, agent, iat, exp, jti, ...claims } = decodeJwt(await sign(caller))
      expect(claims, JSON.stringify(caller)).toEqual({ scopes: [], tiers: [], ...expected })
    }
    // A user whom an issuer names like a token has a `sub` of this host.
    const likeToken = principal({ ...jwt, oidcSubject: { ...ann, sub } })
    expect(decodeJwt(await sign(likeToken)).sub).toBe(jwt.subject)
  })

  it('expires after a minute, and is invalid for another audience', async () => {
    const assertion = await sign(principal())
    await expect(verify(assertion, { at: now + 59_000 })).resolves.toBeTruthy()
    await expect(verify(assertion, { at: now + 60_000 })).rejects.toThrow('"exp" claim timestamp check failed')
    const aud = 'https://news.example.com/a2a'
    await expect(verify(assertion, { aud })).rejects.toThrow('unexpected "aud" claim value')
  })

  it('is reused for half a minute, then signed again', async () => {
    const caller = principal({ subject: 'token:reused' })
    const first = await sign(caller)
    expect(await sign(caller, { now: now + 29_000 })).toBe(first)
    const second = await sign(caller, { now: now + 30_000 })
    expect(decodeJwt(second)).toMatchObject({ iat: Math.floor(now / 1000) + 30 })
    expect(decodeJwt(second).jti).not.toBe(decodeJwt(first).jti)
    expect(await sign(caller, { now: now + 31_000 })).toBe(second)
  })

  it('is not reused for another caller, right, agent, endpoint, issuer or key', async () => {
    const caller = principal({ subject: 'token:one' })
    const assertions = await Promise.all([
      sign(caller),
      sign({ ...caller, subject: 'token:two' }),
      sign({ ...caller, tiers: ['partner'] }),
      sign({ ...caller, scopes: ['write'] }),
      sign({ ...caller, oidcSubject: { iss: 'https://login.example.com', sub: 'ann' } }),
      sign({ ...caller, oidcSubject: { iss: 'https://login.example.com', sub: 'bob' } }),
      sign({ authenticated: false, reason: 'anonymous' }),
      sign(caller, { agent: 'news' }),
      sign(caller, { audience: `${audience}/rest` }),
      sign(caller, { issuer: 'https://other.example.com' }),
      sign(caller, { secret: makeSigningKey() }),
    ])
    expect(new Set(assertions).size).toBe(assertions.length)
  })

  it('leaves memory when many others are signed', async () => {
    const caller = (name: string) => principal({ subject: `token:${name.padEnd(20_000, '.')}` })
    const first = await sign(caller('first'))
    for (let index = 0; index < 60; index++) await sign(caller(`${index}`))
    expect(await sign(caller('first'))).not.toBe(first)
  })

  it('verifies during a rotation, before and after the new key signs', async () => {
    const next = { ...makeSigningKey(), nbf: Math.floor(now / 1000) + 10 }
    const before = await sign(principal(), { previous: next })
    const after = await sign(principal(), { previous: next, now: now + 10_000 })
    expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid)
    for (const at of [now, now + 10_000])
      for (const assertion of [before, after])
        await expect(verify(assertion, { second: JSON.stringify(next), at })).resolves.toBeTruthy()
    await expect(verify(before, { secret: next })).rejects.toThrow('no applicable key found')
  })

  it('cannot be made without a key', async () => {
    expect(await assertCaller({ caller: principal(), issuer, audience, agent: 'weather', tiers: [] }, {})).toEqual({
      misconfigured: expect.stringContaining('npx sync-card keys create'),
    })
  })
})

import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { ASSERTION_TYPE, type AssertedCall, assertCaller } from '../../src/auth/caller-assertion.ts'
import type { Authentication, Principal } from '../../src/auth/principal.ts'
import { getSigningKeys } from '../../src/signing/signing-keys.ts'
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

type Options = Partial<Omit<AssertedCall, 'caller'>> & { secret?: object; now?: number }

const sign = async (caller: Authentication, { secret = key, now: at = now, ...more }: Options = {}) => {
  const result = await assertCaller(
    { caller, issuer, audience, agent: 'weather', tiers: ['base', 'partner', 'staff'], ...more },
    { SIGNING_KEY: JSON.stringify(secret) },
    at,
  )
  if ('misconfigured' in result) throw new Error(result.misconfigured)
  return result.assertion
}

/** Verifies an assertion as an agent does. */
const verify = async (assertion: string) => {
  const keys = await getSigningKeys({ SIGNING_KEY: JSON.stringify(key) }, now)
  if ('misconfigured' in keys) throw new Error(keys.misconfigured)
  const keySet = createLocalJWKSet({ keys: [...keys.published] })
  return jwtVerify(assertion, keySet, { issuer, audience, typ: ASSERTION_TYPE, currentDate: new Date(now) })
}

describe('the assertion of a caller', () => {
  it('names this host, the endpoint, the agent and the caller, for a minute', async () => {
    const keys = await getSigningKeys({ SIGNING_KEY: JSON.stringify(key) })
    const { payload, protectedHeader } = await verify(await sign(principal()))
    expect(protectedHeader).toEqual({
      alg: 'ES256',
      typ: 'calling-card-assertion+jwt',
      kid: 'current' in keys && keys.current.kid,
    })
    expect(payload).toEqual({
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
  })

  it('is reused for half a minute, then signed again', async () => {
    const caller = principal({ subject: 'token:reused' })
    const first = await sign(caller)
    expect(await sign(caller, { now: now + 29_000 })).toBe(first)
    const second = await sign(caller, { now: now + 30_000 })
    expect(decodeJwt(second)).toMatchObject({ iat: Math.floor(now / 1000) + 30 })
  })

  it('is not reused for another caller or key', async () => {
    const caller = principal({ subject: 'token:one' })
    const assertions = await Promise.all([
      sign(caller),
      sign({ ...caller, subject: 'token:two' }),
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

  it('cannot be made without a key', async () => {
    expect(await assertCaller({ caller: principal(), issuer, audience, agent: 'weather', tiers: [] }, {})).toEqual({
      misconfigured: expect.stringContaining('npx sync-card keys create'),
    })
  })
})

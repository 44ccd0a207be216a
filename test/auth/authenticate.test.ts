import { timingSafeEqual } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sha256Hex } from '../../src/http/conditional.ts'
import type { TokenRecord } from '../../src/registry/records.ts'
import { type IssuerServer, startIssuer } from '../support/issuer.ts'

const ctx = { waitUntil: () => undefined } as unknown as ExecutionContext
const token = `cc_${'a'.repeat(12)}_${'b'.repeat(32)}`
const other = `cc_${'c'.repeat(12)}_${'d'.repeat(32)}`
const record: TokenRecord = {
  id: 'a'.repeat(12),
  note: '',
  scopes: ['read'],
  agents: ['weather-*'],
  tiers: ['partner'],
  created: 0,
  expires: null,
}

/** What the edge holds under the tokens' hashes, what it was asked for, and the failed attempts that were counted. */
let kept: Map<string, TokenRecord>
let reads: string[]
let failures: string[]
let most: number
let env: Env
let callers: typeof import('../../src/auth/authenticate.ts')
beforeEach(async () => {
  // The runtime has it; Node has it elsewhere.
  Object.assign(crypto.subtle, {
    timingSafeEqual: (left: ArrayBuffer, right: ArrayBuffer) => timingSafeEqual(Buffer.from(left), Buffer.from(right)),
  })
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.resetModules()
  callers = await import('../../src/auth/authenticate.ts')
  kept = new Map([[await sha256Hex(token), record]])
  reads = []
  failures = []
  most = 3
  env = {
    ADMIN_TOKEN: 'the-long-admin-token',
    ALLOWED_ORIGINS: '',
    CARDS: {
      getWithMetadata: async (key: string) => {
        reads.push(key)
        const found = kept.get(key.replace('token:', ''))
        return { value: found ? JSON.stringify(found) : null, metadata: found ? { seq: 1 } : null }
      },
    },
    AUTH_LIMIT: {
      limit: async ({ key }: { key: string }) => {
        failures.push(key)
        return { success: failures.filter(failed => failed === key).length <= most }
      },
    },
  } as unknown as Env
})

const request = (headers: [string, string][] | Record<string, string>, address = '203.0.113.1') => {
  const all = new Headers(headers)
  all.set('CF-Connecting-IP', address)
  return new Request('https://host.example/agents', { headers: all })
}
const bearing = (text: string, address?: string) => request({ Authorization: `Bearer ${text}` }, address)
const callerOf = (asking: Request) => callers.authenticate(asking, env, ctx)
const schemes = { visibility: 'public' as const, apiKeyHeaders: ['x-api-key'], openIdConnectUrls: [] as string[] }
const callerOfAgent = async (
  asking: Request,
  profile: Parameters<typeof callers.authenticateForAgent>[1]['profile'] = schemes,
  id = 'weather',
) => callers.authenticateForAgent(await callerOf(asking), { id, profile }, { request: asking, env, ctx })

const admin = { authenticated: true, subject: 'admin', scopes: ['admin'], agents: ['*'], tiers: ['*'] }
const reader = {
  authenticated: true,
  subject: `token:${record.id}`,
  scopes: ['read'],
  agents: ['weather-*'],
  tiers: ['partner'],
}

describe('callerOf', () => {
  it('knows the ADMIN_TOKEN, who may do everything, and asks nobody', async () => {
    expect([await callerOf(bearing('the-long-admin-token')), reads]).toEqual([
      { ...admin, strippedHeaders: ['authorization'] },
      [],
    ])
  })

  it('knows a token by what was kept of it, and asks by its hash', async () => {
    expect([await callerOf(bearing(token)), reads]).toEqual([
      { ...reader, strippedHeaders: ['authorization'] },
      [`token:${await sha256Hex(token)}`],
    ])
  })

  it.each([
    ['nothing', {}, { reason: 'anonymous' }],
    ['an API key of somebody', { 'X-API-Key': token }, { reason: 'anonymous' }],
    ['a token of somebody', { Authorization: 'Bearer abc' }, { reason: 'unrecognized' }],
    ['a JWT', { Authorization: 'Bearer e30.e30.AAAA' }, { reason: 'unrecognized' }],
    ['another scheme', { Authorization: 'Basic dTpw' }, { reason: 'unrecognized' }],
    [
      'a token that is cut short',
      { Authorization: `Bearer ${token.slice(0, -1)}` },
      { reason: 'bad-token', error: 'malformed' },
    ],
    ['a token with more behind', { Authorization: `Bearer ${token}x` }, { reason: 'bad-token', error: 'malformed' }],
    ['an empty token', { Authorization: 'Bearer cc_' }, { reason: 'bad-token', error: 'malformed' }],
    [
      'two headers',
      [
        ['Authorization', `Bearer ${token}`],
        ['Authorization', 'Bearer the-long-admin-token'],
      ],
      { reason: 'bad-token', error: 'several' },
    ],
  ] as [string, Record<string, string>, object][])('reads nothing for %s', async (_, headers, expected) => {
    expect([await callerOf(request(headers)), reads]).toEqual([{ authenticated: false, ...expected }, []])
  })

  it.each([
    ['without a scheme', token],
    ['with the ADMIN_TOKEN for a scheme', 'the-long-admin-token'],
  ])('judges a token %s all the same', async (_, authorization) => {
    expect(await callerOf(request({ Authorization: authorization }))).toMatchObject({
      authenticated: true,
      strippedHeaders: ['authorization'],
    })
  })

  it.each([
    `Token ${token}`,
    `Bearer: ${token}`,
    `Bearer:${token}`,
    `Bearer x${token}`,
    `ApiKey key="${token}"`,
    'Token the-long-admin-token',
    'Bearer u:the-long-admin-token',
    `Basic ${btoa(`u:${token}`)}`,
    `Basic ${btoa('u:the-long-admin-token')}`,
    `Bearer ${'a'.repeat(8192)} ${token}`,
  ])('takes a token that is badly sent for nobody else: %s', async authorization => {
    expect(await callerOf(request({ Authorization: authorization }))).toMatchObject({ reason: 'bad-token' })
    expect(failures).toHaveLength(1)
  })

  it('does not know a token that nobody issued', async () => {
    expect(await callerOf(bearing(other))).toEqual({ authenticated: false, reason: 'bad-token', error: 'unknown' })
  })

  it.each([
    ['long ago', 1],
    ['just now', Date.now()],
  ])('does not know a token that expired %s', async (_, expires) => {
    kept.set(await sha256Hex(token), { ...record, expires })
    expect(await callerOf(bearing(token))).toEqual({ authenticated: false, reason: 'bad-token', error: 'unknown' })
  })

  it('knows a token that expires later', async () => {
    kept.set(await sha256Hex(token), { ...record, expires: Date.now() + 60_000 })
    expect(await callerOf(bearing(token))).toMatchObject(reader)
  })

  it('knows nobody where the host has no ADMIN_TOKEN', async () => {
    for (const ADMIN_TOKEN of ['', undefined]) {
      env = { ...env, ADMIN_TOKEN } as Env
      for (const text of ['undefined', '""', 'the-long-admin-token'])
        expect(await callerOf(bearing(text))).toEqual({ authenticated: false, reason: 'unrecognized' })
    }
  })

  it('lets unexpected errors through, to be logged', async () => {
    const defect = {
      waitUntil: () => {
        throw new TypeError('a defect')
      },
    } as unknown as ExecutionContext
    await expect(callers.authenticate(bearing(token), env, defect)).rejects.toThrow('a defect')
  })

  it('cannot tell while KV is away', async () => {
    env = { ...env, CARDS: { getWithMetadata: () => Promise.reject(new Error('away')) } } as unknown as Env
    expect(await callerOf(bearing(token))).toEqual({ authenticated: false, reason: 'unavailable' })
  })
})

describe('failed attempts', () => {
  it('are counted by address, and after too many no more are looked at for a minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const given = []
    for (const letter of 'efghij') given.push(await callerOf(bearing(other.slice(0, -1) + letter)))
    expect(given.map(caller => !caller.authenticated && caller.reason)).toEqual([
      'bad-token',
      'bad-token',
      'bad-token',
      'throttled',
      'throttled',
      'throttled',
    ])
    expect([reads.length, failures.length]).toEqual([4, 4])
    failures = []
    vi.setSystemTime(60_000)
    expect(await callerOf(bearing(other))).toMatchObject({ reason: 'bad-token' })
  })

  it('of one address do not keep another from being looked at', async () => {
    most = 0
    expect(await callerOf(bearing(other, '203.0.113.2'))).toMatchObject({ reason: 'throttled' })
    expect(await callerOf(bearing(token, '203.0.113.3'))).toMatchObject(reader)
  })

  it('keep nobody out whose credentials held here before', async () => {
    await callerOf(bearing(token))
    most = 0
    await callerOf(bearing(other))
    expect(await callerOf(bearing(token))).toMatchObject(reader)
  })

  it('keep out what has not been seen, be it right', async () => {
    most = 0
    await callerOf(bearing(other))
    expect(await callerOf(bearing('the-long-admin-token'))).toEqual({ authenticated: false, reason: 'throttled' })
  })

  it.each([
    ['what holds', `Bearer ${token}`, 0],
    ["what may be the agent's own", 'Bearer abc', 0],
    ['another scheme', 'Basic dTpw', 0],
    ['a token that nobody issued', `Bearer ${other}`, 1],
    ['a token that is mistyped', 'Bearer cc_x', 1],
    ['two headers in one', `Bearer ${token}, Bearer ${token}`, 1],
  ])('are not %s, or are: %s', async (_, authorization, count) => {
    await callerOf(request({ Authorization: authorization }))
    expect(failures).toHaveLength(count)
  })
})

describe('callerOfAgent', () => {
  it('takes a token in the header of an API key', async () => {
    const asking = request({ 'X-API-Key': token })
    expect(await callerOfAgent(asking)).toEqual({ ...reader, strippedHeaders: ['x-api-key'] })
  })

  it('takes it where the card says that the key goes into Authorization', async () => {
    const profile = { ...schemes, apiKeyHeaders: ['authorization'] }
    expect(await callerOfAgent(request({ Authorization: token }), profile)).toEqual({
      ...reader,
      strippedHeaders: ['authorization'],
    })
  })

  it.each([`Bearer ${token}`, 'Bearer the-long-admin-token'])('takes it with a scheme before it: %s', async key => {
    expect(await callerOfAgent(request({ 'X-API-Key': key }))).toMatchObject({
      authenticated: true,
      strippedHeaders: ['x-api-key'],
    })
  })

  it.each([
    `Token ${token}`,
    `Bearer: ${token}`,
    `${token}, theirs`,
    'Token the-long-admin-token',
    `Basic ${btoa(`u:${token}`)}`,
    `Basic ${btoa('u:the-long-admin-token')}`,
  ])('refuses one that is badly sent, and keeps it: %s', async key => {
    expect(await callerOfAgent(request({ 'X-API-Key': key }))).toMatchObject({ reason: 'bad-token' })
    const asking = request({ 'X-API-Key': key, Authorization: `Bearer ${token}` })
    expect(await callerOfAgent(asking)).toEqual({ ...reader, strippedHeaders: ['authorization', 'x-api-key'] })
  })

  it('lets credentials of the agent pass beside a token in the header of an API key', async () => {
    const asking = request({ 'X-API-Key': token, Authorization: "Bearer the-agent's" })
    expect(await callerOfAgent(asking)).toEqual({ ...reader, strippedHeaders: ['x-api-key'] })
  })

  it('lets an API key of the agent pass beside a bearer token', async () => {
    const asking = request({ 'X-API-Key': 'the-agent-s', Authorization: `Bearer ${token}` })
    expect(await callerOfAgent(asking)).toEqual({ ...reader, strippedHeaders: ['authorization'] })
  })

  it('lets none of its own tokens pass, wherever they are', async () => {
    const asking = request({ 'X-API-Key': 'the-long-admin-token', Authorization: `Bearer ${token}` })
    expect(await callerOfAgent(asking)).toEqual({ ...reader, strippedHeaders: ['authorization', 'x-api-key'] })
  })

  it.each([
    ['an API key of the agent', { 'X-API-Key': 'theirs' }, { reason: 'anonymous' }],
    ['a token in a header that the card does not name', { 'X-Other': token }, { reason: 'anonymous' }],
    [
      'a token twice',
      [
        ['X-API-Key', token],
        ['X-API-Key', token],
      ],
      { reason: 'bad-token', error: 'malformed' },
    ],
    ['one that nobody issued', { 'X-API-Key': other }, { reason: 'bad-token', error: 'unknown' }],
    [
      'a sound one beside a bearer token that is none',
      { 'X-API-Key': token, Authorization: `Bearer ${other}` },
      { reason: 'bad-token', error: 'unknown' },
    ],
    [
      'a sound one beside two bearer tokens',
      { 'X-API-Key': token, Authorization: 'Bearer a, Bearer b' },
      { reason: 'bad-token', error: 'several' },
    ],
  ] as [string, Record<string, string>, object][])('knows nobody by %s', async (_, headers, expected) => {
    expect(await callerOfAgent(request(headers))).toEqual({ authenticated: false, ...expected })
  })

  describe('of an internal agent, to who may not read it', () => {
    const internal = { ...schemes, visibility: 'internal' as const }
    it.each([
      ['nothing', {}, 0],
      ['a key that nobody issued', { 'X-API-Key': other }, 0],
      ['a key that is badly sent', { 'X-API-Key': `Token ${token}` }, 0],
      ['a bearer token that nobody issued', { Authorization: `Bearer ${other}` }, 1],
      ['a token of another agent', { Authorization: `Bearer ${token}` }, 0],
      ['a key of another agent', { 'X-API-Key': token }, 0],
    ] as [string, Record<string, string>, number][])('says and counts as of none: %s', async (_, headers, count) => {
      const asking = request(headers)
      const ofNone = await callerOf(asking)
      expect(failures).toHaveLength(count)
      failures = []
      expect([await callerOfAgent(asking, internal, 'hidden'), failures.length]).toEqual([ofNone, count])
    })

    it('knows who may', async () => {
      const asking = request({ 'X-API-Key': token })
      expect(await callerOfAgent(asking, internal, 'weather-1')).toEqual({ ...reader, strippedHeaders: ['x-api-key'] })
    })
  })

  describe('by a JWT', () => {
    let server: IssuerServer
    beforeEach(async () => {
      server = await startIssuer()
      env = { ...env, ALLOWED_ORIGINS: server.origin }
    })
    afterEach(() => server.close())
    const profile = () => ({
      ...schemes,
      openIdConnectUrls: [server.discoveryUrl],
      jwt: { audience: ['https://host/agents/a'], tiers: {} },
    })

    it('knows whom the issuer names, and the token may go on to the agent', async () => {
      expect(await callerOfAgent(bearing(await server.sign()), profile())).toMatchObject({
        authenticated: true,
        scopes: ['read'],
        agents: ['weather'],
        strippedHeaders: [],
      })
    })

    it.each([
      [{ exp: 1 }, { reason: 'bad-token', error: 'expired' }, 1],
      [{ iss: 'https://elsewhere.example' }, { reason: 'unrecognized' }, 0],
    ])('knows nobody else: %j', async (claims, expected, counted) => {
      const caller = await callerOfAgent(bearing(await server.sign(claims)), profile())
      expect([caller, failures.length]).toEqual([{ authenticated: false, ...expected }, counted])
    })

    it('counts nothing of what the issuer of an internal agent does not hold to', async () => {
      const internal = { ...profile(), visibility: 'internal' as const }
      const caller = await callerOfAgent(bearing(await server.sign({ exp: 1 })), internal)
      expect([caller, failures]).toEqual([{ authenticated: false, reason: 'unrecognized' }, []])
    })

    it('is not verified for an address that is blocked, unless it was valid before', async () => {
      const known = await server.sign()
      expect(await callerOfAgent(bearing(known, '203.0.113.77'), profile())).toMatchObject({ authenticated: true })
      most = 0
      await callerOf(bearing(other, '203.0.113.77'))
      const before = server.paths.length
      const unknown = bearing(await server.sign({ jti: 'another' }), '203.0.113.77')
      expect(await callerOfAgent(unknown, profile())).toEqual({ authenticated: false, reason: 'throttled' })
      expect(server.paths).toHaveLength(before)
      expect(await callerOfAgent(bearing(known, '203.0.113.77'), profile())).toMatchObject({ authenticated: true })
    })

    it('lets nobody pass while the issuer is away, and blames nobody', async () => {
      server.isUp = false
      const caller = await callerOfAgent(bearing(await server.sign()), profile())
      expect([caller, failures]).toEqual([{ authenticated: false, reason: 'unavailable' }, []])
    })
  })
})

describe('the log', () => {
  it('holds neither a token nor its hash, whatever fails', async () => {
    const lines: string[] = []
    for (const level of ['info', 'error'] as const)
      vi.spyOn(console, level).mockImplementation((line: string) => void lines.push(line))
    env = { ...env, CARDS: { getWithMetadata: () => Promise.reject(new Error('away')) } } as unknown as Env
    await callerOf(bearing(token))
    expect(lines.join()).not.toContain(token)
    expect(lines.join()).not.toContain(await sha256Hex(token))
  })
})

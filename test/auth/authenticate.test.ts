import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallProfile } from '../../src/card/call-profile.ts'
import type { CallTarget } from '../../src/card/model/calls.ts'
import { sha256Hex } from '../../src/http/conditional.ts'
import type { TokenRecord } from '../../src/registry/token-record.ts'
import { type IssuerServer, startIssuer } from '../support/issuer.ts'

const ctx = { waitUntil: () => undefined } as unknown as ExecutionContext
const token = `cc_${'a'.repeat(12)}_${'b'.repeat(32)}`
const otherToken = `cc_${'c'.repeat(12)}_${'d'.repeat(32)}`
const record: TokenRecord = {
  id: 'a'.repeat(12),
  note: '',
  scopes: ['read'],
  agents: ['weather-*'],
  tiers: ['partner'],
  created: 0,
  expires: null,
}

/** The stored tokens by their hashes, the keys that were read, the addresses of counted failures, and the limit of failures. */
let stored: Map<string, TokenRecord>
let reads: string[]
let failures: string[]
let maxFailures: number
let env: Env
let auth: typeof import('../../src/auth/authenticate.ts')
beforeEach(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.resetModules()
  auth = await import('../../src/auth/authenticate.ts')
  stored = new Map([[await sha256Hex(token), record]])
  reads = []
  failures = []
  maxFailures = 3
  env = {
    ADMIN_TOKEN: 'the-long-admin-token',
    ALLOWED_ORIGINS: '',
    CARDS: {
      getWithMetadata: async (key: string) => {
        reads.push(key)
        const found = stored.get(key.replace('token:', ''))
        return { value: found ? JSON.stringify(found) : null, metadata: found ? { seq: 1 } : null }
      },
    },
    AUTH_LIMIT: {
      limit: async ({ key }: { key: string }) => {
        failures.push(key)
        return { success: failures.filter(failed => failed === key).length <= maxFailures }
      },
    },
  } as unknown as Env
})

const request = (headers: [string, string][] | Record<string, string>, address = '203.0.113.1') => {
  const all = new Headers(headers)
  all.set('CF-Connecting-IP', address)
  return new Request('https://host.example/agents', { headers: all })
}
const withBearer = (text: string, address?: string) => request({ Authorization: `Bearer ${text}` }, address)
const authenticate = (request: Request) => auth.authenticate(request, env, ctx)
const schemes = {
  visibility: 'public' as const,
  callers: 'anyone' as CallProfile['callers'],
  apiKeyHeaders: ['x-api-key'],
  openIdConnectUrls: [] as string[],
  targets: [] as CallTarget[],
}
const authenticateForAgent = async (
  incoming: Request,
  profile: Parameters<typeof auth.authenticateForAgent>[1]['profile'] = schemes,
  id = 'weather',
) => auth.authenticateForAgent(await authenticate(incoming), { id, profile }, { request: incoming, env, ctx })

const admin = { authenticated: true, subject: 'admin', scopes: ['admin'], agents: ['*'], tiers: ['*'] }
const reader = {
  authenticated: true,
  subject: `token:${record.id}`,
  scopes: ['read'],
  agents: ['weather-*'],
  tiers: ['partner'],
}

describe('authenticate', () => {
  it('recognizes the ADMIN_TOKEN with all permissions, without reading KV', async () => {
    expect([await authenticate(withBearer('the-long-admin-token')), reads]).toEqual([
      { ...admin, strippedHeaders: ['authorization'] },
      [],
    ])
  })

  it('looks up a token by its hash', async () => {
    expect([await authenticate(withBearer(token)), reads]).toEqual([
      { ...reader, strippedHeaders: ['authorization'] },
      [`token:${await sha256Hex(token)}`],
    ])
  })

  it.each([
    ['no credentials', {}, { reason: 'anonymous' }],
    ['a token as an API key', { 'X-API-Key': token }, { reason: 'anonymous' }],
    ['a foreign token', { Authorization: 'Bearer abc' }, { reason: 'unrecognized' }],
    ['a JWT', { Authorization: 'Bearer e30.e30.AAAA' }, { reason: 'unrecognized' }],
    ['another scheme', { Authorization: 'Basic dTpw' }, { reason: 'unrecognized' }],
    [
      'a truncated token',
      { Authorization: `Bearer ${token.slice(0, -1)}` },
      { reason: 'bad-token', error: 'malformed' },
    ],
    [
      'a token with an extra character',
      { Authorization: `Bearer ${token}x` },
      { reason: 'bad-token', error: 'malformed' },
    ],
    ['an empty token', { Authorization: 'Bearer cc_' }, { reason: 'bad-token', error: 'malformed' }],
    [
      'two Authorization headers',
      [
        ['Authorization', `Bearer ${token}`],
        ['Authorization', 'Bearer the-long-admin-token'],
      ],
      { reason: 'bad-token', error: 'several' },
    ],
  ] as [string, Record<string, string>, object][])(
    'returns a reason without reading KV for %s',
    async (_, headers, expected) => {
      expect([await authenticate(request(headers)), reads]).toEqual([{ authenticated: false, ...expected }, []])
    },
  )

  it.each([
    token,
    `  ${token}`,
    `Token ${token}`,
    `Bearer: ${token}`,
    `Bearer:${token}`,
    `Bearer x${token}`,
    `ApiKey key="${token}"`,
    `Basic ${btoa(`u:${token}`)}`,
    `Bearer ${'a'.repeat(8192)} ${token}`,
  ])('rejects and counts a token of this host in another form: %s', async authorization => {
    expect(await authenticate(request({ Authorization: authorization }))).toMatchObject({ reason: 'bad-token' })
    expect(failures).toHaveLength(1)
  })

  const guesses = Array.from({ length: 300 }, (_, index) => `the-long-admin-${String(index).padStart(5, '0')}`)

  it.each([
    ['a guess', 'Bearer the-long-admin-guess'],
    ['300 guesses', `Bearer ${guesses.join(',')}`],
    ['300 guesses, of which one is right', `Bearer ${guesses.with(150, 'the-long-admin-token').join(',')}`],
    ['300 passwords, of which one is right', guesses.with(150, 'the-long-admin-token').map(btoa).join(', Basic ')],
  ])('compares one credential of a header with the ADMIN_TOKEN: %s', async (_, authorization) => {
    expect(await authenticate(request({ Authorization: authorization }))).toEqual({
      authenticated: false,
      reason: 'unrecognized',
    })
  })

  it.each([
    'the-long-admin-token',
    'Token the-long-admin-token',
    'Bearer u:the-long-admin-token',
    `Basic ${btoa('u:the-long-admin-token')}`,
    `ApiKey ${'a'.repeat(300)}, the-long-admin-token`,
  ])('treats the ADMIN_TOKEN in another form as unrecognized, and keeps it from the agent: %s', async authorization => {
    expect(await authenticate(request({ Authorization: authorization }))).toEqual({
      authenticated: false,
      reason: 'unrecognized',
      strippedHeaders: ['authorization'],
    })
    expect(failures).toEqual([])
  })

  it('rejects a token that was never issued', async () => {
    expect(await authenticate(withBearer(otherToken))).toEqual({
      authenticated: false,
      reason: 'bad-token',
      error: 'unknown',
    })
  })

  it.each([
    ['long ago', 1],
    ['just now', Date.now()],
  ])('rejects a token that expired %s', async (_, expires) => {
    stored.set(await sha256Hex(token), { ...record, expires })
    expect(await authenticate(withBearer(token))).toEqual({
      authenticated: false,
      reason: 'bad-token',
      error: 'unknown',
    })
  })

  it('accepts a token that expires later', async () => {
    stored.set(await sha256Hex(token), { ...record, expires: Date.now() + 60_000 })
    expect(await authenticate(withBearer(token))).toMatchObject(reader)
  })

  it('accepts no ADMIN_TOKEN on a host without one', async () => {
    for (const ADMIN_TOKEN of ['', undefined]) {
      env = { ...env, ADMIN_TOKEN } as Env
      for (const text of ['undefined', '""', 'the-long-admin-token'])
        expect(await authenticate(withBearer(text))).toEqual({ authenticated: false, reason: 'unrecognized' })
    }
  })

  it('rethrows unexpected errors', async () => {
    const defect = {
      waitUntil: () => {
        throw new TypeError('a defect')
      },
    } as unknown as ExecutionContext
    await expect(auth.authenticate(withBearer(token), env, defect)).rejects.toThrow('a defect')
  })

  it('returns "unavailable" while KV is unavailable', async () => {
    env = { ...env, CARDS: { getWithMetadata: () => Promise.reject(new Error('KV is unavailable')) } } as unknown as Env
    expect(await authenticate(withBearer(token))).toEqual({ authenticated: false, reason: 'unavailable' })
  })
})

describe('failed attempts', () => {
  it('are counted by address, which is throttled for a minute after too many', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const results = []
    for (const letter of 'efghij') results.push(await authenticate(withBearer(otherToken.slice(0, -1) + letter)))
    expect(results.map(caller => !caller.authenticated && caller.reason)).toEqual([
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
    expect(await authenticate(withBearer(otherToken))).toMatchObject({ reason: 'bad-token' })
  })

  it('of one address do not throttle another', async () => {
    maxFailures = 0
    expect(await authenticate(withBearer(otherToken, '203.0.113.2'))).toMatchObject({ reason: 'throttled' })
    expect(await authenticate(withBearer(token, '203.0.113.3'))).toMatchObject(reader)
  })

  it('do not throttle credentials that were valid before', async () => {
    await authenticate(withBearer(token))
    maxFailures = 0
    await authenticate(withBearer(otherToken))
    expect(await authenticate(withBearer(token))).toMatchObject(reader)
  })

  it('throttle credentials that were not seen before, even valid ones: the ADMIN_TOKEN is one of many unknown', async () => {
    maxFailures = 0
    await authenticate(withBearer(otherToken))
    expect(await authenticate(withBearer(token))).toEqual({ authenticated: false, reason: 'throttled' })
    expect(await authenticate(withBearer('the-long-admin-token'))).toEqual({
      authenticated: false,
      reason: 'unrecognized',
      strippedHeaders: ['authorization'],
    })
  })

  it.each([
    ['a valid token', `Bearer ${token}`],
    ['possible credentials of the agent', 'Bearer abc'],
    ['another scheme', 'Basic dTpw'],
  ])('do not include %s', async (_, authorization) => {
    await authenticate(request({ Authorization: authorization }))
    expect(failures).toEqual([])
  })

  it.each([
    ['a token that was never issued', `Bearer ${otherToken}`],
    ['a malformed token', 'Bearer cc_x'],
    ['two tokens in one header', `Bearer ${token}, Bearer ${token}`],
  ])('include %s', async (_, authorization) => {
    await authenticate(request({ Authorization: authorization }))
    expect(failures).toEqual(['203.0.113.1'])
  })
})

describe('authenticateForAgent', () => {
  it('accepts a token in an API key header', async () => {
    const incoming = request({ 'X-API-Key': token })
    expect(await authenticateForAgent(incoming)).toEqual({ ...reader, strippedHeaders: ['x-api-key'] })
  })

  it('rejects a token without a scheme in Authorization, even if the card declares that as its API key header', async () => {
    const profile = { ...schemes, apiKeyHeaders: ['authorization'] }
    expect(await authenticateForAgent(request({ Authorization: token }), profile)).toMatchObject({
      reason: 'bad-token',
      error: 'malformed',
    })
  })

  it('accepts a token after a scheme in an API key header', async () => {
    expect(await authenticateForAgent(request({ 'X-API-Key': `Bearer ${token}` }))).toEqual({
      ...reader,
      strippedHeaders: ['x-api-key'],
    })
  })

  it('does not compare API keys with the ADMIN_TOKEN, of which a card can have hundreds', async () => {
    for (const key of ['the-long-admin-token', 'Bearer the-long-admin-token', 'Token the-long-admin-token'])
      expect(await authenticateForAgent(request({ 'X-API-Key': key }))).toEqual({
        authenticated: false,
        reason: 'anonymous',
      })
  })

  it.each([`Token ${token}`, `Bearer: ${token}`, `${token}, theirs`, `Basic ${btoa(`u:${token}`)}`])(
    'rejects a token in another form, and strips its header: %s',
    async key => {
      expect(await authenticateForAgent(request({ 'X-API-Key': key }))).toMatchObject({ reason: 'bad-token' })
      const incoming = request({ 'X-API-Key': key, Authorization: `Bearer ${token}` })
      expect(await authenticateForAgent(incoming)).toEqual({
        ...reader,
        strippedHeaders: ['authorization', 'x-api-key'],
      })
    },
  )

  it("keeps the agent's own Authorization when a token is in an API key header", async () => {
    const incoming = request({ 'X-API-Key': token, Authorization: "Bearer the-agent's" })
    expect(await authenticateForAgent(incoming)).toEqual({ ...reader, strippedHeaders: ['x-api-key'] })
  })

  it("keeps the agent's own API key when a bearer token is present", async () => {
    const incoming = request({ 'X-API-Key': 'the-agent-s', Authorization: `Bearer ${token}` })
    expect(await authenticateForAgent(incoming)).toEqual({ ...reader, strippedHeaders: ['authorization'] })
  })

  it('returns the caller itself, without a promise, where the card adds nothing', async () => {
    const profile = { ...schemes, apiKeyHeaders: [] }
    const incoming = withBearer(token)
    const context = { request: incoming, env, ctx }
    const caller = await authenticate(incoming)
    expect(auth.authenticateForAgent(caller, { id: 'weather', profile }, context)).toBe(caller)
    const withKeys = { ...profile, apiKeyHeaders: ['x-api-key', 'authorization'] }
    expect(await auth.authenticateForAgent(caller, { id: 'weather', profile: withKeys }, context)).toBe(caller)
  })

  it('strips every header with a token of this host', async () => {
    const incoming = request({ 'X-API-Key': otherToken, Authorization: `Bearer ${token}` })
    expect(await authenticateForAgent(incoming)).toEqual({ ...reader, strippedHeaders: ['authorization', 'x-api-key'] })
  })

  it.each([
    ['an API key of the agent', { 'X-API-Key': 'theirs' }, { reason: 'anonymous' }],
    ['a token in a header that the card does not declare', { 'X-Other': token }, { reason: 'anonymous' }],
    [
      'a token twice',
      [
        ['X-API-Key', token],
        ['X-API-Key', token],
      ],
      { reason: 'bad-token', error: 'malformed' },
    ],
    ['a token that was never issued', { 'X-API-Key': otherToken }, { reason: 'bad-token', error: 'unknown' }],
    [
      'a valid API key with an invalid bearer token',
      { 'X-API-Key': token, Authorization: `Bearer ${otherToken}` },
      { reason: 'bad-token', error: 'unknown' },
    ],
    [
      'a valid API key with two bearer tokens',
      { 'X-API-Key': token, Authorization: 'Bearer a, Bearer b' },
      { reason: 'bad-token', error: 'several' },
    ],
  ] as [string, Record<string, string>, object][])('authenticates nobody by %s', async (_, headers, expected) => {
    expect(await authenticateForAgent(request(headers))).toEqual({ authenticated: false, ...expected })
  })

  describe('for an internal agent', () => {
    const internal = { ...schemes, visibility: 'internal' as const }
    it.each([
      ['no credentials', {}, 0],
      ['an API key that was never issued', { 'X-API-Key': otherToken }, 0],
      ['a token in another form as an API key', { 'X-API-Key': `Token ${token}` }, 0],
      ['a bearer token that was never issued', { Authorization: `Bearer ${otherToken}` }, 1],
      ['a token for another agent', { Authorization: `Bearer ${token}` }, 0],
      ['an API key for another agent', { 'X-API-Key': token }, 0],
    ] as [string, Record<string, string>, number][])(
      'returns and counts the same as for an unknown agent: %s',
      async (_, headers, count) => {
        const incoming = request(headers)
        const forUnknownAgent = await authenticate(incoming)
        expect(failures).toHaveLength(count)
        failures = []
        expect([await authenticateForAgent(incoming, internal, 'hidden'), failures.length]).toEqual([
          forUnknownAgent,
          count,
        ])
      },
    )

    it('authenticates a caller that may read it', async () => {
      const incoming = request({ 'X-API-Key': token })
      expect(await authenticateForAgent(incoming, internal, 'weather-1')).toEqual({
        ...reader,
        strippedHeaders: ['x-api-key'],
      })
    })
  })

  describe('with a JWT', () => {
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

    it('authenticates the subject, and keeps the token from the agent', async () => {
      expect(await authenticateForAgent(withBearer(await server.sign()), profile())).toMatchObject({
        authenticated: true,
        scopes: ['read'],
        agents: ['weather'],
        strippedHeaders: ['authorization'],
      })
    })

    const agentUrl = 'https://weather.example.com/a2a'
    it.each<[string, Record<string, string>]>([
      ['a bearer token', { Authorization: 'Bearer ' }],
      ['credentials of another scheme', { Authorization: 'DPoP ' }],
      ['an API key', { 'X-Api-Key': '' }],
      ['both', { Authorization: 'Bearer ', 'X-Api-Key': '' }],
    ])('keeps one that it accepts from the agent, which could use it at another one: as %s', async (_, prefixes) => {
      const accepting = { ...profile(), jwt: { audience: ['agents-api'], tiers: {} } }
      const token = await server.sign({ aud: 'agents-api' })
      const headers = Object.fromEntries(Object.entries(prefixes).map(([name, prefix]) => [name, prefix + token]))
      const caller = await authenticateForAgent(new Request('https://host.example/', { headers }), accepting)
      expect(caller.strippedHeaders).toEqual(Object.keys(headers).map(name => name.toLowerCase()))
    })

    it('keeps one for this host from an agent that accepts none, and is unavailable while KV is', async () => {
      const incoming = (aud: string) => server.sign({ aud }).then(withBearer)
      const own = { authenticated: false, reason: 'unrecognized', strippedHeaders: ['authorization'] }
      env = { ...env, PUBLIC_URL: 'https://cards.example.com/' }
      expect(await authenticateForAgent(await incoming('https://cards.example.com/agents/b'))).toEqual(own)
      expect(await authenticateForAgent(await incoming('https://host.example'))).toEqual(own)
      expect(reads).toEqual([])
      env = {
        ...env,
        CARDS: { getWithMetadata: () => Promise.reject(new Error('KV is unavailable')) } as unknown as KVNamespace,
      }
      expect(await authenticateForAgent(await incoming('https://b.example.com'))).toEqual({
        authenticated: false,
        reason: 'unavailable',
      })
    })

    it.each<[string, string, string[], string[] | undefined]>([
      ['an agent at a name of this host', 'https://two.example/agents/b', [agentUrl], ['authorization']],
      ['an endpoint of such an agent', 'https://two.example/agents/b/a2a', [agentUrl], ['authorization']],
      ['such an agent, without a scheme', 'two.example/agents/b', [agentUrl], ['authorization']],
      ['such an agent, with no address to forward to', 'https://two.example/agents/b', [], ['authorization']],
      ['the agent, which is at another host', 'https://two.example/agents/b', ['https://two.example/a2a'], undefined],
      [
        'one of two origins of the agent',
        'https://two.example/agents/b',
        ['https://two.example/a2a', agentUrl],
        ['authorization'],
      ],
      [
        'an agent of this host, whose address is here',
        'https://host.example/agents/b',
        ['https://host.example/agents/b/a2a'],
        ['authorization'],
      ],
      ['a list of agents', 'https://two.example/agents/', [agentUrl], undefined],
      ['another path', 'https://two.example/v1/agents/b', [agentUrl], undefined],
    ])('keeps one from an agent if an agent of this host may accept it: %s', async (_, aud, urls, strippedHeaders) => {
      const targets = urls.map((url): CallTarget => ({ binding: 'JSONRPC', version: '1.0', url }))
      expect(await authenticateForAgent(withBearer(await server.sign({ aud })), { ...schemes, targets })).toEqual({
        ...{ authenticated: false, reason: 'unrecognized' },
        ...(strippedHeaders && { strippedHeaders }),
      })
    })

    it.each([
      [{ exp: 1 }, { reason: 'bad-token', error: 'expired' }, 1],
      [{ iss: 'https://other.example' }, { reason: 'unrecognized', strippedHeaders: ['authorization'] }, 0],
    ])('authenticates nobody with the claims %j', async (claims, expected, failureCount) => {
      const caller = await authenticateForAgent(withBearer(await server.sign(claims)), profile())
      expect([caller, failures.length]).toEqual([{ authenticated: false, ...expected }, failureCount])
    })

    it('counts no failure for an invalid JWT for an internal agent', async () => {
      const internal = { ...profile(), visibility: 'internal' as const }
      const caller = await authenticateForAgent(withBearer(await server.sign({ exp: 1 })), internal)
      expect([caller, failures]).toEqual([{ authenticated: false, reason: 'unrecognized' }, []])
    })

    it('does not verify it for a blocked address, unless it was valid before', async () => {
      const known = await server.sign()
      expect(await authenticateForAgent(withBearer(known, '203.0.113.77'), profile())).toMatchObject({
        authenticated: true,
      })
      maxFailures = 0
      await authenticate(withBearer(otherToken, '203.0.113.77'))
      const before = server.paths.length
      const unknown = withBearer(await server.sign({ jti: 'another' }), '203.0.113.77')
      expect(await authenticateForAgent(unknown, profile())).toEqual({ authenticated: false, reason: 'throttled' })
      expect(server.paths).toHaveLength(before)
      expect(await authenticateForAgent(withBearer(known, '203.0.113.77'), profile())).toMatchObject({
        authenticated: true,
      })
    })

    it('returns "unavailable" while the issuer is unavailable, and counts no failure', async () => {
      server.isUp = false
      const caller = await authenticateForAgent(withBearer(await server.sign()), profile())
      expect([caller, failures]).toEqual([{ authenticated: false, reason: 'unavailable' }, []])
    })
  })
})

describe('the log', () => {
  it('contains neither a token nor its hash after an error', async () => {
    const lines: string[] = []
    for (const level of ['info', 'error'] as const)
      vi.spyOn(console, level).mockImplementation((line: string) => void lines.push(line))
    env = { ...env, CARDS: { getWithMetadata: () => Promise.reject(new Error('KV is unavailable')) } } as unknown as Env
    await authenticate(withBearer(token))
    expect(lines.join()).not.toContain(token)
    expect(lines.join()).not.toContain(await sha256Hex(token))
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  authenticateForAgent,
  authenticate as authenticateRequest,
  parseAuthorization,
} from '../../src/auth/authenticate.ts'
import { createToken } from '../../src/auth/bearer-token.ts'
import { recordSuccess } from '../../src/auth/throttle.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import type { CallTarget } from '../../src/card/model/calls.ts'
import { sha256Hex } from '../../src/http/conditional.ts'
import { BATCH_DELAY_MS } from '../../src/registry/edge/kv-reader.ts'
import { cacheToken } from '../../src/registry/edge/lookups.ts'
import type { TokenRecord } from '../../src/registry/token-record.ts'
import { type IssuerServer, startIssuer } from '../support/issuer.ts'
import { executionContext as ctx } from '../support/kv.ts'

/** A request's headers: an Authorization header, or all of them. */
type Sent = string | Record<string, string> | [string, string][]

const record: TokenRecord = {
  ...{ id: 'a'.repeat(12), note: '', scopes: ['read'], agents: ['weather-*'], tiers: ['partner'] },
  ...{ created: 0, expires: null },
}
const adminToken = 'the-long-admin-token'

/** The stored tokens by their hashes, the keys that were read, the addresses of counted failures, and the limit of failures. */
let stored: Map<string, TokenRecord>
let reads: string[]
let failures: string[]
let seq: number
let maxFailures: number
let env: Env
// The isolate remembers tokens and addresses, so each test has its own: a token that the host has issued, and one that it has not.
let token: string
let otherToken: string
let address: string
let tests = 0
beforeEach(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  token = (await createToken()).token
  otherToken = (await createToken()).token
  address = `203.0.113.${++tests}`
  stored = new Map([[await sha256Hex(token), record]])
  seq = 1
  reads = []
  failures = []
  maxFailures = Number.POSITIVE_INFINITY
  env = {
    ...{ ADMIN_TOKEN: adminToken, ALLOWED_ORIGINS: '' },
    CARDS: {
      getWithMetadata: async (key: string) => {
        reads.push(key)
        const found = stored.get(key.replace('token:', ''))
        return { value: found ? new Response(JSON.stringify(found)).body : null, metadata: found ? { seq } : null }
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

const request = (sent: Sent, from = address) => {
  const headers = new Headers(typeof sent === 'string' ? { Authorization: sent } : sent)
  headers.set('CF-Connecting-IP', from)
  return new Request('https://host.example/agents', { headers })
}
const authenticate = async (sent: Sent, from?: string) => authenticateRequest(request(sent, from), env, ctx)
const schemes = {
  visibility: 'public' as CallProfile['visibility'],
  callers: 'anyone' as CallProfile['callers'],
  apiKeyHeaders: ['x-api-key'],
  openIdConnectUrls: [] as string[],
  targets: [] as CallTarget[],
  jwt: undefined as CallProfile['jwt'],
}
const forAgent = async (sent: Sent, profile: Partial<typeof schemes> = {}, id = 'weather') => {
  const incoming = request(sent)
  const caller = await authenticateRequest(incoming, env, ctx)
  return authenticateForAgent(
    caller,
    { id, profile: { ...schemes, ...profile } as never },
    { request: incoming, env, ctx },
  )
}
const breakKv = () => {
  env = { ...env, CARDS: { getWithMetadata: () => Promise.reject(new Error('KV is unavailable')) } } as unknown as Env
}
/** Tests a row for each kind of credentials. Each compares the result, and the number of failures that were counted. */
const expectAll = async (rows: [Sent, object, number?][], run: (sent: Sent) => Promise<unknown> = authenticate) => {
  for (const [sent, expected, count = 0] of rows) {
    const [result, { length }] = [await run(sent), failures.splice(0)]
    expect({ sent, result, failures: length }).toEqual({ sent, result: expected, failures: count })
  }
}

const admin = { authenticated: true, subject: 'admin', scopes: ['admin'], agents: ['*'], tiers: ['*'] }
const reader = {
  ...{
    authenticated: true,
    subject: 'token:aaaaaaaaaaaa',
    scopes: ['read'],
    agents: ['weather-*'],
    tiers: ['partner'],
  },
}
const readerBy = (...strippedHeaders: string[]) => ({ ...reader, strippedHeaders })
const anonymous = { authenticated: false, reason: 'anonymous' }
const unrecognized = { authenticated: false, reason: 'unrecognized' }
const withheld = { ...unrecognized, strippedHeaders: ['authorization'] }
const throttled = { authenticated: false, reason: 'throttled' }
const unavailable = { authenticated: false, reason: 'unavailable' }
const bad = (error: string) => ({ authenticated: false, reason: 'bad-token', error })
const twice = (name: string, value: string, other = value): [string, string][] => [
  [name, value],
  [name, other],
]

describe('parseAuthorization', () => {
  const parse = (...values: string[]) =>
    parseAuthorization(new Headers(values.map((value): [string, string] => ['Authorization', value])))

  it('finds one bearer token, and tells lists and other schemes apart', () => {
    const [longest, tooLong] = ['a'.repeat(8192), 'a'.repeat(8193)]
    for (const [values, expected] of [
      [[], { scheme: 'none' }],
      [['bEARER abc'], { scheme: 'bearer', token: 'abc' }],
      [['Bearer a,b'], { scheme: 'bearer', token: 'a,b' }],
      [[`Bearer ${longest}`], { scheme: 'bearer', token: longest }],
      [[`Bearer ${tooLong}`], { scheme: 'unrecognized' }],
      [['Bearer'], { scheme: 'unrecognized' }],
      [['Basic dTpw'], { scheme: 'unrecognized' }],
      [['Bearer a', 'Bearer b'], { scheme: 'several' }],
      [['Basic dTpw', 'Bearer a'], { scheme: 'several' }],
      [['Bearer a b'], { scheme: 'several' }],
    ] as const)
      expect([values, parse(...values)]).toEqual([values, expected])
  })
})

describe('authenticate', () => {
  it('recognizes the ADMIN_TOKEN with all permissions, without reading KV, and looks up a token by its hash', async () => {
    expect(await authenticate(`Bearer ${adminToken}`)).toEqual({ ...admin, strippedHeaders: ['authorization'] })
    expect(reads).toEqual([])
    expect(await authenticate(`Bearer ${token}`)).toEqual(readerBy('authorization'))
    expect(reads).toEqual([`token:${await sha256Hex(token)}`])
  })

  it('returns a reason without reading KV for anything but a token', async () => {
    await expectAll([
      [{}, anonymous],
      [{ Authorization: '' }, anonymous],
      [`Bearer ${token.slice(0, -1)}`, bad('malformed'), 1],
      [twice('Authorization', `Bearer ${token}`, `Bearer ${adminToken}`), bad('several'), 1],
    ])
    expect(reads).toEqual([])
  })

  it('rejects and counts a token of this host in another form', async () => {
    await expectAll([
      [token, bad('malformed'), 1],
      [`Bearer x${token}`, bad('malformed'), 1],
      [`Basic ${btoa(`u:${token}`)}`, bad('malformed'), 1],
      [`Bearer ${token}, Bearer ${token}`, bad('several'), 1],
    ])
  })

  it('treats the ADMIN_TOKEN in another form as unrecognized, and keeps it from the agent', async () => {
    await expectAll([
      ['Bearer the-long-admin-guess', unrecognized],
      [adminToken, withheld],
      [`Bearer u:${adminToken}`, withheld],
      [`Basic ${btoa(`u:${adminToken}`)}`, withheld],
    ])
  })

  it('rejects a token that was never issued or has expired', async () => {
    expect(await authenticate(`Bearer ${otherToken}`)).toEqual(bad('unknown'))
    for (const [expires, expected] of [
      [Date.now(), bad('unknown')],
      [Date.now() + 60_000, readerBy('authorization')],
    ] as const) {
      const { token, hash } = await createToken()
      stored.set(hash, { ...record, expires })
      expect([expires, await authenticate(`Bearer ${token}`)]).toEqual([expires, expected])
    }
  })

  it('accepts no ADMIN_TOKEN on a host without one', async () => {
    for (const ADMIN_TOKEN of ['', undefined]) {
      env = { ...env, ADMIN_TOKEN } as Env
      expect(await authenticate('Bearer undefined')).toEqual(unrecognized)
    }
  })

  it('rethrows unexpected errors', async () => {
    const waitUntil = () => {
      throw new TypeError('a defect')
    }
    const defect = { waitUntil } as unknown as ExecutionContext
    await expect(authenticateRequest(request(`Bearer ${token}`), env, defect)).rejects.toThrow('a defect')
  })

  it('returns "unavailable" while KV is, and logs neither the token nor its hash', async () => {
    breakKv()
    expect(await authenticate(`Bearer ${token}`)).toEqual(unavailable)
    const lines = vi.mocked(console.error).mock.calls.join()
    expect(lines).toContain('kv-read-failed')
    expect(lines).not.toContain(token)
    expect(lines).not.toContain(await sha256Hex(token))
  })
})

describe('a token that was valid before', () => {
  const authenticateNow = (sent: Sent) => authenticateRequest(request(sent), env, ctx)

  it('is accepted again without a promise, a digest or a read', async () => {
    for (const [sent, expected] of [
      [`Bearer ${token}`, readerBy('authorization')],
      [`Bearer ${adminToken}`, { ...admin, strippedHeaders: ['authorization'] }],
    ] as const) {
      await authenticate(sent)
      reads = []
      const digests = vi.spyOn(crypto.subtle, 'digest')
      const [again, other] = [authenticateNow(sent), authenticateNow(sent.replace('Bearer', 'bearer '))]
      expect([again, other]).toEqual([expected, expected])
      expect([digests.mock.calls, reads]).toEqual([[], []])
      digests.mockRestore()
    }
    expect(authenticateNow({})).toEqual(anonymous)
    expect(authenticateNow('Basic dTpw')).toEqual(unrecognized)
  })

  it('is rejected once it is revoked or has expired, and has the permissions of its record', async () => {
    const hash = await sha256Hex(token)
    expect(await authenticate(`Bearer ${token}`)).toEqual(readerBy('authorization'))
    cacheToken(hash, { ...record, scopes: ['call'], expires: Date.now() + 5000 }, 2)
    expect(await authenticate(`Bearer ${token}`)).toEqual({ ...readerBy('authorization'), scopes: ['call'] })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
    expect(await authenticate(`Bearer ${token}`)).toEqual(bad('unknown'))
    cacheToken(hash, record, 3)
    expect(await authenticate(`Bearer ${token}`)).toEqual(readerBy('authorization'))
    cacheToken(hash, null, 4)
    expect(await authenticate(`Bearer ${token}`)).toEqual(bad('unknown'))
    expect(failures).toEqual([address, address])
  })

  it('is read from KV again as often as any other', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout'], now: 0 })
    for (const [seconds, count] of [
      [0, 1],
      [19, 1],
      [20, 2],
      [21, 2],
      [41, 3],
    ] as const) {
      vi.setSystemTime(seconds * 1000)
      expect(await authenticate(`Bearer ${token}`)).toEqual(readerBy('authorization'))
      await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
      expect([seconds, reads.length]).toEqual([seconds, count])
    }
    stored.set(await sha256Hex(token), { ...record, scopes: ['call'] })
    seq = 2
    vi.setSystemTime(80_000)
    expect(await authenticate(`Bearer ${token}`)).toMatchObject({ scopes: ['call'] })
  })

  it('is no ADMIN_TOKEN on a host that has another one', async () => {
    await authenticate(`Bearer ${adminToken}`)
    env = { ...env, ADMIN_TOKEN: 'another-long-admin-token' } as Env
    expect(await authenticate(`Bearer ${adminToken}`)).toEqual(unrecognized)
    env = { ...env, ADMIN_TOKEN: token } as Env
    expect(await authenticate(`Bearer ${token}`)).toMatchObject({ subject: 'admin' })
  })

  it('stays known while it is used, however many others are valid', async () => {
    await authenticate(`Bearer ${token}`)
    for (let other = 0; other < 15_000; other++) {
      if (other % 5000 === 0) authenticateNow(`Bearer ${token}`)
      recordSuccess(`digest-${address}-${other}`)
    }
    maxFailures = 0
    await authenticate(`Bearer ${otherToken}`)
    expect(await authenticate(`Bearer ${token}`)).toEqual(readerBy('authorization'))
  })

  it('is kept from the agent in the header in which it was sent this time', async () => {
    for (let time = 0; time < 2; time++) {
      expect(await forAgent(`Bearer ${token}`)).toEqual(readerBy('authorization'))
      expect(await forAgent({ 'X-API-Key': token })).toEqual(readerBy('x-api-key'))
      expect(await forAgent({ 'X-API-Key': token })).toEqual(readerBy('x-api-key'))
    }
  })
})

describe('failed attempts', () => {
  it('are counted by address, which is throttled for a minute after too many', async () => {
    maxFailures = 3
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const results = []
    for (const letter of 'efghij') results.push(await authenticate(`Bearer ${otherToken.slice(0, -1)}${letter}`))
    const [unknown] = [bad('unknown')]
    expect(results).toEqual([unknown, unknown, unknown, throttled, throttled, throttled])
    expect([reads.length, failures]).toEqual([4, [address, address, address, address]])
    failures = []
    vi.setSystemTime(60_000)
    expect(await authenticate(`Bearer ${otherToken}`)).toEqual(unknown)
  })

  it('throttle credentials unless they were valid before; the ADMIN_TOKEN is one of many unknown', async () => {
    const known = await createToken()
    stored.set(known.hash, record)
    await authenticate(`Bearer ${known.token}`)
    maxFailures = 0
    await authenticate(`Bearer ${otherToken}`)
    expect(await authenticate(`Bearer ${known.token}`)).toMatchObject(reader)
    expect(await authenticate(`Bearer ${token}`)).toEqual(throttled)
    env = { ...env, ADMIN_TOKEN: 'an-admin-token-of-no-other-test' }
    expect(await authenticate('Bearer an-admin-token-of-no-other-test')).toEqual(withheld)
  })
})

describe('authenticateForAgent', () => {
  it('accepts a token in an API key header, and keeps from the agent what is for this host', async () => {
    await expectAll(
      [
        [{ 'X-API-Key': token }, readerBy('x-api-key')],
        [{ 'X-API-Key': `Bearer ${token}` }, readerBy('x-api-key')],
        [{ 'X-API-Key': 'the-agent-s', Authorization: `Bearer ${token}` }, readerBy('authorization')],
        [{ 'X-API-Key': otherToken, Authorization: `Bearer ${token}` }, readerBy('authorization', 'x-api-key')],
      ],
      forAgent,
    )
  })

  it('rejects a token in another form, and strips its header', async () => {
    for (const key of [`Token ${token}`, `Basic ${btoa(`u:${token}`)}`]) {
      expect(await forAgent({ 'X-API-Key': key }), key).toEqual(bad('malformed'))
      const both = { 'X-API-Key': key, Authorization: `Bearer ${token}` }
      expect(await forAgent(both), key).toEqual(readerBy('authorization', 'x-api-key'))
    }
    // Even if the card declares that as its API key header.
    expect(await forAgent(token, { apiKeyHeaders: ['authorization'] })).toEqual(bad('malformed'))
  })

  it('authenticates nobody by an invalid or foreign credential, nor by the ADMIN_TOKEN as an API key', async () => {
    await expectAll(
      [
        [{ 'X-API-Key': 'theirs' }, anonymous],
        [twice('X-API-Key', token), bad('malformed'), 1],
        [{ 'X-API-Key': otherToken }, bad('unknown'), 1],
        [{ 'X-API-Key': token, Authorization: `Bearer ${otherToken}` }, bad('unknown'), 1],
        // A card can have hundreds of such headers.
        [{ 'X-API-Key': adminToken }, anonymous],
        [{ 'X-API-Key': `Bearer ${adminToken}` }, anonymous],
      ],
      forAgent,
    )
  })

  it('returns the caller itself, without a promise, where the card adds nothing', async () => {
    const incoming = request(`Bearer ${token}`)
    const context = { request: incoming, env, ctx }
    const caller = await authenticateRequest(incoming, env, ctx)
    const profile = { ...schemes, apiKeyHeaders: [], jwt: undefined as never }
    expect(authenticateForAgent(caller, { id: 'weather', profile }, context)).toBe(caller)
    const withKey = { ...profile, apiKeyHeaders: ['x-api-key'] }
    expect(authenticateForAgent(caller, { id: 'weather', profile: withKey }, context)).toBe(caller)
    // Credentials of the agent that are no JWT.
    const withIssuer = { ...withKey, openIdConnectUrls: ['https://login.example/.well-known/openid-configuration'] }
    for (const theirs of ['Basic dTpw', 'Bearer key.1', `u:${adminToken}`]) {
      const incoming = request(theirs)
      const unknown = authenticateRequest(incoming, env, ctx) as never
      const result = authenticateForAgent(
        unknown,
        { id: 'weather', profile: withIssuer },
        { ...context, request: incoming },
      )
      expect(result, theirs).toBe(unknown)
    }
    const withKeys = { ...profile, apiKeyHeaders: ['x-api-key', 'authorization'] }
    expect(await authenticateForAgent(caller, { id: 'weather', profile: withKeys }, context)).toBe(caller)
  })

  it('returns and counts the same for an internal agent as for an unknown one, unless the caller may read it', async () => {
    const rows: [Sent, object, number?][] = [
      [{}, anonymous],
      [{ 'X-API-Key': otherToken }, anonymous],
      [{ 'X-API-Key': `Token ${token}` }, anonymous],
      [`Bearer ${otherToken}`, bad('unknown'), 1],
      [`Bearer ${token}`, readerBy('authorization')],
      [{ 'X-API-Key': token }, anonymous],
    ]
    await expectAll(rows)
    await expectAll(rows, sent => forAgent(sent, { visibility: 'internal' }, 'hidden'))
    expect(await forAgent({ 'X-API-Key': token }, { visibility: 'internal' }, 'weather-1')).toEqual(
      readerBy('x-api-key'),
    )
  })
})

describe('authenticateForAgent with a JWT', () => {
  let server: IssuerServer
  beforeAll(async () => {
    server = await startIssuer()
  })
  afterAll(() => server.close())
  beforeEach(() => {
    env = { ...env, ALLOWED_ORIGINS: server.origin }
  })
  const profile = (more: Partial<typeof schemes> = {}) => ({
    ...{ openIdConnectUrls: [server.discoveryUrl], jwt: { audience: ['https://host/agents/a'], tiers: {} } },
    ...more,
  })
  const sign = async (claims: Record<string, unknown> = {}) => `Bearer ${await server.sign(claims)}`

  it('authenticates the subject, and keeps the token from the agent', async () => {
    const expected = { authenticated: true, agents: ['weather'], strippedHeaders: ['authorization'] }
    expect(await forAgent(await sign(), profile())).toMatchObject({ ...expected, scopes: ['read'] })
    // The gate of an agent whose callers are those of its issuer.
    expect(await forAgent(await sign(), profile({ callers: 'issuer' }))).toMatchObject({
      ...expected,
      scopes: ['call'],
    })
  })

  it('keeps one that it accepts from the agent, which could use it at another one, in any header', async () => {
    const jwt = { audience: ['agents-api'], tiers: {} }
    const token = await server.sign({ aud: 'agents-api' })
    for (const [headers, stripped] of [
      [{ Authorization: `Bearer ${token}` }, ['authorization']],
      [{ Authorization: `DPoP ${token}` }, ['authorization']],
      [{ 'X-Api-Key': token }, ['x-api-key']],
      [{ Authorization: `Bearer ${token}`, 'X-Api-Key': token }, ['authorization', 'x-api-key']],
    ] as [Sent, string[]][])
      expect((await forAgent(headers, profile({ jwt }))).strippedHeaders, stripped.join()).toEqual(stripped)
  })

  it('keeps one for this host from an agent that accepts none, and is unavailable while KV is', async () => {
    env = { ...env, PUBLIC_URL: 'https://cards.example.com/' }
    for (const aud of ['https://cards.example.com/agents/b', 'https://host.example'])
      expect(await forAgent(await sign({ aud })), aud).toEqual(withheld)
    expect(reads).toEqual([])
    breakKv()
    expect(await forAgent(await sign({ aud: 'https://unread.example.com' }))).toEqual(unavailable)
  })

  it('keeps one from an agent if an agent of this host may accept it', async () => {
    const agentUrl = 'https://weather.example.com/a2a'
    for (const [aud, urls, expected] of [
      ['https://two.example/agents/b', [agentUrl], withheld],
      ['two.example/agents/b', [agentUrl], withheld],
      // No address to forward to, and one of two origins.
      ['https://two.example/agents/b', [], withheld],
      ['https://two.example/agents/b', ['https://two.example/a2a', agentUrl], withheld],
      ['https://host.example/agents/b', ['https://host.example/agents/b/a2a'], withheld],
      // The agent itself, which is at another host, and what is no agent.
      ['https://two.example/agents/b', ['https://two.example/a2a'], unrecognized],
      ['https://two.example/agents/', [agentUrl], unrecognized],
      ['mailto:two.example', [agentUrl], unrecognized],
    ] as [string, string[], object][]) {
      const targets = urls.map((url): CallTarget => ({ binding: 'JSONRPC', version: '1.0', url }))
      expect([aud, urls, await forAgent(await sign({ aud }), { targets })]).toEqual([aud, urls, expected])
    }
  })

  it('keeps one with more audiences than are looked up, or one that an agent claims as its host name', async () => {
    const others = Array.from({ length: 5 }, (_, index) => `https://n${index}.example`)
    expect(await forAgent(await sign({ aud: others }))).toEqual(unrecognized)
    expect(await forAgent(await sign({ aud: [...others, 'n5'] }))).toEqual(withheld)
    const getWithMetadata = async (key: string) =>
      key === 'host:claimed.example' ? { value: 'b', metadata: { seq: 1 } } : { value: null, metadata: null }
    env = { ...env, CARDS: { getWithMetadata } as unknown as KVNamespace }
    expect(await forAgent(await sign({ aud: ['https://n6.example', 'https://claimed.example'] }))).toEqual(withheld)
  })

  it('authenticates nobody by an invalid one, which counts as a failure unless the agent is internal', async () => {
    const expired = await sign({ exp: 1 })
    const foreign = await sign({ iss: 'https://other.example' })
    await expectAll([[expired, bad('expired'), 1]], sent => forAgent(sent, profile()))
    await expectAll([[foreign, withheld]], sent => forAgent(sent, profile()))
    await expectAll([[expired, unrecognized]], sent => forAgent(sent, profile({ visibility: 'internal' })))
  })

  it('returns the result of one that was verified before without a promise', async () => {
    const sent = await sign({ jti: 'again' })
    const now = (more: Partial<typeof schemes>, id = 'weather') => {
      const incoming = request(sent)
      const before = authenticateRequest(incoming, env, ctx) as never
      const agent = { id, profile: { ...schemes, ...profile(), apiKeyHeaders: [], ...more } as never }
      return authenticateForAgent(before, agent, { request: incoming, env, ctx })
    }
    const first = await now({})
    expect(first).toMatchObject({ authenticated: true, agents: ['weather'] })
    expect(now({})).toEqual(first)
    expect(now({ visibility: 'internal' })).toEqual(first)
    expect(await now({}, 'other')).toEqual({ ...first, agents: ['other'] })
    // To a caller without the scope that the card requires, an internal agent does not exist.
    const scoped = { jwt: { audience: ['https://host/agents/a'], scope: 'read', tiers: {} } } as never
    expect(await now(scoped)).toEqual({ ...first, scopes: [] })
    expect(now(scoped)).toEqual({ ...first, scopes: [] })
    expect(now({ ...(scoped as object), visibility: 'internal' })).toEqual(unrecognized)
  })

  it('does not verify it for a blocked address, unless it was valid before', async () => {
    const known = await sign({ jti: 'known' })
    expect(await forAgent(known, profile())).toMatchObject({ authenticated: true })
    maxFailures = 0
    await authenticate(`Bearer ${otherToken}`)
    const before = server.paths.length
    expect(await forAgent(await sign({ jti: 'another' }), profile())).toEqual(throttled)
    expect(server.paths).toHaveLength(before)
    expect(await forAgent(known, profile())).toMatchObject({ authenticated: true })
  })

  it('returns "unavailable" while the issuer is unavailable, and counts no failure', async () => {
    server.tenant = 'down'
    server.isUp = false
    expect([await forAgent(await sign(), profile()), failures]).toEqual([unavailable, []])
  })
})

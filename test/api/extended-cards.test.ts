import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dialectNames } from '../../src/card/model/constants.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, type Received, startCalledHost } from '../support/called-host.ts'
import { call, codeOf } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'

/** What each tier says that none below it does. */
const says = {
  public: 'Tells the weather',
  base: 'only-base-says-this',
  silver: 'only-silver-says-this',
  gold: 'only-gold-says-this',
}
const skill = (tier: string) => ({ id: tier, name: tier, description: `only-${tier}-says-this`, tags: [tier] })

let called: CalledHost
const tokens: Record<string, string> = {}
beforeAll(async () => {
  called = await startCalledHost()
  const { origin } = called.agent
  const overlays = {
    extended: { skills: [skill('base')] },
    tiers: { silver: { skills: [skill('silver')] }, gold: { skills: [skill('gold')] } },
  }
  const key = { securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Weather-Key' } } } }
  await called.register('weather', { card: agentCard(origin, key), route: 'gateway', ...overlays })
  await called.register('hidden', { card: agentCard(origin), visibility: 'internal', ...overlays })
  await called.register('plain', { card: agentCard(origin) })
  await called.register('promising', {
    card: agentCard(origin, { capabilities: { streaming: true, extendedAgentCard: true } }),
  })
  await called.register('closed', { card: agentCard(origin), route: 'closed', ...overlays })
  const issue = async (name: string, request: JsonObject) => {
    tokens[name] = (await called.issue(request)).token
  }
  await issue('base', { scopes: ['read'] })
  await issue('silver', { scopes: ['read'], agents: ['weather', 'hidden'], tiers: ['silver'] })
  await issue('gold', { scopes: ['read'], agents: ['w*', 'h*'], tiers: ['gold'] })
  await issue('both', { scopes: ['read'], tiers: ['silver', 'gold'] })
  await issue('all', { scopes: ['read'], tiers: ['*'] })
  await issue('unheard', { scopes: ['read'], tiers: ['platinum'] })
  await issue('admin', { scopes: ['admin'] })
  await issue('other', { scopes: ['read'], agents: ['plain'], tiers: ['*'] })
  await issue('writer', { scopes: ['write'], tiers: ['*'] })
  const { token, id } = await called.issue({ scopes: ['read'], tiers: ['*'] })
  await called.send(`/tokens/${id}`, { method: 'DELETE', token: adminToken })
  // The least that a token is issued for is a minute: this one has had it.
  const expired = `cc_${'b'.repeat(12)}_${'b'.repeat(32)}`
  const record = {
    id: 'b'.repeat(12),
    note: '',
    scopes: ['read'],
    agents: ['*'],
    tiers: ['*'],
    created: 0,
    expires: Date.now() - 1,
  }
  const { CARDS } = await called.host.env()
  const keptAt = `token:${createHash('sha256').update(expired).digest('hex')}`
  await CARDS.put(keptAt, JSON.stringify(record), { metadata: { seq: 1 } })
  Object.assign(tokens, {
    expired,
    revoked: token,
    unknown: `cc_${'a'.repeat(12)}_${'a'.repeat(32)}`,
    mistyped: `${tokens.base?.slice(0, -1)}`,
    empty: 'cc_',
  })
})
afterAll(() => called.close())
/** All of this is answered here: no agent hears of it. */
afterEach(() => expect(called.agent.requests).toEqual([]))

type Way = (id: string, headers?: Record<string, string>) => Promise<Received>

/** The ways to ask for an extended card. */
const rpc =
  (method: string): Way =>
  (id, headers = {}) =>
    called.send(`/agents/${id}/a2a`, { body: call(method, {}), headers })
const rest =
  (path: string): Way =>
  (id, headers = {}) =>
    called.send(`/agents/${id}/a2a/${path}`, { method: 'GET', headers })
const ways: [string, Way, string][] = [
  ['GetExtendedAgentCard', rpc('GetExtendedAgentCard'), '1.0'],
  ['agent/getAuthenticatedExtendedCard', rpc('agent/getAuthenticatedExtendedCard'), '0.3'],
  ['agent/extendedCard', rpc('agent/extendedCard'), 'gopherhole'],
  ['agent/authenticatedExtendedCard', rpc('agent/authenticatedExtendedCard'), 'shaman'],
  ['GET extendedAgentCard', rest('extendedAgentCard'), '1.0'],
  ['GET v1/card', rest('v1/card'), '0.3'],
]
const bearer = (name: string) => ({ Authorization: `Bearer ${tokens[name] ?? name}` })
const cardOf = ({ body }: Received): JsonObject => (body as { result?: JsonObject }).result ?? (body as JsonObject)
/** The tiers that a text tells of. */
const told = (text: string) => Object.entries(says).flatMap(([tier, said]) => (text.includes(said) ? [tier] : []))

const reads: [string, string[]][] = [
  ['base', ['public', 'base']],
  ['silver', ['public', 'base', 'silver']],
  ['gold', ['public', 'base', 'gold']],
  ['both', ['public', 'base', 'gold']],
  ['all', ['public', 'base', 'gold']],
  ['unheard', ['public', 'base']],
  ['admin', ['public', 'base', 'gold']],
]

describe.each(ways)('%s', (_, ask, dialect) => {
  it.each(reads)('answers with the highest tier of the token: %s', async (name, tiers) => {
    for (const id of ['weather', 'closed', 'hidden']) {
      if (id === 'closed' && ['silver', 'gold'].includes(name)) continue
      const came = await ask(id, bearer(name))
      expect([
        came.status,
        told(came.text),
        came.headers.get('cache-control'),
        came.headers.get('content-type'),
      ]).toEqual([200, tiers, 'private, no-store', 'application/json'])
    }
  })

  it('answers with the words of its dialect', async () => {
    const { body } = await called.send(`/agents/weather?dialect=${dialect}`, { method: 'GET', headers: bearer('gold') })
    const { securitySchemes: _schemes, ...expected } = body as JsonObject
    const { securitySchemes: _others, ...card } = cardOf(await ask('weather', bearer('gold')))
    expect(card).toEqual(expected)
  })

  it.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['an empty one', { Authorization: '' }],
    ['credentials of another kind', { Authorization: 'Basic aGk6aG8=' }],
    ['a token of somebody else', bearer('not-of-this-host')],
  ])('asks for a token where there is %s: 401', async (_, headers) => {
    const came = await ask('weather', headers)
    expect([came.status, came.headers.get('cache-control'), told(came.text)]).toEqual([401, 'no-store', []])
    expect(came.headers.get('www-authenticate')).toMatch(/^Bearer realm="a2a"/)
    expect(codeOf(came.body)).toBe(came.text.includes('jsonrpc') || dialect === '0.3' ? -32000 : 401)
  })

  it.each(['expired', 'revoked', 'unknown', 'mistyped', 'empty', `one, Bearer two`])(
    'refuses a token that does not hold: %s',
    async name => {
      const came = await ask('weather', bearer(name))
      expect([came.status, came.headers.get('www-authenticate'), told(came.text)]).toEqual([
        401,
        'Bearer realm="a2a", error="invalid_token"',
        [],
      ])
      expect(came.text).not.toContain(tokens[name] ?? name)
    },
  )

  it.each(['other', 'writer'])('tells a token that may not what it lacks: %s, 403', async name => {
    const came = await ask('weather', bearer(name))
    expect([came.status, came.headers.get('www-authenticate'), told(came.text)]).toEqual([
      403,
      'Bearer realm="a2a", error="insufficient_scope", scope="read"',
      [],
    ])
    expect(came.text).toContain('the scope \\"read\\" for agent \\"weather\\"')
  })

  it.each(['other', 'writer', 'unknown', 'revoked', 'expired'])(
    'knows no internal agent for who may not read it: %s',
    async name => {
      const came = await ask('hidden', bearer(name))
      expect([came.status, told(came.text), came.text.includes('AGENT_NOT_FOUND')]).toEqual([404, [], true])
    },
  )

  it('knows no extended card of an agent that declares none: -32004, whoever asks', async () => {
    for (const headers of [{}, bearer('all')]) {
      const came = await ask('plain', headers)
      expect(came.text).toContain('UNSUPPORTED_OPERATION')
      expect(codeOf(came.body)).toBe(came.text.includes('"details"') ? 400 : -32004)
    }
  })

  it('says of one that is declared and not configured just that: -32007', async () => {
    for (const headers of [{}, bearer('all')]) {
      const came = await ask('promising', headers)
      expect(came.text).toContain('EXTENDED_AGENT_CARD_NOT_CONFIGURED')
      expect(codeOf(came.body)).toBe(came.text.includes('"details"') ? 400 : -32007)
    }
  })

  it('takes a token in the header of the API key that the card names, and in no other', async () => {
    const came = await ask('weather', { 'X-Weather-Key': tokens.gold ?? '' })
    expect([came.status, told(came.text)]).toEqual([200, ['public', 'base', 'gold']])
    const beside = await ask('weather', { 'X-Weather-Key': tokens.silver ?? '', Authorization: 'Basic aGk6aG8=' })
    expect([beside.status, told(beside.text)]).toEqual([200, ['public', 'base', 'silver']])
    const worse = await ask('weather', { 'X-Weather-Key': tokens.gold ?? '', ...bearer('revoked') })
    expect([worse.status, told(worse.text)]).toEqual([401, []])
    expect((await ask('weather', { 'X-API-Key': tokens.gold ?? '' })).status).toBe(401)
    expect((await ask('hidden', { 'X-Weather-Key': tokens.gold ?? '' })).status).toBe(404)
  })
})

it('an extended card is not for who sends two Authorization headers, of which both would hold', async () => {
  const both = { Authorization: [`Bearer ${tokens.gold}`, `Bearer ${tokens.silver}`] }
  const came = await called.sendLines('/agents/weather/a2a', both, JSON.stringify(call('GetExtendedAgentCard', {})))
  expect([came.status, codeOf(came.body), told(came.text)]).toEqual([401, -32000, []])
})

describe('GET of a card with a token', () => {
  const paths = [
    '',
    '/.well-known/agent-card.json',
    '/.well-known/agent.json',
    ...dialectNames.map(name => `?dialect=${name}`),
  ]
  it.each(reads)('answers with the highest tier of the token, in every dialect: %s', async (name, tiers) => {
    for (const path of paths) {
      const came = await called.send(`/agents/weather${path}`, { method: 'GET', headers: bearer(name) })
      expect([path, came.status, came.headers.get('cache-control'), told(came.text)]).toEqual([
        path,
        200,
        'private, no-store',
        tiers,
      ])
    }
  })

  it.each(['other', 'writer', 'expired', 'revoked', 'unknown', 'mistyped', 'not-of-this-host'])(
    'answers with the public card to who may not: %s',
    async name => {
      for (const path of paths) {
        const came = await called.send(`/agents/weather${path}`, { method: 'GET', headers: bearer(name) })
        expect([path, came.status, came.headers.get('cache-control'), told(came.text)]).toEqual([
          path,
          200,
          'private, no-store',
          ['public'],
        ])
      }
    },
  )

  it('answers with the public card to all who bring none, whatever was asked before', async () => {
    for (const path of paths) {
      const came = await called.send(`/agents/weather${path}`, { method: 'GET' })
      expect([path, came.status, told(came.text)]).toEqual([path, 200, ['public']])
      expect(came.headers.get('cache-control')).toMatch(/^public/)
    }
  })

  it('has an entity tag of its own, and is not what the public one says is unchanged', async () => {
    const get = (headers: Record<string, string>) => called.send('/agents/weather', { method: 'GET', headers })
    const open = (await get({})).headers.get('etag') ?? ''
    const own = (await get(bearer('gold'))).headers.get('etag') ?? ''
    expect(own).not.toBe(open)
    const statuses = await Promise.all([
      get({ ...bearer('gold'), 'If-None-Match': open }),
      get({ ...bearer('gold'), 'If-None-Match': own }),
      get({ ...bearer('silver'), 'If-None-Match': own }),
      get({ 'If-None-Match': own }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([200, 304, 200, 200])
  })

  it('of an internal agent is the extended one for who may read it, and none for all others', async () => {
    for (const [name, status, tiers] of [
      ['gold', 200, ['public', 'base', 'gold']],
      ['base', 200, ['public', 'base']],
      ['other', 404, []],
      ['writer', 404, []],
      ['revoked', 404, []],
    ] as const) {
      const came = await called.send('/agents/hidden', { method: 'GET', headers: bearer(name) })
      expect([name, came.status, told(came.text)]).toEqual([name, status, tiers])
    }
    expect((await called.send('/agents/hidden', { method: 'GET' })).status).toBe(404)
  })
})

describe('what only an extended card says', () => {
  it('is in no list', async () => {
    for (const headers of [{}, bearer('base'), bearer('admin')]) {
      const list = await called.send('/agents', { method: 'GET', headers })
      expect(told(list.text).filter(tier => tier !== 'public')).toEqual([])
    }
  })

  it('ends with the overlay, at once', async () => {
    const card = agentCard(called.agent.origin)
    await called.register('brief', { card, extended: { description: 'only-base-says-this' } })
    expect(told((await rpc('GetExtendedAgentCard')('brief', bearer('base'))).text)).toEqual(['base'])
    await called.register('brief', { card })
    const came = await rpc('GetExtendedAgentCard')('brief', bearer('base'))
    expect([codeOf(came.body), told(came.text)]).toEqual([-32004, []])
    const own = await called.send('/agents/brief', { method: 'GET', headers: bearer('base') })
    expect(told(own.text)).toEqual(['public'])
  })
})

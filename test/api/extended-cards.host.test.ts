import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dialectNames } from '../../src/card/model/constants.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, type Received, startCalledHost } from '../support/called-host.ts'
import { call, codeOf } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'

/** A text of each tier that no lower tier contains. */
const textOfTier = {
  public: 'Tells the weather',
  base: 'only-in-base',
  silver: 'only-in-silver',
  gold: 'only-in-gold',
}
const skill = (tier: string) => ({ id: tier, name: tier, description: `only-in-${tier}`, tags: [tier] })

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
  await called.register('declared', {
    card: agentCard(origin, { capabilities: { streaming: true, extendedAgentCard: true } }),
  })
  await called.register('closed', { card: agentCard(origin), route: 'closed', ...overlays })
  const issue = async (name: string, request: JsonObject) => {
    tokens[name] = (await called.issue(request)).token
  }
  await issue('base', { scopes: ['read'] })
  await issue('silver', { scopes: ['read'], agents: ['weather', 'hidden'], tiers: ['silver'] })
  await issue('gold', { scopes: ['read'], agents: ['w*', 'h*'], tiers: ['gold'] })
  await issue('silver and gold', { scopes: ['read'], tiers: ['silver', 'gold'] })
  await issue('all tiers', { scopes: ['read'], tiers: ['*'] })
  await issue('unknown tier', { scopes: ['read'], tiers: ['platinum'] })
  await issue('admin', { scopes: ['admin'] })
  await issue('other', { scopes: ['read'], agents: ['plain'], tiers: ['*'] })
  await issue('writer', { scopes: ['write'], tiers: ['*'] })
  const { token, id } = await called.issue({ scopes: ['read'], tiers: ['*'] })
  await called.send(`/tokens/${id}`, { method: 'DELETE', token: adminToken })
  // No token is issued for less than a minute, so an expired one has to be stored.
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
  const kvKey = `token:${createHash('sha256').update(expired).digest('hex')}`
  await CARDS.put(kvKey, JSON.stringify(record), { metadata: { seq: 1 } })
  Object.assign(tokens, {
    expired,
    revoked: token,
    unknown: `cc_${'a'.repeat(12)}_${'a'.repeat(32)}`,
    mistyped: `${tokens.base?.slice(0, -1)}`,
    empty: 'cc_',
  })
})
afterAll(() => called.close())
/** This host returns the extended card itself, and never calls the agent. */
afterEach(() => expect(called.agent.requests).toEqual([]))

type GetExtendedCard = (id: string, headers?: Record<string, string>) => Promise<Received>

/** The methods and paths that return an extended card. */
const rpc =
  (method: string): GetExtendedCard =>
  (id, headers = {}) =>
    called.send(`/agents/${id}/a2a`, { body: call(method, {}), headers })
const rest =
  (path: string): GetExtendedCard =>
  (id, headers = {}) =>
    called.send(`/agents/${id}/a2a/${path}`, { method: 'GET', headers })
const operations: [string, GetExtendedCard, string][] = [
  ['GetExtendedAgentCard', rpc('GetExtendedAgentCard'), '1.0'],
  ['agent/getAuthenticatedExtendedCard', rpc('agent/getAuthenticatedExtendedCard'), '0.3'],
  ['agent/extendedCard', rpc('agent/extendedCard'), 'gopherhole'],
  ['agent/authenticatedExtendedCard', rpc('agent/authenticatedExtendedCard'), 'shaman'],
  ['GET extendedAgentCard', rest('extendedAgentCard'), '1.0'],
  ['GET v1/card', rest('v1/card'), '0.3'],
]
const bearer = (name: string) => ({ Authorization: `Bearer ${tokens[name] ?? name}` })
const getCard = ({ body }: Received): JsonObject => (body as { result?: JsonObject }).result ?? (body as JsonObject)
/** Returns the tiers whose text occurs in a response. */
const findTiers = (text: string) =>
  Object.entries(textOfTier).flatMap(([tier, tierText]) => (text.includes(tierText) ? [tier] : []))

const readableTiers: [string, string[]][] = [
  ['base', ['public', 'base']],
  ['silver', ['public', 'base', 'silver']],
  ['gold', ['public', 'base', 'gold']],
  ['silver and gold', ['public', 'base', 'gold']],
  ['all tiers', ['public', 'base', 'gold']],
  ['unknown tier', ['public', 'base']],
  ['admin', ['public', 'base', 'gold']],
]

describe.each(operations)('%s', (_, getExtendedCard, dialect) => {
  it.each(readableTiers)('returns the highest tier of the token: %s', async (name, tiers) => {
    for (const id of ['weather', 'closed', 'hidden']) {
      if (id === 'closed' && ['silver', 'gold'].includes(name)) continue
      const response = await getExtendedCard(id, bearer(name))
      expect([
        response.status,
        findTiers(response.text),
        response.headers.get('cache-control'),
        response.headers.get('content-type'),
      ]).toEqual([200, tiers, 'private, no-store', 'application/json'])
    }
  })

  it('returns the card in its dialect', async () => {
    const { body } = await called.send(`/agents/weather?dialect=${dialect}`, { method: 'GET', headers: bearer('gold') })
    const { securitySchemes: _schemes, ...expected } = body as JsonObject
    const { securitySchemes: _others, ...card } = getCard(await getExtendedCard('weather', bearer('gold')))
    expect(card).toEqual(expected)
  })

  it.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['an empty header', { Authorization: '' }],
    ['credentials of another scheme', { Authorization: 'Basic aGk6aG8=' }],
    ['a foreign token', bearer('not-of-this-host')],
  ])('returns 401 with a challenge for %s', async (_, headers) => {
    const response = await getExtendedCard('weather', headers)
    expect([response.status, response.headers.get('cache-control'), findTiers(response.text)]).toEqual([
      401,
      'no-store',
      [],
    ])
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="a2a"/)
    expect(codeOf(response.body)).toBe(response.text.includes('jsonrpc') || dialect === '0.3' ? -32000 : 401)
  })

  it.each(['expired', 'revoked', 'unknown', 'mistyped', 'empty', `one, Bearer two`])(
    'rejects an invalid token: %s',
    async name => {
      const response = await getExtendedCard('weather', bearer(name))
      expect([response.status, response.headers.get('www-authenticate'), findTiers(response.text)]).toEqual([
        401,
        'Bearer realm="a2a", error="invalid_token"',
        [],
      ])
      expect(response.text).not.toContain(tokens[name] ?? name)
    },
  )

  it.each(['other', 'writer'])('returns 403 with the missing permission for a token: %s', async name => {
    const response = await getExtendedCard('weather', bearer(name))
    expect([response.status, response.headers.get('www-authenticate'), findTiers(response.text)]).toEqual([
      403,
      'Bearer realm="a2a", error="insufficient_scope", scope="read"',
      [],
    ])
    expect(response.text).toContain('the scope \\"read\\" for agent \\"weather\\"')
  })

  it.each(['other', 'writer', 'unknown', 'revoked', 'expired'])(
    'is not found for an internal agent that the token may not read: %s',
    async name => {
      const response = await getExtendedCard('hidden', bearer(name))
      expect([response.status, findTiers(response.text), response.text.includes('AGENT_NOT_FOUND')]).toEqual([
        response.text.includes('jsonrpc') ? 200 : 404,
        [],
        true,
      ])
    },
  )

  it('returns -32004 for an agent that does not declare an extended card, with and without a token', async () => {
    for (const headers of [{}, bearer('all tiers')]) {
      const response = await getExtendedCard('plain', headers)
      expect(response.text).toContain('UNSUPPORTED_OPERATION')
      expect(codeOf(response.body)).toBe(response.text.includes('"details"') ? 400 : -32004)
    }
  })

  it('returns -32007 for an extended card that is declared but not configured', async () => {
    for (const headers of [{}, bearer('all tiers')]) {
      const response = await getExtendedCard('declared', headers)
      expect(response.text).toContain('EXTENDED_AGENT_CARD_NOT_CONFIGURED')
      expect(codeOf(response.body)).toBe(response.text.includes('"details"') ? 400 : -32007)
    }
  })

  it('accepts a token in the API key header of the card, and in no other', async () => {
    const response = await getExtendedCard('weather', { 'X-Weather-Key': tokens.gold ?? '' })
    expect([response.status, findTiers(response.text)]).toEqual([200, ['public', 'base', 'gold']])
    const withBasic = await getExtendedCard('weather', {
      'X-Weather-Key': tokens.silver ?? '',
      Authorization: 'Basic aGk6aG8=',
    })
    expect([withBasic.status, findTiers(withBasic.text)]).toEqual([200, ['public', 'base', 'silver']])
    const withRevoked = await getExtendedCard('weather', { 'X-Weather-Key': tokens.gold ?? '', ...bearer('revoked') })
    expect([withRevoked.status, findTiers(withRevoked.text)]).toEqual([401, []])
    expect((await getExtendedCard('weather', { 'X-API-Key': tokens.gold ?? '' })).status).toBe(401)
    const hidden = await getExtendedCard('hidden', { 'X-Weather-Key': tokens.gold ?? '' })
    expect(hidden.text).toContain('AGENT_NOT_FOUND')
  })
})

it('rejects two Authorization headers, even if both tokens are valid', async () => {
  const both = { Authorization: [`Bearer ${tokens.gold}`, `Bearer ${tokens.silver}`] }
  const response = await called.sendLines('/agents/weather/a2a', both, JSON.stringify(call('GetExtendedAgentCard', {})))
  expect([response.status, codeOf(response.body), findTiers(response.text)]).toEqual([401, -32000, []])
})

describe('GET of a card with a token', () => {
  const paths = [
    '',
    '/.well-known/agent-card.json',
    '/.well-known/agent.json',
    ...dialectNames.map(name => `?dialect=${name}`),
  ]
  it.each(readableTiers)('returns the highest tier of the token, in every dialect: %s', async (name, tiers) => {
    for (const path of paths) {
      const response = await called.send(`/agents/weather${path}`, { method: 'GET', headers: bearer(name) })
      expect([path, response.status, response.headers.get('cache-control'), findTiers(response.text)]).toEqual([
        path,
        200,
        'private, no-store',
        tiers,
      ])
    }
  })

  it.each(['other', 'writer', 'expired', 'revoked', 'unknown', 'mistyped', 'not-of-this-host'])(
    'returns the public card without permission: %s',
    async name => {
      for (const path of paths) {
        const response = await called.send(`/agents/weather${path}`, { method: 'GET', headers: bearer(name) })
        expect([path, response.status, response.headers.get('cache-control'), findTiers(response.text)]).toEqual([
          path,
          200,
          'private, no-store',
          ['public'],
        ])
      }
    },
  )

  it('returns the public card without a token, regardless of earlier requests', async () => {
    for (const path of paths) {
      const response = await called.send(`/agents/weather${path}`, { method: 'GET' })
      expect([path, response.status, findTiers(response.text)]).toEqual([path, 200, ['public']])
      expect(response.headers.get('cache-control')).toMatch(/^public/)
    }
  })

  it('has an entity tag that differs from the public one, for conditional requests', async () => {
    const get = (headers: Record<string, string>) => called.send('/agents/weather', { method: 'GET', headers })
    const publicTag = (await get({})).headers.get('etag') ?? ''
    const ownTag = (await get(bearer('gold'))).headers.get('etag') ?? ''
    expect(ownTag).not.toBe(publicTag)
    const statuses = await Promise.all([
      get({ ...bearer('gold'), 'If-None-Match': publicTag }),
      get({ ...bearer('gold'), 'If-None-Match': ownTag }),
      get({ ...bearer('silver'), 'If-None-Match': ownTag }),
      get({ 'If-None-Match': ownTag }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([200, 304, 200, 200])
  })

  it('returns the extended card of an internal agent to callers that may read it, and 404 to all others', async () => {
    for (const [name, status, tiers] of [
      ['gold', 200, ['public', 'base', 'gold']],
      ['base', 200, ['public', 'base']],
      ['other', 404, []],
      ['writer', 404, []],
      ['revoked', 404, []],
    ] as const) {
      const response = await called.send('/agents/hidden', { method: 'GET', headers: bearer(name) })
      expect([name, response.status, findTiers(response.text)]).toEqual([name, status, tiers])
    }
    expect((await called.send('/agents/hidden', { method: 'GET' })).status).toBe(404)
  })
})

describe('the additional content of an extended card', () => {
  it('is in no list', async () => {
    for (const headers of [{}, bearer('base'), bearer('admin')]) {
      const list = await called.send('/agents', { method: 'GET', headers })
      expect(findTiers(list.text).filter(tier => tier !== 'public')).toEqual([])
    }
  })

  it('disappears at once when the overlay is removed', async () => {
    const card = agentCard(called.agent.origin)
    await called.register('shrinking', { card, extended: { description: 'only-in-base' } })
    expect(findTiers((await rpc('GetExtendedAgentCard')('shrinking', bearer('base'))).text)).toEqual(['base'])
    await called.register('shrinking', { card })
    const response = await rpc('GetExtendedAgentCard')('shrinking', bearer('base'))
    expect([codeOf(response.body), findTiers(response.text)]).toEqual([-32004, []])
    const publicCard = await called.send('/agents/shrinking', { method: 'GET', headers: bearer('base') })
    expect(findTiers(publicCard.text)).toEqual(['public'])
  })
})

describe('HEAD of an extended card', () => {
  it('responds as GET does, without a body', async () => {
    const send = (method: string) =>
      called.host.fetch('/agents/weather/a2a/extendedAgentCard', { method, headers: bearer('base') })
    const [head, get] = [await send('HEAD'), await send('GET')]
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      get.headers.get('content-type'),
      '',
    ])
    expect(findTiers(await get.text())).toEqual(['public', 'base'])
  })
})

describe('the Vary header of a card', () => {
  it.each([
    ['without a token', () => ({})],
    ['with a token', () => bearer('base')],
  ])('includes Authorization for a request %s', async (_, headers) => {
    const response = await called.send('/agents/weather', { method: 'GET', headers: headers() })
    expect(response.headers.get('vary')).toBe('A2A-Version, Authorization, Accept')
  })
})

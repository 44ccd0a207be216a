import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dialectNames } from '../../src/card/model/constants.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, type Received, useSharedHost } from '../support/called-host.ts'
import { call, codeOf } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'

/** A text of each tier that no lower tier contains. */
const textOfTier = { public: 'Tells the weather', base: 'only-in-base', silver: 'only-in-silver', gold: 'only-in-gold' }
const skill = (tier: string) => ({ id: tier, name: tier, description: `only-in-${tier}`, tags: [tier] })

let called: CalledHost
const tokens: Record<string, string> = {}
beforeAll(async () => {
  called = await useSharedHost()
  const card = (more: JsonObject = {}) => agentCard(called.agent.origin, more)
  const overlays = {
    extended: { skills: [skill('base')] },
    tiers: { silver: { skills: [skill('silver')] }, gold: { skills: [skill('gold')] } },
  }
  const key = { securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Weather-Key' } } } }
  await called.register('ext-weather', { card: card(key), route: 'gateway', ...overlays })
  await called.register('ext-hidden', { card: card(), visibility: 'internal', ...overlays })
  await called.register('ext-plain', { card: card() })
  await called.register('ext-declared', { card: card({ capabilities: { streaming: true, extendedAgentCard: true } }) })
  await called.register('ext-closed', { card: card(), route: 'closed', ...overlays })
  for (const [name, request] of Object.entries<JsonObject>({
    base: { scopes: ['read'] },
    silver: { scopes: ['read'], agents: ['ext-weather', 'ext-hidden'], tiers: ['silver'] },
    gold: { scopes: ['read'], agents: ['ext-w*', 'ext-h*'], tiers: ['gold'] },
    admin: { scopes: ['admin'] },
    other: { scopes: ['read'], agents: ['ext-plain'], tiers: ['*'] },
    writer: { scopes: ['write'], tiers: ['*'] },
  }))
    tokens[name] = (await called.issue(request)).token
  const { token: revoked, id } = await called.issue({ scopes: ['read'], tiers: ['*'] })
  await called.send(`/tokens/${id}`, { method: 'DELETE', token: adminToken })
  Object.assign(tokens, { revoked })
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
const get = (path: string, headers: Record<string, string> = {}) =>
  called.send(`/agents${path}`, { method: 'GET', headers })
const bearer = (name: string) => ({ Authorization: `Bearer ${tokens[name] ?? name}` })
const getCard = ({ body }: Received): JsonObject => (body as { result?: JsonObject }).result ?? (body as JsonObject)
/** Returns the tiers whose text occurs in a response. */
const findTiers = (text: string) =>
  Object.entries(textOfTier).flatMap(([tier, tierText]) => (text.includes(tierText) ? [tier] : []))
/** Returns the status of a response, its challenge, and the tiers whose text it has. */
const summarize = ({ status, headers, text }: Received) => [status, headers.get('www-authenticate'), findTiers(text)]

const readableTiers: [string, string[]][] = [
  ['base', ['public', 'base']],
  ['silver', ['public', 'base', 'silver']],
  ['admin', ['public', 'base', 'gold']],
]

describe.each(operations)('%s', (_, getExtendedCard, dialect) => {
  const isJsonRpc = (text: string) => text.includes('jsonrpc')

  it('returns the highest tier of the token', async () => {
    for (const [name, tiers] of readableTiers)
      for (const id of ['ext-weather', 'ext-closed', 'ext-hidden']) {
        // This token does not cover it.
        if (id === 'ext-closed' && name === 'silver') continue
        const { status, text, headers } = await getExtendedCard(id, bearer(name))
        const found = [status, findTiers(text), headers.get('cache-control'), headers.get('content-type')]
        expect(found, `${name} ${id}`).toEqual([200, tiers, 'private, no-store', 'application/json'])
      }
  })

  it('returns the card in its dialect', async () => {
    const { body } = await get(`/ext-weather?dialect=${dialect}`, bearer('gold'))
    const { securitySchemes: _schemes, ...expected } = body as JsonObject
    const { securitySchemes: _others, ...card } = getCard(await getExtendedCard('ext-weather', bearer('gold')))
    expect(card).toEqual(expected)
  })

  it('returns 401 with a challenge without a token of this host, and for an invalid one', async () => {
    const anonymous = await getExtendedCard('ext-weather')
    expect(summarize(anonymous)).toEqual([401, expect.stringMatching(/^Bearer realm="a2a"/), []])
    expect(anonymous.headers.get('cache-control')).toBe('no-store')
    expect(codeOf(anonymous.body)).toBe(isJsonRpc(anonymous.text) || dialect === '0.3' ? -32000 : 401)
    const invalid = await getExtendedCard('ext-weather', bearer('revoked'))
    expect(summarize(invalid)).toEqual([401, 'Bearer realm="a2a", error="invalid_token"', []])
    expect(invalid.text).not.toContain(tokens.revoked)
  })

  it('returns 403 with the missing permission, but for an internal agent, which is not found', async () => {
    for (const name of ['other', 'writer']) {
      const response = await getExtendedCard('ext-weather', bearer(name))
      const challenge = 'Bearer realm="a2a", error="insufficient_scope", scope="read"'
      expect(summarize(response), name).toEqual([403, challenge, []])
      expect(response.text).toContain('the scope \\"read\\" for agent \\"ext-weather\\"')
    }
    for (const name of ['other', 'writer', 'revoked']) {
      const { status, text } = await getExtendedCard('ext-hidden', bearer(name))
      expect([status, findTiers(text), text.includes('AGENT_NOT_FOUND')]).toEqual([
        isJsonRpc(text) ? 200 : 404,
        [],
        true,
      ])
    }
  })

  it('returns an error for an extended card that is not declared or not configured, with and without a token', async () => {
    for (const headers of [{}, bearer('admin')])
      for (const [id, reason, code] of [
        ['ext-plain', 'UNSUPPORTED_OPERATION', -32004],
        ['ext-declared', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED', -32007],
      ] as const) {
        const { text, body } = await getExtendedCard(id, headers)
        expect(text).toContain(reason)
        expect(codeOf(body)).toBe(text.includes('"details"') ? 400 : code)
      }
  })

  it('accepts a token in the API key header of the card, and in no other', async () => {
    const { gold = '' } = tokens
    const rows: [Record<string, string>, number, string[]][] = [
      [{ 'X-Weather-Key': gold }, 200, ['public', 'base', 'gold']],
      [{ 'X-Weather-Key': gold, ...bearer('revoked') }, 401, []],
      [{ 'X-API-Key': gold }, 401, []],
    ]
    for (const [headers, status, tiers] of rows) {
      const response = await getExtendedCard('ext-weather', headers)
      expect([response.status, findTiers(response.text)]).toEqual([status, tiers])
    }
  })
})

describe('GET of a card with a token', () => {
  const paths = ['', '/.well-known/agent-card.json', '/.well-known/agent.json'].concat(
    dialectNames.map(name => `?dialect=${name}`),
  )

  it('returns the highest tier of the token, in every dialect, and the public card without permission', async () => {
    const invalid = ['other', 'writer', 'revoked'].map((name): [string, string[]] => [name, ['public']])
    const rows = [...readableTiers, ...invalid]
    for (const [name, tiers] of rows)
      for (const path of paths) {
        const { status, text, headers } = await get(`/ext-weather${path}`, bearer(name))
        const found = [status, headers.get('cache-control'), findTiers(text)]
        expect(found, `${name} ${path}`).toEqual([200, 'private, no-store', tiers])
      }
  })

  it('has an entity tag that differs from the public one, for conditional requests', async () => {
    const publicTag = (await get('/ext-weather')).headers.get('etag') ?? ''
    const ownTag = (await get('/ext-weather', bearer('gold'))).headers.get('etag') ?? ''
    expect(ownTag).not.toBe(publicTag)
    expect(findTiers((await get('/ext-weather')).text)).toEqual(['public'])
    const statuses = await Promise.all([
      get('/ext-weather', { ...bearer('gold'), 'If-None-Match': publicTag }),
      get('/ext-weather', { ...bearer('gold'), 'If-None-Match': ownTag }),
      get('/ext-weather', { ...bearer('silver'), 'If-None-Match': ownTag }),
      get('/ext-weather', { 'If-None-Match': ownTag }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([200, 304, 200, 200])
  })

  it('returns the extended card of an internal agent to callers that may read it, and 404 to all others', async () => {
    expect(findTiers((await get('/ext-hidden', bearer('gold'))).text)).toEqual(['public', 'base', 'gold'])
    for (const name of ['other', 'writer', 'revoked', 'none'])
      expect((await get('/ext-hidden', bearer(name))).status, name).toBe(404)
  })
})

it('the additional content of an extended card disappears at once when the overlay is removed', async () => {
  const card = agentCard(called.agent.origin)
  const read = () => rpc('GetExtendedAgentCard')('ext-shrinking', bearer('base'))
  await called.register('ext-shrinking', { card, extended: { description: 'only-in-base' } })
  expect(findTiers((await read()).text)).toEqual(['base'])
  await called.register('ext-shrinking', { card })
  const response = await read()
  expect([codeOf(response.body), findTiers(response.text)]).toEqual([-32004, []])
})

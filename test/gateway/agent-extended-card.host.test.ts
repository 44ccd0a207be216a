import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type CalledHost, type Received, useSharedHost } from '../support/called-host.ts'
import { call, codeOf, message } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token } from '../support/host.ts'

/** What the agent responds to a call for its extended card; undefined for the card itself. */
let refusal: ((id: Json) => { status: number; headers?: Record<string, string>; body: Json | string }) | undefined
let extendedCard: JsonObject

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  const { origin } = called.agent
  const upstream = { card: `${origin}/.well-known/agent-card.json` }
  serve()
  for (const [id, manifest] of Object.entries<JsonObject>({
    'far-gateway': { route: 'gateway', upstream },
    'far-closed': { route: 'closed', upstream },
    'far-secret': { route: 'gateway', upstream: { ...upstream, secret: 'AGENT_TOKEN' } },
    'far-overlaid': { route: 'gateway', upstream, extended: { description: 'Of the overlay' } },
  }))
    reports.set(id, await called.register(id, manifest))
})
afterAll(() => called.close())
beforeEach(() => {
  const { origin } = called.agent
  refusal = undefined
  extendedCard = {
    ...publicCard(origin),
    description: 'Only for callers that the agent knows',
    capabilities: { streaming: false, pushNotifications: true, extendedAgentCard: true },
    supportedInterfaces: [{ url: `${origin}/inner`, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
    documentationUrl: `${origin}/docs`,
    skills: [
      { id: 'now', name: 'Now', description: 'The weather now', tags: ['weather'] },
      {
        id: 'maps',
        name: 'Maps',
        description: `Draws maps, see ${origin}/rpc-1/maps`,
        tags: ['map'],
        inputModes: ['image/png'],
      },
    ],
  }
  serve()
})

const reports = new Map<string, JsonObject>()

const publicCard = (origin: string) =>
  agentCard(origin, {
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
    securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Weather-Key' } } },
  })

/** The agent publishes its card, and returns its extended card and answers messages over both bindings. */
const serve = () =>
  called.agent.respond((response, { url = '' }, body) => {
    const send = (status: number, document: Json | string, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, { 'Content-Type': 'application/json', ...headers })
        .end(typeof document === 'string' ? document : JSON.stringify(document))
    if (url.includes('.well-known')) return send(200, publicCard(called.agent.origin))
    const { id = null, method = '' } = body.length > 0 ? JSON.parse(body.toString()) : {}
    if (refusal) {
      const { status, headers, body } = refusal(id)
      return send(status, body, headers)
    }
    if (url.startsWith('/rest')) return send(200, extendedCard)
    const isCard = /card/i.test(method)
    const result = isCard
      ? extendedCard
      : { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Rain' }] } }
    return send(200, { jsonrpc: '2.0', id, result })
  })

const credentials = { Authorization: 'Bearer a-token-of-the-agent' }

const rpc = (id: string, method = 'GetExtendedAgentCard', headers: Record<string, string> = credentials) =>
  called.send(`/agents/${id}/a2a`, { body: call(method, {}), headers })
const rest = (id: string, path = 'extendedAgentCard', headers: Record<string, string> = credentials) =>
  called.send(`/agents/${id}/a2a/${path}`, { method: 'GET', headers })
const getCard = ({ body }: Received): JsonObject => (body as { result?: JsonObject }).result ?? (body as JsonObject)
const lastRequest = () => called.agent.requests.at(-1)

describe('the extended card of an agent whose card is remote', () => {
  const getV03 = 'agent/getAuthenticatedExtendedCard'

  it('is fetched with the credentials of the caller', async () => {
    for (const [get, path, method] of [
      [() => rpc('far-gateway'), '/rpc-1', 'GetExtendedAgentCard'],
      [() => rpc('far-gateway', getV03), '/rpc-0', getV03],
      [() => rpc('far-gateway', 'agent/extendedCard'), '/rpc-0', getV03],
      [() => rest('far-gateway', 'v1/card'), '/rest-0/v1/card', ''],
    ] as const) {
      const response = await get()
      expect([response.status, response.headers.get('cache-control'), getCard(response).description]).toEqual([
        ...[200, 'private, no-store', 'Only for callers that the agent knows'],
      ])
      const [request, ...more] = called.agent.requests.splice(0)
      expect([request?.path, request?.headers.authorization, more]).toEqual([path, credentials.Authorization, []])
      expect(request?.body ?? '').toContain(method)
    }
  })

  it('is never fetched with a token of this host', async () => {
    await rpc('far-gateway', 'GetExtendedAgentCard', { Authorization: `Bearer ${token}`, 'X-Weather-Key': 'theirs' })
    expect(lastRequest()?.headers).toMatchObject({ 'x-weather-key': 'theirs' })
    expect(lastRequest()?.headers.authorization).toBeUndefined()
  })

  it('is in the dialect of the method, with the interfaces and capabilities of the public card', async () => {
    for (const [method, dialect] of [
      ['GetExtendedAgentCard', '1.0'],
      [getV03, '0.3'],
      ['agent/extendedCard', 'gopherhole'],
      ['agent/authenticatedExtendedCard', 'shaman'],
    ] as const) {
      const { body } = await called.send(`/agents/far-gateway?dialect=${dialect}`, { method: 'GET' })
      const own = ['description', 'skills', 'documentationUrl', 'securitySchemes'].map(name => [name, undefined])
      const shared = { ...(body as JsonObject), ...Object.fromEntries(own) }
      expect({ ...getCard(await rpc('far-gateway', method)), ...Object.fromEntries(own) }, method).toEqual(shared)
    }
  })

  it('names no host of the agent behind the gateway', async () => {
    const { host } = new URL(called.agent.origin)
    for (const response of [await rpc('far-gateway'), await rest('far-gateway')]) {
      expect(response.text).not.toContain(host)
      expect(response.text).toContain('/agents/far-gateway/a2a/maps')
    }
  })

  it('is refused where it names a host of the agent that this host cannot rewrite', async () => {
    const internal = 'https://weather.internal.example'
    extendedCard = {
      ...extendedCard,
      supportedInterfaces: [{ url: internal, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      provider: { organization: 'Weather', url: `${internal}/about` },
    }
    const response = await rpc('far-gateway')
    expect([response.status, codeOf(response.body)]).toEqual([502, -32006])
    expect(response.text).not.toContain('internal')
  })

  it('is that of the manifest where the manifest has one', async () => {
    const response = await rpc('far-overlaid', 'GetExtendedAgentCard', { Authorization: `Bearer ${token}` })
    expect([getCard(response).description, called.agent.requests.length]).toEqual(['Of the overlay', 0])
  })

  it('decides which media types a caller may send', async () => {
    const image = message({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'AAAA', mediaType: 'image/png' }] },
    })
    const send = (headers: Record<string, string>) =>
      called.send('/agents/far-gateway/a2a', { body: call('SendMessage', image), headers })
    expect(codeOf((await send({})).body)).toBe(-32005)
    expect(called.agent.requests).toEqual([])
    expect((await send(credentials)).text).toContain('Rain')
  })
})

describe('an agent that refuses its extended card', () => {
  it('passes its challenge or its error on to the caller', async () => {
    refusal = () => ({ status: 401, headers: { 'WWW-Authenticate': 'Bearer realm="weather"' }, body: { error: 'no' } })
    for (const response of [await rpc('far-gateway', undefined, {}), await rest('far-gateway', undefined, {})])
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="weather"'])
    refusal = id => ({ status: 200, body: { jsonrpc: '2.0', id, error: { code: -32007, message: 'None for you' } } })
    expect(codeOf((await rpc('far-gateway')).body)).toBe(-32007)
  })

  it('and returns no valid card has sent an invalid response', async () => {
    for (const body of [
      { jsonrpc: '2.0', id: 7, result: 'a card' },
      { jsonrpc: '2.0', id: 7, result: { name: 'Weather', description: 5 } },
      // Nests too deeply, and is too large.
      `{"jsonrpc":"2.0","id":7,"result":${'[1,'.repeat(99)}1${']'.repeat(99)}}`,
      { jsonrpc: '2.0', id: 7, result: { name: 'x'.repeat(256 * 1024) } },
    ]) {
      refusal = () => ({ status: 200, body })
      const response = await rpc('far-gateway')
      expect([response.status, codeOf(response.body)], JSON.stringify(body).slice(0, 99)).toEqual([502, -32006])
    }
  })
})

it('gives the extended card of an agent with a secret of this host to callers with read access', async () => {
  for (const headers of [{}, credentials])
    expect([(await rpc('far-secret', undefined, headers)).status, called.agent.requests]).toEqual([401, []])
  const { token: other } = await called.issue({ scopes: ['read'], agents: ['far-gateway'] })
  expect((await rpc('far-secret', undefined, { Authorization: `Bearer ${other}` })).status).toBe(403)
  const { token: reader } = await called.issue({ scopes: ['call'], agents: ['far-secret'] })
  const response = await rpc('far-secret', undefined, { Authorization: `Bearer ${reader}` })
  expect([response.status, lastRequest()?.headers.authorization]).toEqual([200, 'Bearer the-hosts-own-secret'])
})

it('has no flag of the extended card with `route: closed`, which the report says', async () => {
  for (const path of ['?dialect=1.0', '?dialect=0.3']) {
    const { text } = await called.send(`/agents/far-closed${path}`, { method: 'GET' })
    expect(text, path).not.toMatch(/"(?:extendedAgentCard|supportsAuthenticatedExtendedCard)":true/)
  }
  expect(codeOf((await rpc('far-closed')).body)).toBe(-32004)
  const message = 'read as false: `route: closed` forwards no call for the extended card'
  const converted = expect.arrayContaining([{ pointer: '/capabilities/extendedAgentCard', message }])
  expect(reports.get('far-closed')?.report).toMatchObject({ converted })
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { type CalledHost, useSharedHost } from '../../support/called-host.ts'
import { agentCard } from '../../support/cards/cards.ts'
import { token as adminToken, sharedHost } from '../../support/host.ts'
import { type IssuerServer, startIssuer } from '../../support/issuer.ts'
import { upstreamPorts } from '../../support/shared-hosts.ts'
import { type McpOptions, mcpRequest, mcpSender } from './clients.ts'
import { createScriptedAgent } from './scripted-agent.ts'

const scripted = createScriptedAgent()
const local = sharedHost('local')
let called: CalledHost
let issuer: IssuerServer
let send: ReturnType<typeof mcpSender>
const tokens: Record<string, string> = { admin: adminToken }

const skill = (id: string) => ({ id, name: id, description: `Only in ${id}`, tags: [id] })
const urlOf = (id: string): string => `${called.host.url.origin}/agents/${id}`

beforeAll(async () => {
  issuer = await startIssuer(undefined, upstreamPorts())
  called = await useSharedHost('signing')
  send = mcpSender(called.host)
  const { origin } = called.agent
  const login = { openIdConnectSecurityScheme: { openIdConnectUrl: issuer.discoveryUrl } }
  const key = { apiKeySecurityScheme: { location: 'header', name: 'X-Weather-Key' } }
  const card = (more: JsonObject = {}) =>
    agentCard(origin, {
      supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      securitySchemes: { key },
      ...more,
    })
  const secured = card({
    securitySchemes: { login, key },
    securityRequirements: [{ schemes: { login: { list: [] } } }],
  })
  const plain = card({ capabilities: { streaming: false } })
  for (const [id, manifest] of Object.entries<JsonObject>({
    open: { card: card() },
    plain: { card: plain },
    issuer: { card: secured, callers: 'tokens' },
    audience: { card: secured, callers: 'issuer', jwt: { audience: 'weather-api', scope: 'mcp:call' } },
    named: { card: secured, callers: 'issuer', jwt: { audience: [urlOf('access-named')] } },
    tokens: { card: card(), callers: 'tokens' },
    hidden: { card: secured, visibility: 'internal' },
    tiers: { card: card(), extended: { skills: [skill('base')] }, tiers: { gold: { skills: [skill('gold')] } } },
    off: { card: secured, mcp: 'off' },
    one: { card: card({ skills: ['a', 'b'].map(skill) }), mcp: { tools: 'one' } },
    none: { card: card(), mcp: { tools: 'off' } },
  }))
    await called.register(`access-${id}`, { route: 'gateway', ...manifest })
  for (const [name, request] of Object.entries<JsonObject>({
    reader: { scopes: ['read'] },
    caller: { scopes: ['call'] },
    gold: { scopes: ['read'], agents: ['access-tiers'], tiers: ['gold'] },
    other: { scopes: ['read'], agents: ['access-open'], tiers: ['gold'] },
  }))
    tokens[name] = (await called.issue(request)).token
  const { origin: _, ...rest } = { origin, card: plain }
  expect((await local.put('access-local', { ...rest, route: 'gateway' })).status).toBe(201)
})
afterAll(async () => {
  await called.close()
  await issuer.close()
})
beforeEach(() => {
  called.agent.respond(scripted.respond)
  scripted.take()
})

const hello = { name: 'now', arguments: { message: 'Hello' } }
/** Calls the tool of an agent, and returns the status, the challenge and the first text of the result. */
const call = async (id: string, options: McpOptions = {}): Promise<[number, string | null, unknown]> => {
  const { status, headers, result } = await send(`/agents/access-${id}/mcp`, 'tools/call', hello, options)
  return [status, headers.get('WWW-Authenticate'), (result.content as JsonObject[] | undefined)?.[0]?.text]
}
const passes = [200, null, 'Hello']
const toolsOf = async (id: string, token?: string) => {
  const { result } = await send(`/agents/access-${id}/mcp`, 'tools/list', {}, { token })
  return [(result.tools as JsonObject[]).map(({ name }) => name), result.cacheScope]
}
const metadata = (id: string) =>
  called.send(`/.well-known/oauth-protected-resource/agents/access-${id}/mcp`, { method: 'GET' })

describe('an agent with an OpenID issuer', () => {
  const document = (id: string) =>
    `resource_metadata="${called.host.url.origin}/.well-known/oauth-protected-resource/agents/access-${id}/mcp"`

  it('returns 401 without credentials, and says where they come from (RFC 9728)', async () => {
    for (const [id, scopes] of [
      ['issuer', {}],
      ['audience', { scopes_supported: ['mcp:call'] }],
    ] as const) {
      expect(await call(id), id).toEqual([401, expect.stringMatching(/^Bearer realm="a2a"/), undefined])
      expect((await call(id))[1]).toContain(document(id))
      const { status, body, headers } = await metadata(id)
      expect([status, headers.get('Access-Control-Allow-Origin'), body], id).toEqual([
        ...[200, '*'],
        {
          resource: `${urlOf(`access-${id}`)}/mcp`,
          authorization_servers: [issuer.issuer],
          bearer_methods_supported: ['header'],
          ...scopes,
        },
      ])
    }
    expect(scripted.take()).toEqual([])
  })

  it('has no such document without an issuer, if it is internal, or without an MCP server', async () => {
    for (const id of ['tokens', 'open', 'hidden', 'off', 'unknown']) expect((await metadata(id)).status, id).toBe(404)
    expect((await call('tokens'))[1]).toBe('Bearer realm="a2a"')
    for (const id of ['hidden', 'unknown']) expect(await call(id), id).toEqual([404, null, undefined])
  })

  it('accepts a JWT for the address of its MCP server, or for an audience that its manifest names', async () => {
    const jwt = async (aud: string, claims: object = {}) => ({ token: await issuer.sign({ aud, ...claims }) })
    const agentUrl = urlOf('access-issuer')
    const list = async (id: string, options: McpOptions) =>
      (await send(`/agents/access-${id}/mcp`, 'tools/list', {}, options)).status
    expect(await list('issuer', await jwt(`${agentUrl}/mcp`))).toBe(200)
    const scope = 'mcp:call'
    for (const audience of ['weather-api', `${urlOf('access-audience')}/mcp`])
      expect(await call('audience', await jwt(audience, { scope })), audience).toEqual(passes)
    expect(await call('named', await jwt(urlOf('access-named')))).toEqual(passes)
    for (const { headers } of called.agent.requests) expect(headers.authorization).toBeUndefined()
    called.agent.requests.length = 0
    for (const [id, token] of [
      ['issuer', await jwt(agentUrl)],
      ['issuer', await jwt(`${urlOf('access-audience')}/mcp`)],
      ['issuer', await jwt(`${agentUrl}/mcp`, { exp: 1 })],
      ['audience', await jwt(urlOf('access-audience'), { scope })],
      ['audience', await jwt('weather-api')],
    ] as const) {
      const [status, challenge] = await call(id, token)
      expect([status, challenge?.includes(document(id))], `${id} ${token}`).toEqual([
        expect.toBeOneOf([401, 403]),
        true,
      ])
    }
    expect(called.agent.requests).toEqual([])
    const a2a = await called.send('/agents/access-issuer/a2a', {
      body: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } },
      ...(await jwt(`${agentUrl}/mcp`)),
    })
    expect(a2a.status).toBe(401)
  })
})

describe('a token of this host', () => {
  it('works as a bearer token, and is not passed on', async () => {
    for (const name of ['admin', 'caller']) expect(await call('tokens', { token: tokens[name] }), name).toEqual(passes)
    expect(await call('open', { token: tokens.reader })).toEqual(passes)
    expect(await call('open', { headers: { 'X-Weather-Key': tokens.reader ?? '' } })).toEqual(passes)
    const host = await send(
      '/mcp',
      'tools/call',
      { name: 'call_agent', arguments: { agent: 'access-tokens', message: 'Hello' } },
      { token: tokens.caller },
    )
    expect(host.result).toMatchObject({ content: [{ text: 'Hello' }, {}] })
    expect(called.agent.requests).toHaveLength(5)
    for (const { headers } of called.agent.requests)
      expect([headers.authorization, headers['x-weather-key']]).toEqual([undefined, undefined])
    const [status, challenge] = await call('tokens', { token: `cc_${'a'.repeat(12)}_${'a'.repeat(32)}` })
    expect([status, challenge]).toEqual([401, 'Bearer realm="a2a", error="invalid_token"'])
  })

  it('for a tier shows the skills of the tier, in a list that only its holder may cache', async () => {
    expect(await toolsOf('tiers')).toEqual([['now'], 'public'])
    expect(await toolsOf('tiers', tokens.other)).toEqual([['now'], 'public'])
    expect(await toolsOf('tiers', tokens.reader)).toEqual([['now', 'base'], 'private'])
    expect(await toolsOf('tiers', tokens.gold)).toEqual([['now', 'base', 'gold'], 'private'])
    expect((await toolsOf('hidden', tokens.reader))[1]).toBe('private')
    const gold = { name: 'gold', arguments: { message: 'Hello' } }
    for (const [token, isKnown] of [
      [tokens.gold, true],
      [tokens.other, false],
    ] as const)
      expect((await send('/agents/access-tiers/mcp', 'tools/call', gold, { token })).error === undefined).toBe(isKnown)
  })
})

describe('an owner', () => {
  it('chooses what the tools of an agent are, or that it has no MCP server', async () => {
    expect(await toolsOf('one')).toEqual([['access-one'], 'public'])
    expect(await toolsOf('none')).toEqual([[], 'public'])
    expect((await call('off', { token: tokens.caller }))[0]).toBe(404)
    const called_agent = { name: 'call_agent', arguments: { agent: 'access-off', message: 'Hello' } }
    expect((await send('/mcp', 'tools/call', called_agent, { token: tokens.caller })).result.isError).toBe(true)
    // The card stays the same, so that what is made of it must not.
    const { body } = await called.send('/agents/access-one/manifest', { method: 'GET', token: adminToken })
    await called.register('access-one', { ...(body as JsonObject), mcp: { tools: 'skills' } })
    expect(await toolsOf('one')).toEqual([['a', 'b'], 'public'])
    await called.register('access-one', { ...(body as JsonObject), mcp: 'off' })
    expect((await call('one'))[0]).toBe(404)
  })

  it('of a host turns off all its MCP servers', async () => {
    const internal = sharedHost('internal')
    const card = agentCard(called.agent.origin)
    expect((await internal.put('access-agent', { card })).status).toBe(201)
    for (const path of ['/mcp', '/agents/access-agent/mcp'])
      expect((await mcpSender(internal)(path, 'tools/list', {}, { token: adminToken })).status, path).toBe(404)
  })
})

it('POST /mcp takes tokens of this host only, and passes no header of the client on to an agent', async () => {
  const params = { name: 'call_agent', arguments: { agent: 'access-open', message: 'Hello' } }
  const jwt = await issuer.sign({ aud: `${called.host.url.origin}/mcp` })
  for (const authorization of ['Bearer theirs', `Bearer ${jwt}`, 'Basic aGk6aG8=']) {
    const { status, headers } = await send('/mcp', 'tools/call', params, { headers: { Authorization: authorization } })
    expect([status, headers.get('WWW-Authenticate')], authorization).toEqual([
      401,
      expect.stringMatching(/^Bearer realm="a2a"/),
    ])
  }
  const named = { 'X-Weather-Key': 'theirs', Cookie: 'a=theirs', 'A2A-Extensions': 'urn:theirs', 'X-Other': 'theirs' }
  for (const token of [undefined, tokens.reader])
    expect((await send('/mcp', 'tools/call', params, { token, headers: named })).result).toMatchObject({
      content: [{ text: 'Hello' }, {}],
    })
  expect(called.agent.requests).toHaveLength(2)
  expect(JSON.stringify(called.agent.requests)).not.toContain('theirs')
})

it('POST /mcp shows and calls internal agents only for a token that may', async () => {
  const use = async (name: string, args: JsonObject, token?: string) => {
    const { result } = await send('/mcp', 'tools/call', { name, arguments: args }, { token })
    return result.isError === true ? ((result.content as JsonObject[])[0]?.text as string) : 'served'
  }
  for (const [name, more] of [
    ['get_agent', {}],
    ['call_agent', { message: 'Hello' }],
  ] as const) {
    const hidden = await use(name, { agent: 'access-hidden', ...more })
    expect(hidden.replace('hidden', 'nobody'), name).toBe(await use(name, { agent: 'access-nobody', ...more }))
    expect([hidden, await use(name, { agent: 'access-hidden', ...more }, tokens.caller)]).toEqual([
      ...[expect.stringContaining('access-hidden'), 'served'],
    ])
  }
  const found = async (token?: string) =>
    JSON.stringify((await send('/mcp', 'tools/call', { name: 'find_agents', arguments: {} }, { token })).result)
  expect([(await found()).includes('access-hidden'), (await found(tokens.caller)).includes('access-hidden')]).toEqual([
    ...[false, true],
  ])
})

it('in local mode, refuses pages of another origin', async () => {
  for (const path of ['/mcp', '/agents/access-local/mcp'])
    for (const [origin, status] of [
      ['http://evil.example', 403],
      ['null', 403],
      ['http://127.0.0.1:8787', 200],
    ] as const)
      expect(
        (await mcpSender(local)(path, 'tools/list', {}, { headers: { Origin: origin } })).status,
        `${path} ${origin}`,
      ).toBe(status)
})

describe('a client that disconnects', () => {
  /** Sends a call that waits, over a connection that can be reset, and resolves once the agent got `method`. */
  const wait = async (id: string, method: string, more: JsonObject = {}) => {
    const { headers, body } = mcpRequest('tools/call', { name: 'now', arguments: { message: 'wait' }, ...more })
    const { hostname, port } = called.host.url
    const socket = connect(Number(port), hostname)
    const lines = Object.entries({ Host: hostname, 'Content-Length': `${body}`.length, ...(headers as object) })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    socket.write(`POST /agents/access-${id}/mcp HTTP/1.1\r\n${head}\r\n${body}`)
    await waitForCall(method)
    return socket
  }
  const waitForCall = (method: string) =>
    vi.waitFor(() => expect(scripted.take().map(call => call.method)).toContain(method), {
      timeout: 5_000,
      interval: 5,
    })

  it.each([
    ['open', 'SendStreamingMessage'],
    ['plain', 'GetTask'],
  ])('cancels the task of the agent %s', async (id, method) => {
    const pending = await wait(id, method)
    pending.resetAndDestroy()
    await waitForCall('CancelTask')

    const streamed = await wait(id, method, { _meta: { progressToken: 'p' } })
    const [received] = await once(streamed, 'data')
    expect(`${received}`).toContain('text/event-stream')
    streamed.resetAndDestroy()
    await waitForCall('CancelTask')
  })
})

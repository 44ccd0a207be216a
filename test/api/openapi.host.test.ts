import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationNames, operations } from '../../src/a2a/operations.ts'
import { pathOf } from '../../src/a2a/rest-paths.ts'
import { createOpenApiDocument } from '../../src/api/openapi/document.ts'
import { rateLimits } from '../../src/api/openapi/operation.ts'
import { routes } from '../../src/app.ts'
import { type WireVersion, wireVersions } from '../../src/card/model/calls.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls, eventsOf } from '../support/answers.ts'
import { type CalledHost, nextAddress, type Received, type Sent, startCalledHost } from '../support/called-host.ts'
import { call, message, messageV03 } from '../support/calls.ts'
import { agentCard, minimalCard, shortCard } from '../support/cards/cards.ts'
import { readHostConfig } from '../support/global-setup.ts'
import { type OwnHost, sharedHost, startHost, token } from '../support/host.ts'
import { Contract } from '../support/schemas/openapi.ts'
import { makeSigningKey } from '../support/signing-key.ts'
import { json, type Responder, stream } from '../support/upstream.ts'

const document: JsonObject = JSON.parse(JSON.stringify(createOpenApiDocument()))
const contract = new Contract(document)

let called: CalledHost
/** A host without agents. */
let empty: OwnHost
beforeAll(async () => {
  called = await startCalledHost({
    SIGNING_KEY: JSON.stringify(makeSigningKey()),
  })
  empty = await startHost()
  called.agent.respond(answer)
  const { origin } = called.agent
  const gateway = { card: agentCard(origin, { capabilities }), route: 'gateway', extended: { description: 'More' } }
  await called.register('root', {
    card: { ...minimalCard, documentationUrl: 'https://docs.example.com/' },
    hosts: ['*'],
  })
  await called.register('weather', gateway)
  await called.register('weather', { ...gateway, extended: { description: 'Even more' } })
  await called.register('unavailable', { upstream: { card: `${origin}/missing.json` } })
  await called.register('relay', { upstream: { card: `${origin}/card.json`, pin: true } })
  wider = true
})
afterAll(async () => {
  await called.close()
  await empty.close()
})

const capabilities = { streaming: true, pushNotifications: true, extendedAgentCard: true }

/** Whether the fetched card has an endpoint more, which its owner must accept. */
let wider = false

/** Answers as an agent with a card of its own does. */
const answer: Responder = (response, request, body) => {
  const { url = '' } = request
  if (url === '/missing.json') return void response.writeHead(500).end()
  if (url === '/card.json')
    return void response
      .writeHead(200, json)
      .end(JSON.stringify(wider ? agentCard('https://wider.example') : shortCard))
  // Of a check.
  if (/well-known|callingCardCheck/.test(url)) return void response.writeHead(404).end()
  const { method = '', id = null } = url.startsWith('/rpc') ? JSON.parse(String(body)) : {}
  if (!/:(?:stream|subscribe)$|message\/stream|SendStreaming/.test(url + method))
    return answerCalls(response, request, body)
  const form = url.startsWith('/rest-0') ? '0.3 over HTTP' : url.startsWith('/rpc-0') ? '0.3' : '1.0'
  const events = eventsOf(form).map(result => (url.startsWith('/rpc') ? { jsonrpc: '2.0', id, result } : result))
  response.writeHead(200, stream).end(events.map(event => `data: ${JSON.stringify(event)}\n\n`).join(''))
}

/** What responses have shown that later requests need. */
const seen = { etag: '', token: '', tokenId: '', pending: '', export: '', cursor: '' }

type Sample = [method: string, path: string | (() => string), status: number, sent?: Sent | (() => Sent)]

const admin = { token }
const ndjson = (...lines: Json[]): Sent => ({
  ...admin,
  headers: { 'Content-Type': 'application/x-ndjson' },
  body: lines.map(line => JSON.stringify(line)).join('\n'),
})
const a2a = (version: WireVersion) => ({ 'A2A-Version': version })
const unknownToken = { token: `cc_${'a'.repeat(12)}_${'b'.repeat(32)}` }

const v0Message = { message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'Does it rain?' }] } }

/** Requests to every route, with their statuses: those that succeed, and errors that clients meet. They are sent in this order. */
const samples: Sample[] = [
  // Cards
  ['GET', '/.well-known/agent-card.json', 200],
  ['GET', '/.well-known/agent.json', 200],
  ['GET', '/.well-known/agent.json', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents/weather/.well-known/agent-card.json?dialect=1.0', 200],
  ['GET', '/agents/weather/.well-known/agent-card.json', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents/weather/.well-known/agent.json', 200, { headers: { ...a2a('0.3'), Prefer: 'server-timing' } }],
  ['GET', '/agents/weather', 200, admin],
  ['GET', '/agents/weather?dialect=none', 400],
  ['GET', '/agents/none', 404],
  ['GET', '/agents/unavailable', 502],
  ['GET', '/agents/.well-known/agent-card.json', 404],
  ['GET', '/.well-known/jwks.json', 200],
  ['GET', '/.well-known/jwks.json', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/.well-known/did.json', 200],
  ['GET', '/.well-known/did.json', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/a2a/v1/agents/weather', 200],
  ['GET', '/a2a/v1/agents/none', 404],
  // Lists and catalogs
  ['GET', '/agents', 200],
  ['GET', '/agents?limit=1', 200, admin],
  ['GET', '/agents?id=weather&id=none', 200, admin],
  ['GET', '/agents?set=none', 200, admin],
  ['GET', '/agents?q=weather&facets=tag,capability&capability=streaming', 200],
  ['GET', '/agents', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents?limit=0', 400],
  ['GET', '/agents?q=', 400],
  ['GET', '/agents?set=none', 401],
  ['GET', '/agents?id=weather', 401],
  ['GET', '/.well-known/a2a/agents', 200],
  ['GET', '/.well-known/a2a/agents', 401, unknownToken],
  ...['/.well-known/ai-catalog.json', '/.well-known/ard.json', '/.well-known/api-catalog', '/llms.txt'].flatMap(
    (path): Sample[] => [
      ['GET', `${path}?limit=1`, 200],
      ['GET', path, 200],
      ['GET', path, 304, { headers: { 'If-None-Match': '*' } }],
      ['GET', `${path}?cursor=!`, 400],
    ],
  ),
  ['GET', '/robots.txt', 200],
  ['GET', '/sitemap.xml', 200],
  ['GET', '/sitemap.xml?page=1', 200],
  ['GET', '/sitemap.xml', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/sitemap.xml?page=2', 404],
  ['GET', '/sitemap.xml?page=0', 400],
  ['POST', '/search', 200, { body: { query: { text: 'weather' } } }],
  ['POST', '/ard/search', 200, { body: { query: { text: 'my agent', filter: { tags: 'general' } }, pageSize: 1 } }],
  ['POST', '/ard/search', 400, { body: { query: {} } }],
  ['POST', '/ard/search', 415, { headers: { 'Content-Type': 'text/plain' }, body: '{}' }],
  ['GET', '/ard/agents?pageSize=1', 200],
  ['GET', '/ard/agents', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/ard/agents?pageSize=0', 400],
  ['GET', () => `/ard/agents/urn%3Aair%3Aagent.localhost%3Aagent%3Aweather`, 200],
  ['GET', '/ard/agents/urn%3Aair%3Aa.example%3Aagent%3Anone', 404],
  ['GET', '/ard/agents/none', 400],
  // Pages
  ...['/', '/agents', '/agents/weather', '/lint', '/manage'].map(
    (path): Sample => ['GET', path, 200, { headers: { Accept: 'text/html' } }],
  ),
  ['GET', '/', 404],
  ['GET', '/agents/weather/card.svg', 200],
  ['GET', '/agents/weather/badge.svg', 200],
  ['GET', '/agents/none/card.svg', 404],
  ['GET', '/agents/none/badge.svg', 404],
  // Pictures
  ...['card.svg', 'badge.svg'].flatMap((file): Sample[] => [
    ['GET', `/agents/weather/${file}`, 200],
    ['GET', `/agents/weather/${file}`, 304, { headers: { 'If-None-Match': '*' } }],
    ['GET', `/agents/none/${file}`, 404],
    ['GET', `/agents/unavailable/${file}`, 502],
  ]),
  // Registrations
  ['PUT', '/agents/new', 201, { ...admin, body: { ...shortCard } }],
  ['PUT', '/agents/new', 200, { ...admin, body: { ...shortCard, name: 'Other', version: 'v2' } }],
  ['PUT', '/agents/new', 200, { ...admin, body: { card: shortCard, extended: { name: 'C' }, set: 'own' } }],
  ['PUT', '/agents/new', 412, { ...admin, headers: { 'If-None-Match': '*' }, body: shortCard }],
  ['PUT', '/agents/new', 400, { ...admin, headers: { 'If-None-Match': '"a"' }, body: shortCard }],
  ['PUT', '/agents/new', 401, { body: shortCard }],
  ['PUT', '/agents/new', 401, { ...unknownToken, body: shortCard }],
  ['PUT', '/agents/NEW', 400, { ...admin, body: shortCard }],
  ['PUT', '/agents/new', 400, { ...admin, body: '{' }],
  ['PUT', '/agents/new', 413, { ...admin, body: JSON.stringify('x'.repeat(300_000)) }],
  ['PUT', '/agents/new', 415, { ...admin, headers: { 'Content-Type': 'text/plain' }, body: '{}' }],
  ['PUT', '/agents/new', 422, { ...admin, body: { card: { name: '', url: 1 } } }],
  ['PUT', '/agents/new', 422, { ...admin, body: '{"name": "A", "name": "B"}' }],
  ['PUT', '/agents/new', 422, { ...admin, body: { ...shortCard, description: `sk-ant-api03-${'aB3'.repeat(31)}AA` } }],
  ['PUT', '/agents/other', 409, { ...admin, body: { card: shortCard, hosts: ['*'] } }],
  ['POST', '/agents:batch', 200, ndjson({ id: 'one', manifest: shortCard }, { id: 'two', manifest: {} })],
  ['POST', '/agents:batch?atomic=true', 422, ndjson({ id: 'one', manifest: shortCard }, { id: 'two', manifest: {} })],
  ['POST', '/agents:batch', 415, { ...admin, body: {} }],
  ['POST', '/agents:batch?a=b', 400, ndjson({})],
  ['GET', '/agents/new/manifest', 200, admin],
  ['GET', '/agents/none/manifest', 404, admin],
  ['GET', '/agents/weather/revisions', 200, admin],
  ['GET', '/agents/weather/revisions?limit=1', 200, admin],
  ['GET', '/agents/none/revisions', 404, admin],
  ['GET', '/agents/weather/revisions/1', 200, admin],
  ['GET', '/agents/weather/revisions/1', 304, { ...admin, headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents/weather/revisions/99', 404, admin],
  ['GET', '/agents/weather/revisions/2/diff', 200, admin],
  ['GET', '/agents/new/revisions/2/diff?from=1', 200, admin],
  ['GET', '/agents/weather/revisions/1/diff', 404, admin],
  ['POST', '/agents/new/rollback', 200, { ...admin, body: { seq: 1 } }],
  ['POST', '/agents/new/rollback', 422, { ...admin, body: { seq: 0 } }],
  ['POST', '/agents/new/rollback', 404, { ...admin, body: { seq: 99 } }],
  ['GET', '/agents/relay/source', 200, admin],
  ['GET', '/agents/unavailable/source', 200, admin],
  ['GET', '/agents/weather/source', 409, admin],
  ['POST', '/agents/relay/refresh', 200, admin],
  ['GET', '/agents/relay/source', 200, admin],
  ['POST', '/agents/relay/refresh', 412, { ...admin, body: { accept: '"other"' } }],
  ['POST', '/agents/relay/refresh', 422, { ...admin, body: { accept: 1 } }],
  ['POST', '/agents/relay/refresh', 200, () => ({ ...admin, body: { accept: seen.pending } })],
  ['POST', '/agents/relay/refresh', 200, admin],
  ['POST', '/agents/unavailable/refresh', 502, admin],
  ['GET', '/agents/relay/revisions', 200, admin],
  ['DELETE', '/agents/one/tasks', 204, admin],
  ['DELETE', '/agents/none/tasks', 404, admin],
  ['DELETE', '/agents/one', 412, { ...admin, headers: { 'If-Match': '"other"' } }],
  ['DELETE', '/agents/one', 204, admin],
  ['DELETE', '/agents/one', 404, admin],
  ['GET', '/agents/one/revisions', 200, admin],
  ['POST', '/agents/one/rollback', 422, { ...admin, body: { seq: 2 } }],
  ['POST', '/agents/one/rollback', 201, { ...admin, body: { seq: 1 } }],
  ['POST', '/lint', 200, { body: minimalCard }],
  ['POST', '/lint?representations=true', 200, { body: minimalCard }],
  ['POST', '/lint', 200, { body: { name: '' } }],
  ['POST', '/lint', 400, { body: '{' }],
  ['POST', '/verify', 200, () => ({ body: { url: `${called.host.url.origin}/agents/weather` } })],
  ['POST', '/verify', 200, { body: { card: { ...minimalCard, signatures: [{}] }, keys: [{}] } }],
  ['POST', '/verify', 422, { body: {} }],
  ['POST', '/verify', 502, () => ({ body: { url: `${called.agent.origin}/missing.json` } })],
  // Tokens and administration
  ['POST', '/tokens', 201, { ...admin, body: { scopes: ['read'], agents: ['n*'], note: 'Test', expires: 3600 } }],
  ['POST', '/tokens', 422, { ...admin, body: { scopes: [] } }],
  ['POST', '/tokens', 403, () => ({ token: seen.token, body: { scopes: ['read'] } })],
  ['GET', '/tokens', 200, admin],
  ['GET', '/tokens/self', 200, admin],
  ['GET', '/tokens/self', 200, () => ({ token: seen.token })],
  ['GET', '/tokens/self', 401],
  ['GET', '/agents/weather/manifest', 403, () => ({ token: seen.token })],
  ['DELETE', () => `/tokens/${seen.tokenId}`, 204, admin],
  ['DELETE', '/tokens/none', 404, admin],
  ['GET', '/audit', 200, admin],
  ['GET', '/keys', 200, admin],
  ['GET', '/keys', 401],
  ['GET', '/audit?what=token-issued&limit=1', 200, admin],
  ['GET', '/audit?what=none', 400, admin],
  ['GET', '/export', 200, admin],
  ['POST', '/import', 409, () => importOf(seen.export)],
  ['POST', '/import?tokens=no', 400, () => importOf(seen.export)],
  ['POST', '/import', 401, { headers: { 'Content-Type': 'application/x-ndjson' }, body: '' }],
  ['POST', '/import', 415, () => ({ ...importOf(seen.export), headers: { 'Content-Encoding': 'br' } })],
  // Documents
  ['GET', '/schema/manifest.json', 200],
  ['GET', '/schema/manifest.json', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/openapi.json', 200],
  ['GET', '/openapi.json', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/health', 200],
  // Calls
  ['POST', '/agents/weather/a2a', 200, { headers: a2a('1.0'), body: call() }],
  ['POST', '/agents/weather/a2a', 200, { headers: a2a('1.0'), body: call('SendStreamingMessage') }],
  ['POST', '/agents/weather/a2a', 200, { headers: a2a('0.3'), body: call('message/stream', messageV03()) }],
  ['POST', '/agents/weather/a2a', 200, { headers: a2a('1.0'), body: call('NoMethod') }],
  ['POST', '/agents/weather/a2a', 400, { body: '{' }],
  ['POST', '/agents/weather/a2a', 401, { ...unknownToken, body: call() }],
  ['POST', '/agents/weather/a2a', 415, { headers: { 'Content-Type': 'text/plain' }, body: '{}' }],
  ['POST', '/agents/unavailable/a2a', 502, { headers: a2a('1.0'), body: call() }],
  ['POST', '/agents/none/a2a', 200, { body: call() }],
  ['POST', '/agents/weather', 200, { headers: a2a('0.3'), body: call('message/send', messageV03()) }],
  ['POST', '/a2a', 200, { headers: a2a('1.0'), body: call('SendMessage', message({ tenant: 'weather' })) }],
  ['POST', '/a2a/v1', 200, { headers: a2a('0.3'), body: call('message/send', messageV03({ agentName: 'Weather' })) }],
  ...wireVersions.flatMap(version => restSamples(version)),
  ['GET', '/agents/weather/a2a/tasks/t-1', 401, unknownToken],
  ['GET', '/agents/weather/a2a/v1/tasks/t-1', 401, unknownToken],
  ['POST', '/agents/none/a2a/message:send', 404, { body: message() }],
  ['POST', '/agents/none/a2a/v1/message:send', 404, { body: {} }],
  ['POST', '/agents/weather/a2a/message:send', 400, { headers: { 'A2A-Version': '9.9' }, body: message() }],
  ['GET', '/agents/weather/receipt', 404],
  ['POST', '/agents/weather/check', 200, { ...admin, body: { send: true } }],
  ['POST', '/agents/weather/check', 200, admin],
  ['POST', '/agents/weather/check', 422, { ...admin, body: { send: 1 } }],
  ['POST', '/agents/unavailable/check', 502, admin],
  ['POST', '/agents/none/check', 404, admin],
  ['GET', '/agents/weather/receipt', 200],
  ['GET', '/agents/weather/receipt', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents/weather/badge.svg?show=receipt', 200],
  ['GET', '/agents/weather/observed', 200, admin],
  ['GET', '/agents/none/observed', 404, admin],
  // SuperX
  ['POST', '/rpc', 200, { body: call('agents/list', { includeCard: true }) }],
  ['POST', '/rpc', 200, { body: call('agents/get', { id: 'weather' }) }],
  ['POST', '/rpc', 200, { body: call('agents/get', { id: 'none' }) }],
  ['POST', '/rpc', 400, { body: '{' }],
  ['POST', '/rpc', 401, { body: call('agents/refreshCard', { id: 'relay' }) }],
]

/** A request for each operation of a version over HTTP+JSON. */
function restSamples(version: WireVersion): Sample[] {
  const isV0 = version === '0.3'
  const config = { url: 'https://client.example.com/push', id: 'p-1' }
  const bodies: Partial<Record<(typeof operationNames)[number], Json>> = {
    send: isV0 ? v0Message : message(),
    stream: isV0 ? v0Message : message(),
    createPushConfig: isV0 ? { configId: 'p-1', config: { name: 'p-1', pushNotificationConfig: config } } : config,
  }
  return operationNames.flatMap((name): Sample[] => {
    const path = pathOf(name, version)?.replace('/{id}', name.includes('PushConfig') ? '/p-1' : '/t-1')
    if (path === undefined) return []
    return operations[name].http[0].map(method => [
      method,
      `/agents/weather/a2a/${path.replace('{taskId}', 't-1')}`,
      200,
      { headers: a2a(version), ...(name === 'extendedCard' && admin), ...(bodies[name] && { body: bodies[name] }) },
    ])
  })
}

const importOf = (body: string): Sent => ({ ...admin, headers: { 'Content-Type': 'application/x-ndjson' }, body })

const remember = (path: string, { status, body, text }: Received): void => {
  if (status >= 300) return
  const { token = seen.token, id, pending } = body as { token?: string; id?: string; pending?: { etag: string } }
  if (path === '/tokens' && status === 201) Object.assign(seen, { token, tokenId: id })
  if (path === '/export') seen.export = text
  if (pending) seen.pending = pending.etag
}

const bodyText = ({ body = '' }: Sent): string => (typeof body === 'string' ? body : JSON.stringify(body))

/** Sends a request, and returns its status and what differs from the document. */
const exchange = async (method: string, path: string, sent: Sent): Promise<[status: number, errors: string[]]> => {
  const response = await called.send(path, { ...sent, method })
  remember(path, response)
  const type = sent.headers?.['Content-Type'] ?? 'application/json'
  const isSuccess = response.status < 300
  return [
    response.status,
    [
      ...(isSuccess ? contract.findRequestErrors(method, path, type, bodyText(sent)) : []),
      ...(isSuccess ? unknownParameters(method, path) : []),
      ...contract.findResponseErrors(method, path, response),
    ],
  ]
}

const unknownParameters = (method: string, path: string): string[] => {
  const known = contract.queryOf(method, path)
  const sent = [...new URL(path, 'https://host.example').searchParams.keys()]
  return sent.filter(name => !known.includes(name)).map(name => `the document has no parameter ${name}`)
}

describe('an answer of the host is as the document describes it', () => {
  it.each(samples.map((sample, index) => [`${index + 1}: ${sample[0]} ${sample[1]} ${sample[2]}`, sample] as const))(
    '%s',
    async (_, [method, path, status, sent = {}]) => {
      const target = typeof path === 'string' ? path : path()
      expect(await exchange(method, target, typeof sent === 'function' ? sent() : sent)).toEqual([status, []])
    },
  )
})

/** Sends a request from one address until a rate limit refuses it. */
const exceed = async (method: string, path: string, sent: RequestInit): Promise<Received> => {
  const address = nextAddress()
  for (;;) {
    const response = await sharedHost('limited').fetch(path, {
      ...sent,
      method,
      headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': address, ...sent.headers },
    })
    const { status, headers } = response
    const text = await response.text()
    if (status === 429) return { status, headers, text, body: null }
    if (status >= 500) throw new Error(`${status} ${text}`)
  }
}

describe('an answer that needs a host of its own is as the document describes it', () => {
  it.each([
    ['POST', '/lint', { body: '{}' }],
    ['POST', '/verify', { body: '{}' }],
    ['POST', '/ard/search', { body: '{"query": {"text": "a"}}' }],
    ['POST', '/agents/none/a2a', { body: JSON.stringify(call()) }],
    ['POST', '/agents/none/a2a/message:send', { body: '{}' }],
    ['POST', '/rpc', { body: JSON.stringify(call('agents/list', {})) }],
    ['GET', '/tokens', { headers: { Authorization: 'Bearer wrong' } }],
    ['GET', '/lint', {}],
    ['GET', '/agents/none/badge.svg', {}],
  ])('%s %s past a rate limit', async (method, path, sent) => {
    expect(contract.findResponseErrors(method, path, await exceed(method, path, sent))).toEqual([])
  })

  it('POST /import into an empty host, and again with another file', async () => {
    const file = await (await called.host.fetch('/export', { headers: { Authorization: `Bearer ${token}` } })).text()
    const imported = async (body: string): Promise<[number, string[]]> => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' }
      const response = await empty.fetch('/import', { method: 'POST', headers, body })
      const answer = { status: response.status, headers: response.headers, text: await response.text() }
      return [answer.status, contract.findResponseErrors('POST', '/import', answer)]
    }
    expect(await imported(`${file}{}\n`)).toEqual([422, []])
    expect(contract.findRequestErrors('POST', '/import', 'application/x-ndjson', file)).toEqual([])
    expect(await imported(file)).toEqual([201, []])
  })

  it.each(['/events', '/agents/weather/events'])('GET %s with a change', async path => {
    const url = new URL(`${path}?lastEventId=0`, called.host.url)
    const { status, headers, body } = await fetch(url, { headers: { Authorization: `Bearer ${token}` } })
    let text = ''
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      if (/\ndata: .*\n\n/.test(text)) break
    }
    expect(contract.findResponseErrors('GET', path, { status, headers, text })).toEqual([])
    expect(unknownParameters('GET', `${path}?lastEventId=0`)).toEqual([])
    const bad = await called.send(`${path}?lastEventId=a`, { method: 'GET' })
    expect([bad.status, contract.findResponseErrors('GET', path, bad)]).toEqual([400, []])
  })
})

describe('the document', () => {
  it('is served as it is made, for caches to keep', async () => {
    const response = await called.host.fetch('/openapi.json')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=3600, stale-while-revalidate=86400',
      'access-control-allow-origin': '*',
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
    })
    expect(await response.json()).toEqual(document)
  })

  it('matches the schema of OpenAPI 3.1', async () => {
    const validator = new Validator()
    expect(await validator.validate(document)).toMatchObject({ valid: true })
    expect(validator.version).toBe('3.1')
    expect(await new Validator().validate({ ...document, paths: { agents: {} } })).toMatchObject({ valid: false })
  })

  it('has every route of the route table, and no other', () => {
    // The operations of HTTP+JSON are below one route, whose parameter has slashes.
    const collapsed = contract.operations.map(each => each.replace(/(\/agents\/\{id\}\/a2a\/).*/, '$1{operation}'))
    const expected = routes.map(([method, path]) => `${method} ${path.replaceAll(/(?<![a-z]):(\w+)\+?/g, '{$1}')}`)
    expect([...new Set(collapsed)].toSorted()).toEqual(expected.toSorted())
  })

  it('has every operation of A2A over HTTP+JSON', () => {
    const paths = wireVersions.flatMap(version => operationNames.flatMap(name => pathOf(name, version) ?? []))
    const documented = contract.operations.filter(each => /^[A-Z]+ \/agents\/\{id\}\/a2a\//.test(each))
    // Some clients subscribe with GET.
    expect(documented.length).toBe(paths.length + wireVersions.length)
  })

  it('refers to every schema, and only to schemas that it has', () => {
    const references = new Set(JSON.stringify(document).match(/(?<=#\/components\/schemas\/)[^"]+/g))
    const { schemas } = (document as { components: { schemas: JsonObject } }).components
    // Of these, parts of other schemas are made.
    const unused = Object.keys(schemas).filter(name => !references.has(name))
    expect(unused).toEqual([])
    expect([...references].filter(name => !(name in schemas))).toEqual([])
  })

  it('names every operation once, and describes each with its security and its errors', () => {
    const { paths } = document as { paths: Record<string, Record<string, Record<string, unknown>>> }
    const all = Object.values(paths).flatMap(item => Object.values(item))
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length)
    for (const operation of all)
      expect(operation).toMatchObject({
        summary: expect.stringMatching(/^[A-Z].*[^.]$/),
        security: expect.any(Array),
        responses: { 500: expect.anything() },
      })
  })

  it('has the rate limits of wrangler.toml', () => {
    const documented = Object.entries(rateLimits).map(([name, { requests }]) => [name, requests])
    expect(Object.fromEntries(documented)).toEqual(readHostConfig().rateLimits)
  })

  it('had an answer to each of its operations checked here, a success where there is one', () => {
    const succeeds = (statuses: ReadonlySet<number>) => [...statuses].some(status => status < 300)
    const unchecked = contract.operationIds.filter(id => !succeeds(contract.checked.get(id) ?? new Set()))
    // That a client has lost the id of the agent is always an error.
    expect(unchecked).toEqual(['getCardWithoutAgent'])
    expect(contract.checked.get('getCardWithoutAgent')).toEqual(new Set([404]))
  })
})

describe('the contract of these tests', () => {
  const answered = (body: Json, status = 200, type = 'application/json') => ({
    status,
    headers: new Headers({ 'Content-Type': type }),
    text: JSON.stringify(body),
  })
  const problem = (code: string) => ({ type: 'about:blank', title: 'Not Found', status: 404, code, detail: 'No.' })

  it.each([
    ['a member that is missing', answered({ service: 'calling-card' })],
    ['a member that is not described', answered({ agents: [], more: 1 })],
    ['a status that is not described', answered({}, 418)],
    ['a media type that is not described', answered({ agents: [] }, 200, 'text/plain')],
    ['a code that is not described', answered(problem('no-source'), 400, 'application/problem+json')],
    ['a header that is not described', { ...answered({ agents: [] }), headers: new Headers({ 'Gate-Warning': 'a' }) }],
  ])('finds %s', (_, answer) => {
    expect(contract.findResponseErrors('GET', '/agents', answer)).not.toEqual([])
  })

  it('accepts an answer that the document describes', () => {
    expect(contract.findResponseErrors('GET', '/agents', answered({ agents: [] }))).toEqual([])
  })

  it('finds a request that the document does not describe', () => {
    const find = (body: Json) => contract.findRequestErrors('POST', '/tokens', 'application/json', JSON.stringify(body))
    expect([find({ scopes: ['read'] }), find({ scopes: [] }).length, find({}).length]).toEqual([[], 1, 1])
  })
})

import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationNames, operations } from '../../src/a2a/operations.ts'
import { pathOf } from '../../src/a2a/rest-paths.ts'
import { rateLimits } from '../../src/api/contract/index.ts'
import { createOpenApiDocument } from '../../src/api/openapi/index.ts'
import { routes } from '../../src/app.ts'
import { createManifestSchema } from '../../src/card/manifest/json-schema.ts'
import { type WireVersion, wireVersions } from '../../src/card/model/versions.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { problems } from '../../src/problems.ts'
import { answerCalls, eventsOf } from '../support/answers.ts'
import { type CalledHost, nextAddress, type Received, type Sent, useSharedHost } from '../support/called-host.ts'
import { call, message, messageV03 } from '../support/calls.ts'
import { agentCard, minimalCard, shortCard } from '../support/cards/cards.ts'
import { readHostConfig } from '../support/global-setup.ts'
import { emptyHost, type Host, sharedHost, token } from '../support/host.ts'
import { startNodeHost } from '../support/node-host.ts'
import { Contract } from '../support/schemas/openapi.ts'
import { json, type Responder, stream } from '../support/upstream.ts'

const document: JsonObject = JSON.parse(JSON.stringify(await createOpenApiDocument(routes)))
const contract = new Contract(document)

let called: CalledHost
beforeAll(async () => {
  await emptyHost('signing')
  called = await useSharedHost('signing')
  called.agent.respond(answer)
  const { origin } = called.agent
  const gateway = { card: agentCard(origin, { capabilities }), route: 'gateway', extended: { description: 'More' } }
  const documented = { ...minimalCard, documentationUrl: 'https://docs.example.com/' }
  await called.register('oa-root', { card: documented, hosts: ['*'] })
  await called.register('oa-weather', gateway)
  await called.register('oa-weather', { ...gateway, extended: { description: 'Even more' } })
  const login = {
    openIdConnectSecurityScheme: { openIdConnectUrl: 'https://login.example/.well-known/openid-configuration' },
  }
  await called.register('oa-login', { card: agentCard(origin, { securitySchemes: { login } }), route: 'gateway' })
  await called.register('oa-unavailable', { upstream: { card: `${origin}/missing.json` } })
  await called.register('oa-relay', { upstream: { card: `${origin}/card.json`, pin: true } })
  wider = true
})
afterAll(() => called.close())

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
const seen = { token: '', tokenId: '', pending: '', export: '' }

type Sample = [method: string, path: string | (() => string), status: number, sent?: Sent | (() => Sent)]

const admin = { token }
const ndjson = (...lines: Json[]): Sent => ({
  ...admin,
  headers: { 'Content-Type': 'application/x-ndjson' },
  body: lines.map(line => JSON.stringify(line)).join('\n'),
})
const oneOfTwo = ndjson({ id: 'oa-one', manifest: shortCard }, { id: 'oa-two', manifest: {} })
const extendedInSet = { extended: { name: 'C' }, set: 'own' }
const leakedCard = { ...shortCard, description: `sk-ant-api03-${'aB3'.repeat(31)}AA` }
const a2a = (version: WireVersion) => ({ 'A2A-Version': version })
const unknownToken = { token: `cc_${'a'.repeat(12)}_${'b'.repeat(32)}` }

/** A request of an MCP client, which gets a stream before 2026-07-28. */
const mcp = (version: string, Accept = 'application/json, text/event-stream'): Sent => {
  const names = { protocolVersion: version, clientInfo: { name: 'c', version: '1' }, clientCapabilities: {} }
  const meta = Object.entries(names).map(([name, value]): [string, Json] => [`io.modelcontextprotocol/${name}`, value])
  return {
    headers: { 'MCP-Protocol-Version': version, 'Mcp-Method': 'tools/list', Accept },
    body: call('tools/list', version < '2026-07-28' ? {} : { _meta: Object.fromEntries(meta) }),
  }
}

const v0Message = { message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'Does it rain?' }] } }

/** Requests to every route, with their statuses: those that succeed, and errors that clients meet. They are sent in this order. */
const samples: Sample[] = [
  // Cards
  ['GET', '/.well-known/agent-card.json', 200],
  ['GET', '/.well-known/agent.json', 200],
  ['GET', '/.well-known/agent.json', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents/oa-weather/.well-known/agent-card.json?dialect=1.0', 200],
  ['GET', '/agents/oa-weather/.well-known/agent-card.json', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents/oa-weather/.well-known/agent.json', 200, { headers: { ...a2a('0.3'), Prefer: 'server-timing' } }],
  ['GET', '/agents/oa-weather', 200, admin],
  ['GET', '/agents/oa-weather?dialect=none', 400],
  ['GET', '/agents/none', 404],
  ['GET', '/agents/oa-unavailable', 502],
  ['GET', '/agents/.well-known/agent-card.json', 404],
  ['GET', '/.well-known/jwks.json', 200],
  ['GET', '/.well-known/jwks.json', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/.well-known/did.json', 200],
  ['GET', '/.well-known/did.json', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/a2a/v1/agents/oa-weather', 200],
  ['GET', '/a2a/v1/agents/none', 404],
  // Lists and catalogs
  ['GET', '/agents', 200],
  ['GET', '/agents?id=oa-weather&id=none', 200, admin],
  ['GET', '/agents?set=none', 200, admin],
  ['GET', '/agents?q=weather&limit=1&facets=tag,capability&capability=streaming', 200],
  ['GET', '/agents', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents?limit=0', 400],
  ['GET', '/agents?q=', 400],
  ['GET', '/agents?set=none', 401],
  ['GET', '/agents?id=oa-weather', 401],
  ['GET', '/.well-known/a2a/agents', 200],
  ['GET', '/.well-known/a2a/agents', 401, unknownToken],
  ...['/.well-known/ai-catalog.json', '/.well-known/ard.json', '/.well-known/api-catalog', '/llms.txt'].flatMap(
    (path): Sample[] => [
      ['GET', `${path}?limit=1`, 200],
      ['GET', path, 304, { headers: { 'If-None-Match': '*' } }],
      ['GET', `${path}?cursor=!`, 400],
    ],
  ),
  ['GET', '/robots.txt', 200],
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
  ['GET', '/ard/agents/urn%3Aair%3Aagent.localhost%3Aagent%3Aoa-weather', 200],
  ['GET', '/ard/agents/urn%3Aair%3Aa.example%3Aagent%3Anone', 404],
  ['GET', '/ard/agents/none', 400],
  // Pages
  ...['/', '/agents', '/agents/oa-weather', '/lint', '/manage'].map(
    (path): Sample => ['GET', path, 200, { headers: { Accept: 'text/html' } }],
  ),
  ['GET', '/', 404],
  ...['card.svg', 'badge.svg'].flatMap((file): Sample[] => [
    ['GET', `/agents/oa-weather/${file}`, 200],
    ['GET', `/agents/oa-weather/${file}`, 304, { headers: { 'If-None-Match': '*' } }],
    ['GET', `/agents/none/${file}`, 404],
    ['GET', `/agents/oa-unavailable/${file}`, 502],
  ]),
  // Registrations
  ['PUT', '/agents/oa-new', 201, { ...admin, body: { ...shortCard } }],
  ['PUT', '/agents/oa-new', 200, { ...admin, body: { card: { ...shortCard, name: 'Other' }, ...extendedInSet } }],
  ['PUT', '/agents/oa-new', 412, { ...admin, headers: { 'If-None-Match': '*' }, body: shortCard }],
  ['PUT', '/agents/oa-new', 400, { ...admin, headers: { 'If-None-Match': '"a"' }, body: shortCard }],
  ['PUT', '/agents/oa-new', 401, { ...unknownToken, body: shortCard }],
  ['PUT', '/agents/OA-NEW', 400, { ...admin, body: shortCard }],
  ['PUT', '/agents/oa-new', 400, { ...admin, body: '{' }],
  ['PUT', '/agents/oa-new', 413, { ...admin, body: JSON.stringify('x'.repeat(300_000)) }],
  ['PUT', '/agents/oa-new', 415, { ...admin, headers: { 'Content-Type': 'text/plain' }, body: '{}' }],
  ['PUT', '/agents/oa-new', 422, { ...admin, body: { card: { name: '', url: 1 } } }],
  ['PUT', '/agents/oa-new', 422, { ...admin, body: '{"name": "A", "name": "B"}' }],
  ['PUT', '/agents/oa-new', 422, { ...admin, body: leakedCard }],
  ['PUT', '/agents/oa-other', 409, { ...admin, body: { card: shortCard, hosts: ['*'] } }],
  ['POST', '/agents:batch', 200, oneOfTwo],
  ['POST', '/agents:batch?atomic=true', 422, oneOfTwo],
  ['POST', '/agents:batch', 415, { ...admin, body: {} }],
  ['POST', '/agents:batch?a=b', 400, ndjson({})],
  ['GET', '/agents/oa-new/manifest', 200, admin],
  ['GET', '/agents/none/manifest', 404, admin],
  ['GET', '/agents/oa-weather/revisions?limit=1', 200, admin],
  ['GET', '/agents/none/revisions', 404, admin],
  ['GET', '/agents/oa-weather/revisions/1', 200, admin],
  ['GET', '/agents/oa-weather/revisions/1', 304, { ...admin, headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents/oa-weather/revisions/99', 404, admin],
  ['GET', '/agents/oa-new/revisions/2/diff?from=1', 200, admin],
  ['GET', '/agents/oa-weather/revisions/1/diff', 404, admin],
  ['POST', '/agents/oa-new/rollback', 200, { ...admin, body: { seq: 1 } }],
  ['POST', '/agents/oa-new/rollback', 422, { ...admin, body: { seq: 0 } }],
  ['POST', '/agents/oa-new/rollback', 404, { ...admin, body: { seq: 99 } }],
  ['GET', '/agents/oa-unavailable/source', 200, admin],
  ['GET', '/agents/oa-weather/source', 409, admin],
  ['POST', '/agents/oa-relay/refresh', 200, admin],
  ['GET', '/agents/oa-relay/source', 200, admin],
  ['POST', '/agents/oa-relay/refresh', 412, { ...admin, body: { accept: '"other"' } }],
  ['POST', '/agents/oa-relay/refresh', 422, { ...admin, body: { accept: 1 } }],
  ['POST', '/agents/oa-relay/refresh', 200, () => ({ ...admin, body: { accept: seen.pending } })],
  ['POST', '/agents/oa-relay/refresh', 200, admin],
  ['POST', '/agents/oa-unavailable/refresh', 502, admin],
  ['GET', '/agents/oa-relay/revisions', 200, admin],
  ['DELETE', '/agents/oa-one/tasks', 204, admin],
  ['DELETE', '/agents/none/tasks', 404, admin],
  ['DELETE', '/agents/oa-one', 412, { ...admin, headers: { 'If-Match': '"other"' } }],
  ['DELETE', '/agents/oa-one', 204, admin],
  ['DELETE', '/agents/oa-one', 404, admin],
  ['GET', '/agents/oa-one/revisions', 200, admin],
  ['POST', '/agents/oa-one/rollback', 422, { ...admin, body: { seq: 2 } }],
  ['POST', '/agents/oa-one/rollback', 201, { ...admin, body: { seq: 1 } }],
  ['POST', '/lint?representations=true', 200, { body: minimalCard }],
  ['POST', '/lint', 200, { body: { name: '' } }],
  ['POST', '/lint', 400, { body: '{' }],
  ['POST', '/verify', 200, () => ({ body: { url: `${called.host.url.origin}/agents/oa-weather` } })],
  ['POST', '/verify', 200, { body: { card: { ...minimalCard, signatures: [{}] }, keys: [{}] } }],
  ['POST', '/verify', 422, { body: {} }],
  ['POST', '/verify', 502, () => ({ body: { url: `${called.agent.origin}/missing.json` } })],
  // Tokens and administration
  ['POST', '/tokens', 201, { ...admin, body: { scopes: ['read'], agents: ['oa-n*'], note: 'Test', expires: 3600 } }],
  ['POST', '/tokens', 422, { ...admin, body: { scopes: [] } }],
  ['POST', '/tokens', 403, () => ({ token: seen.token, body: { scopes: ['read'] } })],
  ['GET', '/tokens', 200, admin],
  ['GET', '/tokens/self', 200, admin],
  ['GET', '/tokens/self', 200, () => ({ token: seen.token })],
  ['GET', '/tokens/self', 401],
  ['GET', '/agents/oa-weather/manifest', 403, () => ({ token: seen.token })],
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
  ['POST', '/agents/oa-weather/a2a', 200, { headers: a2a('1.0'), body: call() }],
  ['POST', '/agents/oa-weather/a2a', 200, { headers: a2a('1.0'), body: call('SendStreamingMessage') }],
  ['POST', '/agents/oa-weather/a2a', 200, { headers: a2a('0.3'), body: call('message/stream', messageV03()) }],
  ['POST', '/agents/oa-weather/a2a', 200, { headers: a2a('1.0'), body: call('NoMethod') }],
  ['POST', '/agents/oa-weather/a2a', 400, { body: '{' }],
  ['POST', '/agents/oa-weather/a2a', 401, { ...unknownToken, body: call() }],
  ['POST', '/agents/oa-weather/a2a', 415, { headers: { 'Content-Type': 'text/plain' }, body: '{}' }],
  ['POST', '/agents/oa-unavailable/a2a', 502, { headers: a2a('1.0'), body: call() }],
  ['POST', '/agents/oa-weather', 200, { headers: a2a('0.3'), body: call('message/send', messageV03()) }],
  ['POST', '/a2a', 200, { headers: a2a('1.0'), body: call('SendMessage', message({ tenant: 'oa-weather' })) }],
  ['POST', '/a2a/v1', 200, { headers: a2a('0.3'), body: call('message/send', messageV03({ agentName: 'Weather' })) }],
  ...wireVersions.flatMap(version => restSamples(version)),
  ['GET', '/agents/oa-weather/a2a/tasks/t-1', 401, unknownToken],
  ['GET', '/agents/oa-weather/a2a/v1/tasks/t-1', 401, unknownToken],
  ['POST', '/agents/none/a2a/message:send', 404, { body: message() }],
  ['POST', '/agents/oa-weather/a2a/message:send', 400, { headers: { 'A2A-Version': '9.9' }, body: message() }],
  ['GET', '/agents/oa-weather/mcp/server-card', 200],
  ['GET', '/agents/oa-weather/mcp/server-card', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents/none/mcp/server-card', 404],
  ['GET', '/mcp/server-card', 200],
  ['POST', '/agents/oa-weather/mcp', 200, mcp('2025-11-25')],
  ['POST', '/agents/none/mcp', 404, mcp('2026-07-28')],
  ['POST', '/mcp', 200, mcp('2026-07-28')],
  ['POST', '/mcp', 400, mcp('2099-01-01')],
  ['POST', '/mcp', 406, mcp('2025-11-25', 'text/html')],
  ['POST', '/mcp', 401, { ...mcp('2026-07-28'), ...unknownToken }],
  ['GET', '/.well-known/oauth-protected-resource/agents/oa-login/mcp', 200],
  ['GET', '/.well-known/oauth-protected-resource/agents/oa-weather/mcp', 404],
  ['GET', '/agents/oa-weather/receipt', 404],
  ['POST', '/agents/oa-weather/check', 200, { ...admin, body: { send: true } }],
  ['POST', '/agents/oa-weather/check', 200, admin],
  ['POST', '/agents/oa-weather/check', 422, { ...admin, body: { send: 1 } }],
  ['POST', '/agents/oa-unavailable/check', 502, admin],
  ['POST', '/agents/oa-weather/admit', 200, { ...admin, body: { call: call() } }],
  ['POST', '/agents/oa-weather/admit', 200, { ...admin, body: { call: call('Send'), caller: { scopes: ['call'] } } }],
  ['POST', '/agents/oa-weather/admit', 200, { ...admin, body: { http: { method: 'GET', path: 'tasks/t' } } }],
  ['POST', '/agents/oa-weather/admit', 422, { ...admin, body: {} }],
  ['POST', '/agents/none/admit', 404, { ...admin, body: { call: call() } }],
  ['POST', '/agents/none/check', 404, admin],
  ['GET', '/agents/oa-weather/receipt', 200],
  ['GET', '/agents/oa-weather/receipt', 304, { headers: { 'If-None-Match': '*' } }],
  ['GET', '/agents/oa-weather/badge.svg?show=receipt', 200],
  ['GET', '/agents/oa-weather/observed', 200, admin],
  ['GET', '/agents/none/observed', 404, admin],
  // SuperX
  ['POST', '/rpc', 200, { body: call('agents/list', { includeCard: true }) }],
  ['POST', '/rpc', 200, { body: call('agents/get', { id: 'oa-weather' }) }],
  ['POST', '/rpc', 200, { body: call('agents/get', { id: 'none' }) }],
  ['POST', '/rpc', 400, { body: '{' }],
  ['POST', '/rpc', 401, { body: call('agents/refreshCard', { id: 'oa-relay' }) }],
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
      `/agents/oa-weather/a2a/${path.replace('{taskId}', 't-1')}`,
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

/** Imports a file into another host, and returns the status and what differs from the document. */
const importInto = async (host: Pick<Host, 'fetch'>, body: string): Promise<[status: number, errors: string[]]> => {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' }
  const response = await host.fetch('/import', { method: 'POST', headers, body })
  const answer = { status: response.status, headers: response.headers, text: await response.text() }
  return [answer.status, contract.findResponseErrors('POST', '/import', answer)]
}

/** Reads a stream of events up to its first, and returns what differs from the document. */
const readStream = async (path: string): Promise<string[]> => {
  const url = new URL(`${path}?lastEventId=0`, called.host.url)
  const { status, headers, body } = await fetch(url, { headers: { Authorization: `Bearer ${token}` } })
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (/\ndata: .*\n\n/.test(text)) break
  }
  return [
    ...contract.findResponseErrors('GET', path, { status, headers, text }),
    ...unknownParameters('GET', `${path}?lastEventId=0`),
  ]
}

describe('the answers of the host', () => {
  /** The status of each sample, what it should be, and what differs from the document. */
  const results: [sample: string, status: number, expected: number, errors: string[]][] = []
  const imported: Record<string, [status: number, errors: string[]]> = {}
  const streams: string[][] = []
  beforeAll(async () => {
    for (const [index, [method, path, expected, sent = {}]] of samples.entries()) {
      const target = typeof path === 'string' ? path : path()
      const [status, errors] = await exchange(method, target, typeof sent === 'function' ? sent() : sent)
      results.push([`${index + 1}: ${method} ${target}`, status, expected, errors])
    }
    const target = await startNodeHost()
    imported.broken = await importInto(target, `${seen.export}{}\n`)
    imported.whole = await importInto(target, seen.export)
    for (const path of ['/events', '/agents/oa-weather/events']) streams.push(await readStream(path))
  })

  it('are as the document describes them', () => {
    expect(results.filter(([, status, expected, errors]) => status !== expected || errors.length > 0)).toEqual([])
  })

  it('are so to an import into an empty host', () => {
    expect(contract.findRequestErrors('POST', '/import', 'application/x-ndjson', seen.export)).toEqual([])
    expect(imported).toEqual({ broken: [422, []], whole: [201, []] })
  })

  it('are so to a stream of events, with a change or with a bad id', async () => {
    expect(streams).toEqual([[], []])
    for (const path of ['/events', '/agents/oa-weather/events']) {
      const bad = await called.send(`${path}?lastEventId=a`, { method: 'GET' })
      expect([bad.status, contract.findResponseErrors('GET', path, bad)]).toEqual([400, []])
    }
  })

  it('have a success of each operation where there is one', () => {
    const succeeds = (statuses: ReadonlySet<number>) => [...statuses].some(status => status < 300)
    const unchecked = contract.operationIds.filter(id => !succeeds(contract.checked.get(id) ?? new Set()))
    // That a client has lost the id of the agent is always an error.
    expect(unchecked).toEqual(['getCardWithoutAgent'])
    expect(contract.checked.get('getCardWithoutAgent')).toEqual(new Set([404]))
  })
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

it('answers past a rate limit as the document describes', async () => {
  const anonymous: [method: string, path: string, body?: Json][] = [
    ['POST', '/lint', {}],
    ['POST', '/verify', {}],
    ['POST', '/ard/search', { query: { text: 'a' } }],
    ['POST', '/agents/none/a2a', call()],
    ['POST', '/agents/none/a2a/message:send', {}],
    ['POST', '/rpc', call('agents/list', {})],
    ['GET', '/lint'],
    ['GET', '/agents/none/badge.svg'],
  ]
  for (const [method, path, body] of anonymous) {
    const answer = await exceed(method, path, body === undefined ? {} : { body: JSON.stringify(body) })
    expect(contract.findResponseErrors(method, path, answer)).toEqual([])
  }
  const guessed = await exceed('GET', '/tokens', { headers: { Authorization: 'Bearer wrong' } })
  expect(contract.findResponseErrors('GET', '/tokens', guessed)).toEqual([])
})

describe('the document', () => {
  it('is served as it is made, for caches to keep, as the schema of manifests is', async () => {
    const rows: [path: string, type: string, document: unknown][] = [
      ['/openapi.json', 'application/json', document],
      ['/schema/manifest.json', 'application/schema+json', createManifestSchema()],
    ]
    for (const [path, type, expected] of rows) {
      const response = await called.host.fetch(path, { headers: { Origin: 'https://editor.example' } })
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': type,
        'cache-control': 'public, max-age=3600, stale-while-revalidate=86400',
        'access-control-allow-origin': '*',
        etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
      })
      expect(await response.json()).toEqual(expected)
    }
  })

  it('matches the schema of OpenAPI 3.1', async () => {
    const validator = new Validator()
    expect(await validator.validate(document)).toMatchObject({ valid: true })
    expect(validator.version).toBe('3.1')
    expect(await new Validator().validate({ ...document, paths: { agents: {} } })).toMatchObject({ valid: false })
  })

  it('refers to every schema, and only to schemas that it has', () => {
    const references = new Set(JSON.stringify(document).match(/(?<=#\/components\/schemas\/)[^"]+/g))
    const { schemas } = (document as { components: { schemas: JsonObject } }).components
    expect([...references].sort()).toEqual(Object.keys(schemas).sort())
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

  it('names the tokens, rate limits, responses and members that an operation has', () => {
    expect(document).toMatchObject({
      paths: {
        '/agents/{id}/a2a': { post: { security: [{}, { token: ['call'] }] } },
        '/agents': { get: { security: [{}, { token: ['read'] }] } },
        '/audit': { get: { security: [{ token: ['admin'] }] } },
        '/keys': { get: { 'x-rate-limits': [{ name: 'AUTH_LIMIT', requests: 30 }] } },
        '/import': { post: { 'x-rate-limits': [{ name: 'WRITE_LIMIT' }, { name: 'AUTH_LIMIT' }] } },
      },
      components: {
        schemas: {
          TokenRequest: { additionalProperties: false },
          AgentCard: { required: ['name'] },
          Problem: { properties: { errors: { items: { $ref: '#/components/schemas/Finding' } } } },
        },
      },
    })
    const dialects = ['hybrid', '1.0', 'superx', 'telex', 'shaman', '0.3', 'gopherhole']
    const dialect = expect.objectContaining({ name: 'dialect', schema: { enum: dialects } })
    expect(document).toHaveProperty(['paths', '/agents/{id}', 'get', 'parameters'], expect.arrayContaining([dialect]))
    const { responses } = document.components as { responses: JsonObject }
    expect(Object.values(responses)).toContainEqual({ description: 'The agent has deleted it.' })
  })

  it('describes every parameter, has no empty description, and names every problem', () => {
    const { paths } = document as { paths: Record<string, Record<string, { parameters: JsonObject[] }>> }
    const parameters = Object.values(paths).flatMap(item => Object.values(item).flatMap(each => each.parameters))
    expect(parameters.filter(({ description }) => typeof description !== 'string')).toEqual([])
    const text = JSON.stringify(document)
    expect(text).not.toContain('"description":""')
    // Lines of a batch have two of them, and paths without the method the third.
    const unnamed = ['bad-line', 'batch-refused', 'method-not-allowed']
    expect(Object.keys(problems).filter(code => !text.includes(`\`${code}\``))).toEqual(unnamed)
  })

  it('has the rate limits of wrangler.toml', () => {
    const documented = Object.entries(rateLimits).map(([name, { requests }]) => [name, requests])
    expect(Object.fromEntries(documented)).toEqual(readHostConfig().rateLimits)
  })
})

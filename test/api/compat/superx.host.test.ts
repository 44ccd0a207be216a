import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { type CalledHost, type Received, useSharedHost } from '../../support/called-host.ts'
import { codeOf } from '../../support/calls.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { readSeed } from '../../support/cards/seeds.ts'
import { token as admin, emptyHost } from '../../support/host.ts'
import { json, reply } from '../../support/upstream.ts'

let called: CalledHost
const tokens: Record<string, string> = {}
const seed = readSeed('superx-my-agent')
/** The agent of SuperX's documentation, as lists have it. */
let myAgent: JsonObject
beforeAll(async () => {
  await emptyHost()
  called = await useSharedHost('empty')
  await called.register('my-agent', { card: seed })
  await called.register('sx-plain', { card: minimalCard })
  await called.register('sx-hidden', { card: { ...minimalCard, name: 'hidden_agent' }, visibility: 'internal' })
  // Anyone may read its card, although callers need a token.
  const extended = { description: 'More for authorized callers' }
  await called.register('sx-guarded', { card: minimalCard, extended, callers: 'tokens' })
  for (const [name, scopes, agents] of [
    ['reader', ['read'], ['*']],
    ['writer', ['write'], ['*']],
    ['other writer', ['write'], ['sx-plain']],
    ['other reader', ['read', 'write'], ['sx-plain']],
  ] as const)
    tokens[name] = (await called.issue({ scopes: [...scopes], agents: [...agents] })).token
  myAgent = {
    ...{ id: 'my-agent', name: 'my-agent', protocol: 'a2a', description: seed.description ?? null, version: '1.0.0' },
    url: seed.url ?? null,
    agentCard: { url: `${called.host.url.origin}/agents/my-agent/.well-known/agent-card.json` },
  }
})
afterAll(() => called.close())

const rpc = (method: string, params: Json = {}, token?: string) =>
  called.send('/rpc', { body: { jsonrpc: '2.0', id: 1, method, params }, token })
const getResult = ({ body }: Received) => (body as { result: JsonObject }).result
const getAgents = (response: Received) => getResult(response).agents as JsonObject[]
const getCard = async (id: string, token?: string) =>
  (getResult(await rpc('agents/get', { id }, token)).agent as JsonObject).card as JsonObject
const listIds = async (token?: string) => getAgents(await rpc('agents/list', {}, token)).map(({ id }) => id)
const challengeOf = ({ headers }: Received) => headers.get('www-authenticate')

describe('agents/get', () => {
  it('returns the agent and its card by its id or name, with underscores and upper case letters, as SuperX writes them', async () => {
    for (const [method, params] of [
      ['agents/get', { id: 'my_agent' }],
      ['agents/get', { id: 'my-agent' }],
      ['agents/get', { name: 'MY_AGENT' }],
      ['agents.get', { id: 'My_Agent_' }],
    ] as const) {
      const { status, headers, body } = await rpc(method, params)
      expect([status, body]).toEqual([200, { jsonrpc: '2.0', id: 1, result: { agent: { ...myAgent, card: seed } } }])
      expect([headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual(['no-store', '*'])
    }
  })

  it("returns the extended card of the caller's tier", async () => {
    expect(await getCard('sx-guarded')).toMatchObject({ description: 'Does something useful' })
    expect(await getCard('sx-guarded', tokens.reader)).toMatchObject({ description: 'More for authorized callers' })
  })

  it('does not distinguish internal agents from unknown ones for callers that may not read them', async () => {
    for (const id of ['sx-hidden', 'hidden_agent', 'unknown'])
      for (const token of [undefined, tokens['other reader'], tokens.writer]) {
        const message = `No agent "${id}" exists here. agents/list lists agents.`
        const { status, body } = await rpc('agents/get', { id }, token)
        expect([status, body]).toMatchObject([200, { error: { code: -32001, message, data: { agent: id } } }])
      }
    const { agent } = getResult(await rpc('agents/get', { id: 'hidden_agent' }, tokens.reader))
    expect(agent).toMatchObject({ id: 'sx-hidden' })
  })

  it('rejects parameters without an id or name', async () => {
    const fieldViolations = [{ field: 'id', description: 'must be the id or name of an agent' }]
    const error = {
      message: '`id` must be the id or name of an agent.',
      data: { reason: 'INVALID_PARAMS', fieldViolations },
    }
    for (const params of [{}, { id: '' }, { id: 7 }]) {
      const { status, body } = await rpc('agents/get', params)
      expect([status, body]).toEqual([200, { jsonrpc: '2.0', id: 1, error: { code: -32602, ...error } }])
    }
  })
})

describe('agents/list', () => {
  it('lists the public agents, and the internal agents that the token may read', async () => {
    expect(getAgents(await rpc('agents/list'))[0]).toEqual(myAgent)
    expect(await listIds()).toEqual(['my-agent', 'sx-guarded', 'sx-plain'])
    expect(await listIds(tokens.reader)).toEqual(['my-agent', 'sx-guarded', 'sx-hidden', 'sx-plain'])
    expect(await listIds(tokens['other reader'])).toEqual(['my-agent', 'sx-guarded', 'sx-plain'])
  })

  it('returns the cards too with includeCard', async () => {
    for (const token of [undefined, tokens.reader]) {
      const agents = getAgents(await rpc('agents/list', { includeCard: true }, token))
      expect(agents.length).toBeGreaterThan(2)
      for (const { id, card } of agents) expect(card).toEqual(await getCard(id as string, token))
    }
  })

  it('returns pages', async () => {
    const first = getResult(await rpc('agents/list', { limit: 2 }))
    expect(first).toMatchObject({ agents: [{ id: 'my-agent' }, { id: 'sx-guarded' }], cursor: 'sx-guarded' })
    const second = getResult(await rpc('agents/list', { limit: 2, cursor: 'sx-guarded' }))
    expect([second.cursor, second.agents]).toMatchObject([undefined, [{ id: 'sx-plain' }]])
  })

  it('rejects invalid parameters', async () => {
    for (const params of [{ limit: 0 }, { limit: {} }, { cursor: '..' }, { includeCard: 'yes' }]) {
      const { status, body } = await rpc('agents/list', params)
      expect([params, status, codeOf(body)]).toEqual([params, 200, -32602])
    }
  })

  it('rejects an unknown token, and one without the scope `read`', async () => {
    for (const [token, status, challenge] of [
      ['wrong', 401, 'Bearer realm="calling-card", error="invalid_token"'],
      [tokens.writer, 403, 'Bearer realm="calling-card", error="insufficient_scope", scope="read"'],
    ] as const) {
      const response = await rpc('agents/list', {}, token)
      expect([response.status, codeOf(response.body), challengeOf(response)]).toEqual([status, -32000, challenge])
    }
  })
})

describe('agents/refreshCard', () => {
  const remoteCard = (more: JsonObject = {}): JsonObject => ({ ...minimalCard, name: 'Remote', ...more })
  const serve = (body: Json) => called.agent.respond(reply(200, json, JSON.stringify(body)))
  const registerRemote = (id: string, more: JsonObject = {}) => {
    const { origin } = called.agent
    return called.register(id, { upstream: { card: `${origin}/agent-card.json`, url: `${origin}/a2a`, ...more } })
  }
  const refreshCard = (params: JsonObject, token = tokens.writer) => rpc('agents/refreshCard', params, token)

  it('fetches the card, and returns it with its drift', async () => {
    serve(remoteCard())
    await registerRemote('sx-remote')
    serve(remoteCard({ description: 'Does something else' }))
    const card = { name: 'Remote', description: 'Does something else' }
    const drift = [{ op: 'replace', pointer: '/description' }]
    expect(getResult(await refreshCard({ id: 'sx-remote' }))).toMatchObject({
      ...{ id: 'sx-remote', name: 'sx-remote', refreshed: true, outcome: 'refreshed', drift, card },
    })
    const again = getResult(await refreshCard({ name: 'Remote' }))
    expect(again).toMatchObject({ refreshed: true, outcome: 'unchanged', card })
  })

  it('returns what a card widens that its owner must accept', async () => {
    serve(remoteCard())
    await registerRemote('sx-pinned', { pin: true })
    serve(remoteCard({ url: 'https://other.example.com/a2a', iconUrl: 'https://other.example.com/icon.png' }))
    expect(getResult(await refreshCard({ id: 'sx-pinned' }))).toMatchObject({
      ...{ refreshed: false, outcome: 'pending', card: { name: 'Remote' } },
      pending: { etag: expect.any(String), widens: [expect.anything()], drift: expect.any(Array) },
    })
  })

  it('reports to the owner why the card could not be fetched', async () => {
    serve(remoteCard())
    await registerRemote('sx-failing')
    serve([])
    const data = { agent: 'sx-failing', status: 502, code: 'invalid-card' }
    const failed = await refreshCard({ id: 'sx-failing' })
    expect(failed).toMatchObject({ status: 502, body: { error: { code: -32099, data } } })
    expect(await getCard('sx-failing')).toMatchObject({ name: 'Remote' })
  })

  it('fetches a card that was never fetched, for which every endpoint returned 502 before', async () => {
    serve({ error: 'down' })
    await registerRemote('sx-missing')
    for (const path of ['/agents/sx-missing', '/a2a/v1/agents/sx-missing'])
      expect((await called.send(path, { method: 'GET' })).status).toBe(502)
    expect(await rpc('agents/get', { id: 'sx-missing' })).toMatchObject({
      ...{ status: 502, body: { error: { code: -32099, data: { agent: 'sx-missing', status: 502 } } } },
    })
    const findListed = async (token?: string) =>
      getAgents(await rpc('agents/list', { includeCard: true }, token)).find(({ id }) => id === 'sx-missing')
    expect(await findListed()).toBeUndefined()
    expect(await findListed(tokens.reader)).toMatchObject({ id: 'sx-missing', card: null })
    serve(remoteCard())
    const refreshed = getResult(await refreshCard({ id: 'sx-missing' }))
    expect(refreshed).toMatchObject({ refreshed: true, card: { name: 'Remote' } })
    expect((await called.send('/a2a/v1/agents/sx-missing', { method: 'GET' })).status).toBe(200)
  })

  it('refreshes nothing for an agent with a card in its manifest', async () => {
    expect(getResult(await refreshCard({ id: 'sx-plain' }))).toMatchObject({
      ...{ id: 'sx-plain', refreshed: false, outcome: 'no-source', card: { name: 'My Agent' } },
    })
  })

  it('is rejected without permission, which is in the audit, unlike an error of other methods', async () => {
    const noToken = { actor: 'anonymous', details: { code: 'no-token', status: 401 } }
    const forbidden = { details: { code: 'forbidden', status: 403 } }
    const notFound = { details: { code: 'agent-not-found', status: 404 } }
    const scope = 'scope="write"'
    const newestEntry = async () => (await called.send('/audit?limit=1', { method: 'GET', token: admin })).body
    const rows: [string | undefined, id: string, number, code: number, challenge: string | undefined, entry: object][] =
      [
        [undefined, 'sx-plain', 401, -32000, 'realm', noToken],
        ['reader', 'sx-plain', 403, -32000, scope, forbidden],
        ['other writer', 'my-agent', 403, -32000, scope, { agent: 'my-agent', ...forbidden }],
        ['other reader', 'sx-hidden', 200, -32001, undefined, notFound],
        ['writer', 'nobody', 200, -32001, undefined, { agent: 'nobody', ...notFound }],
      ]
    for (const [name, id, status, code, challenge, entry] of rows) {
      const response = await rpc('agents/refreshCard', { id }, name && tokens[name])
      expect([name, id, response.status, codeOf(response.body)]).toEqual([name, id, status, code])
      if (challenge !== undefined) expect(challengeOf(response)).toContain(challenge)
      expect(await newestEntry()).toMatchObject({ entries: [{ what: 'write-refused', ...entry }] })
    }
    const before = await newestEntry()
    await rpc('agents/get', { id: 'nobody' })
    expect(await newestEntry()).toEqual(before)
  })
})

describe('POST /rpc', () => {
  const sendRaw = (body: Json | Uint8Array) => called.send('/rpc', { body, headers: json })

  it('rejects what is no call of a method', async () => {
    const call = { jsonrpc: '2.0', id: 1 }
    const rows: [string, Json | Uint8Array, status: number, code: number][] = [
      ['invalid JSON', new TextEncoder().encode('{'), 400, -32700],
      ['a batch', [{ ...call, method: 'agents/list' }], 200, -32600],
      ['a notification', { jsonrpc: '2.0', method: 'agents/list' }, 200, -32600],
      ['parameters by position', { ...call, method: 'agents/get', params: ['sx-plain'] }, 200, -32602],
      ['an unknown method', { ...call, method: 'agents/delete', params: { id: 'sx-plain' } }, 200, -32601],
      ['a property of Object.prototype', { ...call, method: 'constructor' }, 200, -32601],
    ]
    for (const [what, sent, status, code] of rows) {
      const { headers, body, ...response } = await sendRaw(sent)
      const found = [what, response.status, codeOf(body), headers.get('content-type')]
      expect(found).toEqual([what, status, code, 'application/json'])
    }
  })

  it('accepts only JSON, up to the size of a call', async () => {
    const text = await called.send('/rpc', { body: 'agents/list', headers: { 'Content-Type': 'text/plain' } })
    expect(text.status).toBe(415)
    expect((await rpc('agents/list', { pad: 'x'.repeat(4 * 1024 * 1024) })).status).toBe(413)
  })

  it('logs one line per request, without text from the client', async () => {
    await rpc('agents/get', { id: 'my_agent' }, tokens.reader)
    await rpc('agents/get', { id: 'secret-words' })
    await rpc('secret/words')
    const lines = called.host.logged().filter(line => line.includes('"event":"rpc"'))
    const line = { event: 'rpc', 'http.response.status_code': 200, 'calling_card.duration_ms': expect.any(Number) }
    const [caller, get] = [{ 'calling_card.caller': 'anonymous' }, { 'rpc.method': 'agents/get' }]
    expect(lines.slice(-3).map(text => JSON.parse(text))).toEqual([
      { ...line, ...get, 'gen_ai.agent.id': 'my-agent', 'calling_card.caller': expect.stringMatching(/^token:/) },
      { ...line, ...get, ...caller, 'error.type': 'unknown-agent' },
      { ...line, ...caller, 'error.type': 'method' },
    ])
    expect(called.host.logged().join()).not.toMatch(/secret.words/)
  })

  it('accepts numbers however JSON writes them', async () => {
    for (const [params, reason] of [
      ['{"limit": 1e1}', undefined],
      ['{"limit": 1, "cursor": 1e3}', undefined],
      ['{"limit": 10.5}', 'bad-limit'],
      ['{"limit": [1e3]}', 'bad-limit'],
      ['{"cursor": {"a": 1.0}}', 'bad-cursor'],
    ] as const) {
      const { body } = await sendRaw(`{"jsonrpc": "2.0", "id": 1, "method": "agents/list", "params": ${params}}`)
      const error = { error: { code: -32602, data: { reason } } }
      expect(body, params).toMatchObject(reason ? error : { result: { agents: expect.any(Array) } })
    }
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { type CalledHost, type Received, startCalledHost } from '../../support/called-host.ts'
import { codeOf } from '../../support/calls.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { readSeed } from '../../support/cards/seeds.ts'
import { token as admin } from '../../support/host.ts'
import { reply } from '../../support/upstream.ts'

let called: CalledHost
const tokens: Record<string, string> = {}
beforeAll(async () => {
  called = await startCalledHost({ PUBLIC_URL: 'https://superx.local' })
  await called.register('my-agent', { card: readSeed('superx-my-agent') })
  await called.register('plain', { card: minimalCard })
  await called.register('hidden', { card: { ...minimalCard, name: 'hidden_agent' }, visibility: 'internal' })
  // Anyone may read its card, although callers need a token.
  const extended = { description: 'More for authorized callers' }
  await called.register('guarded', { card: minimalCard, extended, callers: 'tokens' })
  for (const [name, scopes, agents] of [
    ['reader', ['read'], ['*']],
    ['writer', ['write'], ['*']],
    ['other writer', ['write'], ['plain']],
    ['other reader', ['read', 'write'], ['plain']],
  ] as const)
    tokens[name] = (await called.issue({ scopes: [...scopes], agents: [...agents] })).token
})
afterAll(() => called.close())

const rpc = (method: string, params: Json = {}, token?: string) =>
  called.send('/rpc', { body: { jsonrpc: '2.0', id: 1, method, params }, token })
const getResult = ({ body }: Received) => (body as { result: JsonObject }).result
const getError = ({ body }: Received) => (body as { error: { code: number; message: string; data: JsonObject } }).error
const getAgents = (response: Received) => getResult(response).agents as JsonObject[]

describe('agents/get', () => {
  it('finds an agent by an id with underscores and upper case letters, as SuperX writes them', async () => {
    expect(getResult(await rpc('agents/get', { id: 'Plain_' })).agent).toMatchObject({ id: 'plain' })
  })

  it.each([
    ['agents/get', { id: 'my_agent' }],
    ['agents/get', { id: 'my-agent' }],
    ['agents/get', { name: 'MY_AGENT' }],
    ['agents.get', { id: 'my_agent' }],
  ])('returns the agent and its card for %s %j', async (method, params) => {
    const response = await rpc(method, params)
    const card = readSeed('superx-my-agent')
    expect([response.status, response.body]).toEqual([
      200,
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          agent: {
            id: 'my-agent',
            name: 'my-agent',
            protocol: 'a2a',
            description: card.description,
            version: '1.0.0',
            url: card.url,
            agentCard: { url: 'https://superx.local/agents/my-agent/.well-known/agent-card.json' },
            card,
          },
        },
      },
    ])
    expect([response.headers.get('cache-control'), response.headers.get('access-control-allow-origin')]).toEqual([
      'no-store',
      '*',
    ])
  })

  it('returns agents of every dialect', async () => {
    const { card } = getResult(await rpc('agents/get', { id: 'plain' })).agent as { card: JsonObject }
    expect(card).toEqual((await called.send('/agents/plain?dialect=superx', { method: 'GET' })).body)
  })

  it("returns the extended card of the caller's tier", async () => {
    const getDescription = async (token?: string) =>
      (getResult(await rpc('agents/get', { id: 'guarded' }, token)).agent as { card: JsonObject }).card.description
    expect([await getDescription(), await getDescription(tokens.reader)]).toEqual([
      'Does something useful',
      'More for authorized callers',
    ])
  })

  it('does not distinguish internal agents from unknown ones for callers that may not read them', async () => {
    for (const id of ['hidden', 'hidden_agent', 'unknown'])
      for (const token of [undefined, tokens['other reader'], tokens.writer]) {
        const response = await rpc('agents/get', { id }, token)
        expect([response.status, getError(response)]).toEqual([
          200,
          {
            code: -32001,
            message: `No agent "${id}" exists here. agents/list lists agents.`,
            data: { agent: id },
          },
        ])
      }
    expect(getResult(await rpc('agents/get', { id: 'hidden_agent' }, tokens.reader)).agent).toMatchObject({
      id: 'hidden',
    })
  })

  it.each([{}, { id: '' }, { id: 7 }, { name: null }, { id: ['plain'] }])('rejects the parameters %j', async params => {
    const response = await rpc('agents/get', params)
    expect([response.status, getError(response)]).toEqual([
      200,
      {
        code: -32602,
        message: '`id` must be the id or name of an agent.',
        data: {
          reason: 'INVALID_PARAMS',
          fieldViolations: [{ field: 'id', description: 'must be the id or name of an agent' }],
        },
      },
    ])
  })

  it('rejects an invalid token', async () => {
    const response = await rpc('agents/get', { id: 'plain' }, `${tokens.reader}x`)
    expect([response.status, codeOf(response.body), response.headers.get('www-authenticate')]).toEqual([
      401,
      -32000,
      'Bearer realm="a2a", error="invalid_token"',
    ])
  })
})

describe('agents/list', () => {
  it('lists the public agents', async () => {
    const response = await rpc('agents/list')
    expect(getAgents(response).map(({ id }) => id)).toEqual(['guarded', 'my-agent', 'plain'])
    expect(getAgents(response)[1]).toEqual({
      id: 'my-agent',
      name: 'my-agent',
      protocol: 'a2a',
      description: readSeed('superx-my-agent').description,
      version: '1.0.0',
      url: readSeed('superx-my-agent').url,
      agentCard: { url: 'https://superx.local/agents/my-agent/.well-known/agent-card.json' },
    })
  })

  it('lists the internal agents that the token may read', async () => {
    const listIds = async (token?: string) => getAgents(await rpc('agents/list', {}, token)).map(({ id }) => id)
    expect(await listIds(tokens.reader)).toEqual(['guarded', 'hidden', 'my-agent', 'plain'])
    expect(await listIds(tokens['other reader'])).toEqual(['guarded', 'my-agent', 'plain'])
  })

  it('returns the cards too with includeCard', async () => {
    for (const token of [undefined, tokens.reader])
      for (const { id, card } of getAgents(await rpc('agents/list', { includeCard: true }, token)))
        expect(card).toEqual((getResult(await rpc('agents/get', { id: id as string }, token)).agent as JsonObject).card)
  })

  it('returns pages', async () => {
    const first = getResult(await rpc('agents/list', { limit: 2 }))
    expect(first).toMatchObject({ agents: [{ id: 'guarded' }, { id: 'my-agent' }], cursor: 'my-agent' })
    const second = getResult(await rpc('agents/list', { limit: 2, cursor: 'my-agent' }))
    expect(second).toMatchObject({ agents: [{ id: 'plain' }] })
    expect(second.cursor).toBeUndefined()
  })

  it('shows changes at once', async () => {
    await rpc('agents/list')
    await called.register('late', { card: minimalCard })
    expect(getAgents(await rpc('agents/list')).map(({ id }) => id)).toContain('late')
    await called.send('/agents/late', { method: 'DELETE', token: admin })
    expect(getAgents(await rpc('agents/list')).map(({ id }) => id)).not.toContain('late')
  })

  it.each([{ limit: 0 }, { limit: 'many' }, { limit: {} }, { cursor: '..' }, { includeCard: 'yes' }])(
    'rejects %j',
    async params => {
      const response = await rpc('agents/list', params)
      expect([response.status, codeOf(response.body)]).toEqual([200, -32602])
    },
  )

  it.each([
    ['wrong', 401, 'Bearer realm="calling-card", error="invalid_token"'],
    ['writer', 403, 'Bearer realm="calling-card", error="insufficient_scope", scope="read"'],
  ])('rejects a token: %s', async (name, status, challenge) => {
    const response = await rpc('agents/list', {}, tokens[name] ?? name)
    expect([response.status, codeOf(response.body), response.headers.get('www-authenticate')]).toEqual([
      status,
      -32000,
      challenge,
    ])
  })
})

describe('agents/refreshCard', () => {
  const remoteCard = (more: JsonObject = {}): JsonObject => ({ ...minimalCard, name: 'Remote', ...more })
  const serve = (body: Json) =>
    called.agent.respond(reply(200, { 'Content-Type': 'application/json' }, JSON.stringify(body)))
  const remoteManifest = () => ({
    upstream: { card: `${called.agent.origin}/.well-known/agent-card.json`, url: `${called.agent.origin}/a2a` },
  })

  it('fetches the card, and returns it with its drift', async () => {
    serve(remoteCard())
    await called.register('remote', remoteManifest())
    serve(remoteCard({ description: 'Does something else' }))
    const result = getResult(await rpc('agents/refreshCard', { id: 'remote' }, tokens.writer))
    expect(result).toMatchObject({
      id: 'remote',
      name: 'remote',
      refreshed: true,
      outcome: 'refreshed',
      drift: [{ op: 'replace', pointer: '/description' }],
      card: { name: 'Remote', description: 'Does something else' },
    })
    expect(getResult(await rpc('agents/refreshCard', { name: 'Remote' }, tokens.writer))).toMatchObject({
      refreshed: true,
      outcome: 'unchanged',
      card: { description: 'Does something else' },
    })
  })

  it('reports to the owner why the card could not be fetched', async () => {
    serve(remoteCard())
    await called.register('failing', remoteManifest())
    serve([])
    const response = await rpc('agents/refreshCard', { id: 'failing' }, tokens.writer)
    expect([response.status, getError(response)]).toMatchObject([
      502,
      { code: -32099, data: { agent: 'failing', status: 502, code: 'invalid-card' } },
    ])
    expect(getResult(await rpc('agents/get', { id: 'failing' })).agent).toMatchObject({ card: { name: 'Remote' } })
  })

  it('fetches a card that was never fetched, for which every endpoint returned 502 before', async () => {
    serve({ error: 'down' })
    await called.register('card-missing', remoteManifest())
    expect((await called.send('/agents/card-missing', { method: 'GET' })).status).toBe(502)
    expect((await called.send('/a2a/v1/agents/card-missing', { method: 'GET' })).status).toBe(502)
    const agent = await rpc('agents/get', { id: 'card-missing' })
    expect([agent.status, getError(agent)]).toMatchObject([
      502,
      { code: -32099, data: { agent: 'card-missing', status: 502 } },
    ])
    const findListed = async (token?: string) =>
      getAgents(await rpc('agents/list', { includeCard: true }, token)).find(({ id }) => id === 'card-missing')
    expect([await findListed(), await findListed(tokens.reader)]).toMatchObject([
      undefined,
      { id: 'card-missing', card: null },
    ])
    serve(remoteCard())
    expect(getResult(await rpc('agents/refreshCard', { id: 'card-missing' }, tokens.writer))).toMatchObject({
      refreshed: true,
      card: { name: 'Remote' },
    })
    expect((await called.send('/a2a/v1/agents/card-missing', { method: 'GET' })).status).toBe(200)
  })

  it('refreshes nothing for an agent with a card in its manifest', async () => {
    expect(getResult(await rpc('agents/refreshCard', { id: 'plain' }, tokens.writer))).toMatchObject({
      id: 'plain',
      refreshed: false,
      outcome: 'no-source',
      card: { name: 'My Agent' },
    })
  })

  it.each([
    ['without a token', undefined, 'plain', 401, -32000],
    ['with an invalid token', 'wrong', 'plain', 401, -32000],
    ['with the scope read', 'reader', 'plain', 403, -32000],
    ['with a token for another agent', 'other writer', 'my-agent', 403, -32000],
    ['with a token for another agent than the internal one', 'other reader', 'hidden', 200, -32001],
    ['for an unknown agent', 'writer', 'unknown', 200, -32001],
    ['for an unknown agent, without a token', undefined, 'unknown', 401, -32000],
  ])('is rejected %s', async (_, name, id, status, code) => {
    const response = await rpc('agents/refreshCard', { id }, name && (tokens[name] ?? name))
    expect([response.status, codeOf(response.body)]).toEqual([status, code])
    if (status !== 200)
      expect(response.headers.get('www-authenticate')).toContain(
        { wrong: 'invalid_token', undefined: 'realm' }[String(name)] ?? 'scope="write"',
      )
  })
})

describe('a refused agents/refreshCard', () => {
  it.each([
    ['without a token', undefined, 'plain', { actor: 'anonymous', details: { code: 'no-token', status: 401 } }],
    ['without the scope', 'reader', 'plain', { details: { code: 'forbidden', status: 403 } }],
    [
      'of another agent',
      'other writer',
      'my-agent',
      { agent: 'my-agent', details: { code: 'forbidden', status: 403 } },
    ],
    ['of an unknown agent', 'writer', 'nobody', { agent: 'nobody', details: { code: 'agent-not-found', status: 404 } }],
  ])('%s is in the audit', async (_, name, id, entry) => {
    await rpc('agents/refreshCard', { id }, name && tokens[name])
    const { body } = await called.send('/audit?limit=1', { method: 'GET', token: admin })
    expect(body).toMatchObject({ entries: [{ what: 'write-refused', ...entry }] })
  })

  it('is there only if it is a write', async () => {
    const newest = async () => (await called.send('/audit?limit=1', { method: 'GET', token: admin })).body
    const before = await newest()
    await rpc('agents/get', { id: 'nobody' })
    await rpc('agents/list', { limit: 0 })
    await rpc('agents/refreshCard', { id: 'plain' }, tokens.writer)
    expect(await newest()).toEqual(before)
  })
})

describe('POST /rpc', () => {
  it.each<[string, Json | Uint8Array, number, number]>([
    ['invalid JSON', new TextEncoder().encode('{'), 400, -32700],
    ['invalid UTF-8', new Uint8Array([0xff]), 400, -32700],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'agents/list' }], 200, -32600],
    ['a notification', { jsonrpc: '2.0', method: 'agents/list' }, 200, -32600],
    ['a request without a version', { id: 1, method: 'agents/list' }, 200, -32600],
    ['a request without a method', { jsonrpc: '2.0', id: 1 }, 200, -32600],
    ['parameters by position', { jsonrpc: '2.0', id: 1, method: 'agents/get', params: ['plain'] }, 200, -32602],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'agents/delete', params: { id: 'plain' } }, 200, -32601],
    ['a method of A2A', { jsonrpc: '2.0', id: 1, method: 'message/send' }, 200, -32601],
    ['a property of Object.prototype', { jsonrpc: '2.0', id: 1, method: 'constructor' }, 200, -32601],
  ])('rejects %s', async (_, body, status, code) => {
    const response = await called.send('/rpc', { body, headers: { 'Content-Type': 'application/json' } })
    expect([response.status, codeOf(response.body)]).toEqual([status, code])
    expect(response.headers.get('content-type')).toBe('application/json')
  })

  it('accepts only JSON, up to the size of a call', async () => {
    const text = await called.send('/rpc', { body: 'agents/list', headers: { 'Content-Type': 'text/plain' } })
    expect(text.status).toBe(415)
    const long = { jsonrpc: '2.0', id: 1, method: 'agents/list', params: { pad: 'x'.repeat(4 * 1024 * 1024) } }
    expect((await called.send('/rpc', { body: long })).status).toBe(413)
  })

  it.each(['a', 0, '', null])('returns the id of the request: %j', async id => {
    const { body } = await called.send('/rpc', { body: { jsonrpc: '2.0', id, method: 'agents/list' } })
    expect(body).toMatchObject({ jsonrpc: '2.0', id })
  })

  it('logs one line per request, without text from the client', async () => {
    await rpc('agents/get', { id: 'my_agent' }, tokens.reader)
    await rpc('agents/get', { id: 'secret-words' })
    await rpc('secret/words')
    const lines = called.host
      .logged()
      .filter(line => line.includes('"event":"rpc"'))
      .slice(-3)
      .map(line => JSON.parse(line))
    const line = { event: 'rpc', 'http.response.status_code': 200, 'calling_card.duration_ms': expect.any(Number) }
    expect(lines).toEqual([
      {
        ...line,
        'gen_ai.agent.id': 'my-agent',
        'rpc.method': 'agents/get',
        'calling_card.caller': expect.stringMatching(/^token:/),
      },
      { ...line, 'rpc.method': 'agents/get', 'calling_card.caller': 'anonymous', 'error.type': 'unknown-agent' },
      { ...line, 'calling_card.caller': 'anonymous', 'error.type': 'method' },
    ])
    expect(called.host.logged().join()).not.toMatch(/secret.words/)
  })

  it.each([
    ['{"limit": 10.0}', undefined],
    ['{"limit": 1e1}', undefined],
    ['{"limit": 1, "cursor": 1e3}', undefined],
    ['{"limit": 10.5}', 'bad-limit'],
    ['{"limit": [1e3]}', 'bad-limit'],
    ['{"limit": {"a": 1.0}}', 'bad-limit'],
    ['{"limit": 123456789012345678901}', 'bad-limit'],
    ['{"cursor": {"a": 1.0}}', 'bad-cursor'],
  ])('accepts numbers however JSON writes them: agents/list %s', async (params, reason) => {
    const text = `{"jsonrpc": "2.0", "id": 1, "method": "agents/list", "params": ${params}}`
    const { status, body } = await called.send('/rpc', { body: text, headers: { 'Content-Type': 'application/json' } })
    expect([status, body]).toMatchObject([
      200,
      reason ? { error: { code: -32602, data: { reason } } } : { result: { agents: expect.any(Array) } },
    ])
  })
})

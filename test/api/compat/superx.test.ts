import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { type CalledHost, type Received, startCalledHost } from '../../support/called-host.ts'
import { codeOf } from '../../support/calls.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { seed } from '../../support/cards/seeds.ts'
import { token as admin } from '../../support/host.ts'
import { reply } from '../../support/upstream.ts'

let called: CalledHost
const tokens: Record<string, string> = {}
beforeAll(async () => {
  called = await startCalledHost({ PUBLIC_URL: 'https://superx.local' })
  await called.register('my-agent', { card: seed('superx-my-agent') })
  await called.register('plain', { card: minimalCard })
  await called.register('hidden', { card: { ...minimalCard, name: 'hidden_agent' }, visibility: 'internal' })
  await called.register('guarded', { card: minimalCard, extended: { description: 'More for those who may' } })
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
const resultOf = ({ body }: Received) => (body as { result: JsonObject }).result
const errorOf = ({ body }: Received) => (body as { error: { code: number; message: string; data: JsonObject } }).error
const agentsOf = (came: Received) => resultOf(came).agents as JsonObject[]

describe('agents/get', () => {
  it('finds an agent by an id that is spelt as SuperX spells them', async () => {
    expect(resultOf(await rpc('agents/get', { id: 'Plain_' })).agent).toMatchObject({ id: 'plain' })
  })

  it.each([
    ['agents/get', { id: 'my_agent' }],
    ['agents/get', { id: 'my-agent' }],
    ['agents/get', { name: 'MY_AGENT' }],
    ['agents.get', { id: 'my_agent' }],
  ])('answers %s %j with the agent and its card', async (method, params) => {
    const came = await rpc(method, params)
    const card = seed('superx-my-agent')
    expect([came.status, came.body]).toEqual([
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
    expect([came.headers.get('cache-control'), came.headers.get('access-control-allow-origin')]).toEqual([
      'no-store',
      '*',
    ])
  })

  it('is about agents of every dialect', async () => {
    const { card } = resultOf(await rpc('agents/get', { id: 'plain' })).agent as { card: JsonObject }
    expect(card).toEqual((await called.send('/agents/plain?dialect=superx', { method: 'GET' })).body)
  })

  it('gives a token the extended card that is its own', async () => {
    const described = async (token?: string) =>
      (resultOf(await rpc('agents/get', { id: 'guarded' }, token)).agent as { card: JsonObject }).card.description
    expect([await described(), await described(tokens.reader)]).toEqual([
      'Does something useful',
      'More for those who may',
    ])
  })

  it('tells an internal agent from none to nobody who may not read it', async () => {
    for (const id of ['hidden', 'hidden_agent', 'nobody'])
      for (const token of [undefined, tokens['other reader'], tokens.writer]) {
        const came = await rpc('agents/get', { id }, token)
        expect([came.status, errorOf(came)]).toEqual([
          200,
          {
            code: -32001,
            message: `No agent "${id}" exists here. agents/list lists agents.`,
            data: { agent: id },
          },
        ])
      }
    expect(resultOf(await rpc('agents/get', { id: 'hidden_agent' }, tokens.reader)).agent).toMatchObject({
      id: 'hidden',
    })
  })

  it.each([{}, { id: '' }, { id: 7 }, { name: null }, { id: ['plain'] }])(
    'says of %j what is missing',
    async params => {
      const came = await rpc('agents/get', params)
      expect([came.status, errorOf(came)]).toEqual([
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
    },
  )

  it('refuses a token that does not hold', async () => {
    const came = await rpc('agents/get', { id: 'plain' }, `${tokens.reader}x`)
    expect([came.status, codeOf(came.body), came.headers.get('www-authenticate')]).toEqual([
      401,
      -32000,
      'Bearer realm="a2a", error="invalid_token"',
    ])
  })
})

describe('agents/list', () => {
  it('lists the public agents', async () => {
    const came = await rpc('agents/list')
    expect(agentsOf(came).map(({ id }) => id)).toEqual(['guarded', 'my-agent', 'plain'])
    expect(agentsOf(came)[1]).toEqual({
      id: 'my-agent',
      name: 'my-agent',
      protocol: 'a2a',
      description: seed('superx-my-agent').description,
      version: '1.0.0',
      url: seed('superx-my-agent').url,
      agentCard: { url: 'https://superx.local/agents/my-agent/.well-known/agent-card.json' },
    })
  })

  it('shows a token the internal ones that it may read', async () => {
    const ids = async (token?: string) => agentsOf(await rpc('agents/list', {}, token)).map(({ id }) => id)
    expect(await ids(tokens.reader)).toEqual(['guarded', 'hidden', 'my-agent', 'plain'])
    expect(await ids(tokens['other reader'])).toEqual(['guarded', 'my-agent', 'plain'])
  })

  it('tells the cards too where it is asked to', async () => {
    for (const token of [undefined, tokens.reader])
      for (const { id, card } of agentsOf(await rpc('agents/list', { includeCard: true }, token)))
        expect(card).toEqual((resultOf(await rpc('agents/get', { id: id as string }, token)).agent as JsonObject).card)
  })

  it('goes page by page', async () => {
    const first = resultOf(await rpc('agents/list', { limit: 2 }))
    expect(first).toMatchObject({ agents: [{ id: 'guarded' }, { id: 'my-agent' }], cursor: 'my-agent' })
    const second = resultOf(await rpc('agents/list', { limit: 2, cursor: 'my-agent' }))
    expect(second).toMatchObject({ agents: [{ id: 'plain' }] })
    expect(second.cursor).toBeUndefined()
  })

  it('shows at once what was just written', async () => {
    await rpc('agents/list')
    await called.register('late', { card: minimalCard })
    expect(agentsOf(await rpc('agents/list')).map(({ id }) => id)).toContain('late')
    await called.send('/agents/late', { method: 'DELETE', token: admin })
    expect(agentsOf(await rpc('agents/list')).map(({ id }) => id)).not.toContain('late')
  })

  it.each([{ limit: 0 }, { limit: 'many' }, { limit: {} }, { cursor: '..' }, { includeCard: 'yes' }])(
    'refuses %j',
    async params => {
      const came = await rpc('agents/list', params)
      expect([came.status, codeOf(came.body)]).toEqual([200, -32602])
    },
  )

  it.each([
    ['wrong', 401, 'Bearer realm="calling-card", error="invalid_token"'],
    ['writer', 403, 'Bearer realm="calling-card", error="insufficient_scope", scope="read"'],
  ])('refuses a token that is %s', async (name, status, challenge) => {
    const came = await rpc('agents/list', {}, tokens[name] ?? name)
    expect([came.status, codeOf(came.body), came.headers.get('www-authenticate')]).toEqual([status, -32000, challenge])
  })
})

describe('agents/refreshCard', () => {
  const card = (more: JsonObject = {}): JsonObject => ({ ...minimalCard, name: 'Remote', ...more })
  const answers = (body: Json) =>
    called.agent.respond(reply(200, { 'Content-Type': 'application/json' }, JSON.stringify(body)))
  const remote = () => ({
    upstream: { card: `${called.agent.origin}/.well-known/agent-card.json`, url: `${called.agent.origin}/a2a` },
  })

  it('reads the card again, and tells it and what has changed', async () => {
    answers(card())
    await called.register('remote', remote())
    answers(card({ description: 'Does something else' }))
    const result = resultOf(await rpc('agents/refreshCard', { id: 'remote' }, tokens.writer))
    expect(result).toMatchObject({
      id: 'remote',
      name: 'remote',
      refreshed: true,
      outcome: 'refreshed',
      drift: [{ op: 'replace', pointer: '/description' }],
      card: { name: 'Remote', description: 'Does something else' },
    })
    expect(resultOf(await rpc('agents/refreshCard', { name: 'Remote' }, tokens.writer))).toMatchObject({
      refreshed: true,
      outcome: 'unchanged',
      card: { description: 'Does something else' },
    })
  })

  it('tells the owner why the card cannot be had', async () => {
    answers(card())
    await called.register('failing', remote())
    answers([])
    const came = await rpc('agents/refreshCard', { id: 'failing' }, tokens.writer)
    expect([came.status, errorOf(came)]).toMatchObject([
      502,
      { code: -32099, data: { agent: 'failing', status: 502, code: 'invalid-card' } },
    ])
    expect(resultOf(await rpc('agents/get', { id: 'failing' })).agent).toMatchObject({ card: { name: 'Remote' } })
  })

  it('heals an agent whose card never came, of which every door says the same until then', async () => {
    answers({ error: 'down' })
    await called.register('never', remote())
    expect((await called.send('/agents/never', { method: 'GET' })).status).toBe(502)
    expect((await called.send('/a2a/v1/agents/never', { method: 'GET' })).status).toBe(502)
    const got = await rpc('agents/get', { id: 'never' })
    expect([got.status, errorOf(got)]).toMatchObject([502, { code: -32099, data: { agent: 'never', status: 502 } }])
    const listed = async (token?: string) =>
      agentsOf(await rpc('agents/list', { includeCard: true }, token)).find(({ id }) => id === 'never')
    expect([await listed(), await listed(tokens.reader)]).toMatchObject([undefined, { id: 'never', card: null }])
    answers(card())
    expect(resultOf(await rpc('agents/refreshCard', { id: 'never' }, tokens.writer))).toMatchObject({
      refreshed: true,
      card: { name: 'Remote' },
    })
    expect((await called.send('/a2a/v1/agents/never', { method: 'GET' })).status).toBe(200)
  })

  it('says that nothing was refreshed where the owner wrote the card', async () => {
    expect(resultOf(await rpc('agents/refreshCard', { id: 'plain' }, tokens.writer))).toMatchObject({
      id: 'plain',
      refreshed: false,
      outcome: 'no-source',
      card: { name: 'My Agent' },
    })
  })

  it.each([
    ['without a token', undefined, 'plain', 401, -32000],
    ['with a token that does not hold', 'wrong', 'plain', 401, -32000],
    ['with one that may only read', 'reader', 'plain', 403, -32000],
    ['of an agent that it is not for', 'other writer', 'my-agent', 403, -32000],
    ['of an internal agent that it is not for', 'other reader', 'hidden', 200, -32001],
    ['of none', 'writer', 'nobody', 200, -32001],
    ['of none, without a token', undefined, 'nobody', 401, -32000],
  ])('is refused %s', async (_, name, id, status, code) => {
    const came = await rpc('agents/refreshCard', { id }, name && (tokens[name] ?? name))
    expect([came.status, codeOf(came.body)]).toEqual([status, code])
    if (status !== 200)
      expect(came.headers.get('www-authenticate')).toContain(
        { wrong: 'invalid_token', undefined: 'realm' }[String(name)] ?? 'scope="write"',
      )
  })
})

describe('POST /rpc', () => {
  it.each<[string, Json | Uint8Array, number, number]>([
    ['no JSON', new TextEncoder().encode('{'), 400, -32700],
    ['no text', new Uint8Array([0xff]), 400, -32700],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'agents/list' }], 400, -32600],
    ['a notification', { jsonrpc: '2.0', method: 'agents/list' }, 400, -32600],
    ['no JSON-RPC', { id: 1, method: 'agents/list' }, 400, -32600],
    ['no method', { jsonrpc: '2.0', id: 1 }, 400, -32600],
    ['parameters by position', { jsonrpc: '2.0', id: 1, method: 'agents/get', params: ['plain'] }, 200, -32602],
    ['another method', { jsonrpc: '2.0', id: 1, method: 'agents/delete', params: { id: 'plain' } }, 200, -32601],
    ["an agent's method", { jsonrpc: '2.0', id: 1, method: 'message/send' }, 200, -32601],
    ['a name of every object', { jsonrpc: '2.0', id: 1, method: 'constructor' }, 200, -32601],
  ])('refuses %s', async (_, body, status, code) => {
    const came = await called.send('/rpc', { body, headers: { 'Content-Type': 'application/json' } })
    expect([came.status, codeOf(came.body)]).toEqual([status, code])
    expect(came.headers.get('content-type')).toBe('application/json')
  })

  it('takes JSON alone, and no more of it than a call may be', async () => {
    const text = await called.send('/rpc', { body: 'agents/list', headers: { 'Content-Type': 'text/plain' } })
    expect(text.status).toBe(415)
    const long = { jsonrpc: '2.0', id: 1, method: 'agents/list', params: { pad: 'x'.repeat(4 * 1024 * 1024) } }
    expect((await called.send('/rpc', { body: long })).status).toBe(413)
  })

  it.each(['a', 0, '', null])('answers with the id that it was asked with: %j', async id => {
    const { body } = await called.send('/rpc', { body: { jsonrpc: '2.0', id, method: 'agents/list' } })
    expect(body).toMatchObject({ jsonrpc: '2.0', id })
  })

  it('writes one line to the log, of words of this host alone', async () => {
    await rpc('agents/get', { id: 'my_agent' }, tokens.reader)
    await rpc('agents/get', { id: 'secret-words' })
    await rpc('secret/words')
    const lines = called.host
      .logged()
      .filter(line => line.includes('"event":"rpc"'))
      .slice(-3)
      .map(line => JSON.parse(line))
    const line = { event: 'rpc', status: 200, milliseconds: expect.any(Number) }
    expect(lines).toEqual([
      { ...line, agent: 'my-agent', caller: expect.stringMatching(/^token:/), method: 'agents/get', verdict: 'passed' },
      { ...line, agent: '', caller: 'anonymous', method: 'agents/get', verdict: 'unknown-agent' },
      { ...line, agent: '', caller: 'anonymous', method: '', verdict: 'method' },
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

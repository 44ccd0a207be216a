import { createMcpHandler, McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createToolServer } from '../../examples/mcp-server/tools.ts'
import { discover, discoveryLimits } from '../../src/mcp/discover.ts'
import { endless, initialized, mcpMethod, rpc, scripted } from '../support/mcp-server.ts'
import { type FetchHandler, startUpstream, type UpstreamServer } from '../support/upstream.ts'

let server: UpstreamServer
beforeAll(async () => {
  server = await startUpstream()
})
afterAll(() => server.close())

/** Discovers what a server has, with less patience than there is in earnest. */
const discovered = async (handle: FetchHandler, limits: Partial<typeof discoveryLimits> = {}) => {
  server.serve(handle)
  const discovery = await discover(`${server.origin}/mcp`, fetch, { ...discoveryLimits, ...limits })
  return 'failure' in discovery ? discovery.failure : discovery.discovered
}
const asked = () => server.requests.map(mcpMethod)
const names = (listed: object | undefined) =>
  (listed as { items: { name: string }[] } | undefined)?.items.map(({ name }) => name)

/** Answers whatever it is asked with a text. */
const say = (body: string, type: string) => () => new Response(body, { headers: { 'Content-Type': type } })

const opening = ['initialize', 'notifications/initialized']
const lists = ['tools/list', 'resources/list', 'prompts/list']

/** A server of the official library that keeps sessions. */
const sessions = (ended: string[] = []): FetchHandler => {
  const open = new Map<string, WebStandardStreamableHTTPServerTransport>()
  return async request => {
    const known = open.get(request.headers.get('Mcp-Session-Id') ?? '')
    if (known) return known.handleRequest(request)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: id => void open.set(id, transport),
      onsessionclosed: id => void ended.push(id),
    })
    await createToolServer().connect(transport)
    return transport.handleRequest(request)
  }
}

describe('a server of the official library', () => {
  it('is asked for all that it has', async () => {
    const facts = await discovered(request => createMcpHandler(createToolServer).fetch(request))
    expect(facts).toMatchObject({
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'Tool Box', version: '1.0.0' },
      capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
      resources: { items: [{ uri: 'example:rhyme', name: 'rhyme' }] },
      prompts: { items: [{ name: 'guess_number' }] },
    })
    expect('tools' in facts && names(facts.tools)).toEqual([
      'count_words',
      'roll_dice',
      'divide',
      'count_down',
      'draw_pattern',
    ])
    expect(asked()).toEqual([...opening, ...lists])
  })

  it('is told that the session is over, where there is one', async () => {
    const ended: string[] = []
    const facts = await discovered(sessions(ended))
    expect('tools' in facts && facts.tools.items.length).toBe(5)
    expect(asked()).toEqual([...opening, ...lists, 'DELETE'])
    expect(ended).toEqual([server.requests.at(-1)?.headers['mcp-session-id']])
  })

  it('is asked without `initialize` where it speaks no version that has it', async () => {
    const handler = createMcpHandler(createToolServer, { legacy: 'reject' })
    expect(await discovered(handler.fetch)).toMatchObject({
      protocolVersion: '2026-07-28',
      serverInfo: { name: 'Tool Box' },
      capabilities: { tools: { listChanged: true } },
    })
    expect(asked()).toEqual(['initialize', 'server/discover', ...lists])
  })

  it('is asked for nothing that it does not say it has', async () => {
    const bare = () => new McpServer({ name: 'Bare', version: '1' })
    expect(await discovered(request => createMcpHandler(bare).fetch(request))).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 'Bare', version: '1' },
      tools: { items: [] },
    })
    expect(asked()).toEqual(opening)
  })
})

it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
  'a server that speaks %s is asked in it',
  async version => {
    expect(await discovered(scripted({ initialize: initialized({ tools: {} }, version) }))).toMatchObject({
      protocolVersion: version,
      tools: { items: [{ name: 'look' }] },
    })
    expect(server.requests.at(-1)?.headers['mcp-protocol-version']).toBe(version)
  },
)

it('what the server says of itself is kept as it says it', async () => {
  const capabilities = { tools: { listChanged: true, more: 1 }, sampling: {} }
  expect(await discovered(scripted({ initialize: initialized(capabilities) }))).toMatchObject({ capabilities })
})

it('a bad tool does not cost the others', async () => {
  // No server would get so deep a schema into text by itself.
  const deep = `{"name":"deep","inputSchema":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
  const text = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":1},"tool",${deep},{"name":"look"}]}}`
  const facts = await discovered(scripted({ 'tools/list': say(`data: ${text}\n\n`, 'text/event-stream') }))
  expect('tools' in facts && names(facts.tools)).toEqual([1, undefined, 'deep', 'look'])
})

it('a list that a server names but does not answer is told of, and costs nothing else', async () => {
  const facts = await discovered(scripted({ initialize: initialized({ tools: {}, prompts: {} }) }))
  expect(facts).toMatchObject({
    tools: { items: [{ name: 'look' }] },
    prompts: { items: [], truncated: 'The MCP server answered with error -32601: Method not found' },
  })
})

describe('pages', () => {
  /** One tool a page; `next` says the cursor after that of a page. */
  const paged = (next: (cursor: number) => unknown) =>
    scripted({
      'tools/list': ({ cursor = 0 }) => ({ tools: [{ name: `t${cursor}` }], nextCursor: next(Number(cursor)) }),
    })

  it.each([
    ['no cursor', undefined],
    ['null', null],
    ['an empty cursor', ''],
  ])('are asked for until there is %s', async (_, end) => {
    const facts = await discovered(paged(cursor => (cursor < 2 ? `${cursor + 1}` : end)))
    expect('tools' in facts && facts.tools).toEqual({ items: [{ name: 't0' }, { name: 't1' }, { name: 't2' }] })
  })

  it('end where a cursor comes again', async () => {
    const facts = await discovered(paged(() => '1'))
    expect('tools' in facts && facts.tools).toEqual({
      items: [{ name: 't0' }, { name: 't1' }],
      truncated: 'the server repeats the cursor of a page',
    })
  })

  it('end where there are too many of them', async () => {
    const facts = await discovered(
      paged(cursor => `${cursor + 1}`),
      { maxPages: 3 },
    )
    expect('tools' in facts && facts.tools).toEqual({
      items: [{ name: 't0' }, { name: 't1' }, { name: 't2' }],
      truncated: 'this host requests no more than 3 pages',
    })
  })

  it('end where there are enough tools', async () => {
    const facts = await discovered(
      paged(cursor => `${cursor + 1}`),
      { maxItems: 1 },
    )
    expect('tools' in facts && facts.tools).toEqual({
      items: [{ name: 't0' }, { name: 't1' }],
      truncated: 'this host requests no more than 1',
    })
  })
})

describe('a session that the server forgets', () => {
  const forgetting = (most: number): FetchHandler => {
    let forgotten = 0
    return scripted({
      initialize: () => rpc({ result: initialized() }, 200, { 'Mcp-Session-Id': `s${forgotten}` }),
      'tools/list': () => (forgotten++ < most ? new Response(null, { status: 404 }) : { tools: [] }),
    })
  }

  it('is begun anew, once', async () => {
    expect(await discovered(forgetting(1))).toMatchObject({ tools: { items: [] } })
    expect(asked()).toEqual([...opening, 'tools/list', 'DELETE', ...opening, 'tools/list', 'DELETE'])
  })

  it('is left where it is forgotten again', async () => {
    expect(await discovered(forgetting(2))).toEqual({
      code: 'not-ready',
      message: 'The MCP server loses its sessions (HTTP 404).',
    })
  })
})

const notReady = (what: string) => ({ code: 'not-ready', message: `The MCP server ${what}.` })
const tooLarge = { code: 'too-large', message: 'The MCP server answered with more than 4096 bytes.' }
const timeout = { code: 'timeout', message: 'The MCP server did not answer in time.' }
const never = () => new Promise<object>(() => undefined)

describe('a server that is none, or is ill', () => {
  it.each<[string, FetchHandler, object]>([
    [
      'speaks a version that nobody knows',
      scripted({ initialize: initialized({ tools: {} }, '1999-01-01') }),
      notReady('speaks MCP version "1999-01-01", which this host does not support'),
    ],
    ['answers 500', () => new Response('oops', { status: 500 }), notReady('answered with HTTP 500')],
    [
      'answers 404',
      () => new Response('Not found', { status: 404 }),
      notReady('does not exist at this address (HTTP 404)'),
    ],
    [
      'wants a token',
      () => new Response(null, { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } }),
      notReady('rejects the credentials of this host (HTTP 401): name its secret in upstream.secret'),
    ],
    [
      'answers HTML',
      say('<!doctype html><p>hello', 'text/html'),
      notReady('answered with neither JSON nor an event stream'),
    ],
    ['answers no JSON', say('{', 'application/json'), notReady('answered with something that is not JSON-RPC')],
    [
      'answers no JSON-RPC',
      say('{"a": 1}', 'application/json'),
      notReady('answered with something that is not JSON-RPC'),
    ],
    [
      'answers with an error',
      scripted({ initialize: () => rpc({ error: { code: -32603, message: 'x'.repeat(300) } }) }),
      { code: 'refused', message: `The MCP server answered with error -32603: ${'x'.repeat(200)}…` },
    ],
    [
      'says why it answers 400',
      () => rpc({ error: { code: -32600, message: 'No' } }, 400),
      { code: 'refused', message: 'The MCP server answered with error -32600: No' },
    ],
    [
      'does not say who it is',
      scripted({ initialize: { protocolVersion: '2025-06-18', capabilities: {} } }),
      notReady('answered with a result that MCP does not define'),
    ],
    [
      'lists its tools in no list',
      scripted({ 'tools/list': { tools: 'all' } }),
      notReady('answered with a result that MCP does not define'),
    ],
    ['says too much', scripted({ 'tools/list': { tools: [{ name: 'x'.repeat(5000) }] } }), tooLarge],
    [
      'says too much, event by event',
      scripted({ 'tools/list': () => endless({ method: 'notifications/x', params: { text: 'x'.repeat(5000) } }) }),
      tooLarge,
    ],
    ['crashes', () => undefined, { code: 'unreachable' }],
  ])('%s', async (_, handle, failure) => {
    expect(await discovered(handle, { maxResponseBytes: 4096 })).toMatchObject(failure)
  })

  it('redirects: nobody follows, not even within its origin', async () => {
    const redirect = () => new Response(null, { status: 307, headers: { Location: '/elsewhere' } })
    expect(await discovered(redirect)).toEqual(
      notReady('redirects (HTTP 307), which this host does not follow: set upstream.mcp to the target'),
    )
    expect(asked()).toEqual(['initialize'])
  })

  it.each<[string, FetchHandler]>([
    ['never answers', scripted({ initialize: never })],
    ['never takes note of the start', scripted({ 'notifications/initialized': never })],
    ['never lists its tools', scripted({ 'tools/list': never })],
    ['answers with an event stream that never says anything', scripted({ 'tools/list': () => endless() })],
    [
      'breaks off in the middle of JSON',
      scripted({
        'tools/list': () => new Response(new ReadableStream(), { headers: { 'Content-Type': 'application/json' } }),
      }),
    ],
  ])('%s: it is waited for as long as is said, and no longer', async (_, handle) => {
    expect(await discovered(handle, { requestTimeoutMs: 100 })).toEqual(timeout)
  })

  it('is not waited for longer in all than is said, however many pages it has', async () => {
    const slow = scripted({
      'tools/list': async ({ cursor = 0 }) => {
        if (Number(cursor) > 3) await never()
        return { tools: [], nextCursor: `${Number(cursor) + 1}` }
      },
    })
    expect(await discovered(slow, { timeoutMs: 200 })).toEqual(timeout)
  })

  it('may leave the event stream open that it answered in', async () => {
    const open = scripted({
      initialize: () => endless({ result: initialized() }),
      'tools/list': () => endless({ id: 1, result: { tools: [{ name: 'look' }] } }),
    })
    expect(await discovered(open)).toMatchObject({ tools: { items: [{ name: 'look' }] } })
  })
})

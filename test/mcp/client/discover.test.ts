import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createToolServer } from '../../../examples/mcp-server/tools.ts'
import { discover, discoveryLimits } from '../../../src/mcp/client/server-card.ts'
import { endless, initialized, mcpMethod, rpc, scripted } from '../../support/mcp-server.ts'
import { type FetchHandler, startUpstream, type UpstreamServer } from '../../support/upstream.ts'

let server: UpstreamServer
beforeAll(async () => {
  server = await startUpstream()
})
afterAll(() => server.close())

/** Discovers a server, with limits that differ from the real ones. Returns the discovery or the failure. */
const discoverServer = async (handle: FetchHandler, limits: Partial<typeof discoveryLimits> = {}) => {
  server.serve(handle)
  const discovery = await discover(`${server.origin}/mcp`, fetch, { ...discoveryLimits, ...limits })
  return 'failure' in discovery ? discovery.failure : discovery.discovered
}
const methods = () => server.requests.map(mcpMethod)
const namesOf = (list: object | undefined) =>
  (list as { items: { name: string }[] } | undefined)?.items.map(({ name }) => name)

/** Responds to every request with a text. */
const respondWith = (body: string, type: string) => () => new Response(body, { headers: { 'Content-Type': type } })

const openingMethods = ['initialize', 'notifications/initialized']
const listMethods = ['tools/list', 'resources/list', 'prompts/list']

describe('a server of the official library', () => {
  it('is discovered with its tools, resources and prompts', async () => {
    const discovery = await discoverServer(request => createMcpHandler(createToolServer).fetch(request))
    expect(discovery).toMatchObject({
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'Tool Box', version: '1.0.0' },
      capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
      resources: { items: [{ uri: 'example:rhyme', name: 'rhyme' }] },
      prompts: { items: [{ name: 'guess_number' }] },
    })
    expect('tools' in discovery && namesOf(discovery.tools)).toEqual([
      'count_words',
      'roll_dice',
      'divide',
      'count_down',
      'draw_pattern',
    ])
    expect(methods()).toEqual([...openingMethods, ...listMethods])
  })

  it('is discovered without `initialize` when its versions do not have it', async () => {
    const handler = createMcpHandler(createToolServer, { legacy: 'reject' })
    expect(await discoverServer(handler.fetch)).toMatchObject({
      protocolVersion: '2026-07-28',
      serverInfo: { name: 'Tool Box' },
      capabilities: { tools: { listChanged: true } },
    })
    expect(methods()).toEqual(['initialize', 'server/discover', ...listMethods])
  })

  it('receives no request for lists that its capabilities do not name', async () => {
    const emptyServer = () => new McpServer({ name: 'Bare', version: '1' })
    expect(await discoverServer(request => createMcpHandler(emptyServer).fetch(request))).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 'Bare', version: '1' },
      tools: { items: [] },
    })
    expect(methods()).toEqual(openingMethods)
  })
})

it('returns unknown capabilities unchanged', async () => {
  const capabilities = { tools: { listChanged: true, more: 1 }, sampling: {} }
  expect(await discoverServer(scripted({ initialize: initialized(capabilities) }))).toMatchObject({ capabilities })
})

it('returns the valid tools next to invalid ones', async () => {
  // JSON.stringify cannot serialize a schema of this depth.
  const deep = `{"name":"deep","inputSchema":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
  const text = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":1},"tool",${deep},{"name":"look"}]}}`
  const discovery = await discoverServer(
    scripted({ 'tools/list': respondWith(`data: ${text}\n\n`, 'text/event-stream') }),
  )
  expect('tools' in discovery && namesOf(discovery.tools)).toEqual([1, undefined, 'deep', 'look'])
})

it('notes the failure of one list and returns the others', async () => {
  const discovery = await discoverServer(scripted({ initialize: initialized({ tools: {}, prompts: {} }) }))
  expect(discovery).toMatchObject({
    tools: { items: [{ name: 'look' }] },
    prompts: { items: [], truncated: 'The MCP server answered with error -32601: Method not found' },
  })
})

describe('pages', () => {
  /** Serves one tool a page; `next` returns the cursor that follows a page. */
  const paged = (next: (cursor: number) => unknown) =>
    scripted({
      'tools/list': ({ cursor = 0 }) => ({ tools: [{ name: `t${cursor}` }], nextCursor: next(Number(cursor)) }),
    })

  const toolsOf = async (...server: Parameters<typeof discoverServer>) => {
    const discovery = await discoverServer(...server)
    return 'tools' in discovery && discovery.tools
  }
  const items = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `t${index}` }))
  const endless = paged(cursor => `${cursor + 1}`)

  it('are requested until there is no cursor, a null one or an empty one', async () => {
    for (const last of [undefined, null, ''])
      expect(await toolsOf(paged(cursor => (cursor < 2 ? `${cursor + 1}` : last)))).toEqual({ items: items(3) })
  })

  it('end when a cursor is repeated, and at the limits of pages and tools', async () => {
    expect([
      await toolsOf(paged(() => '1')),
      await toolsOf(endless, { maxPages: 3 }),
      await toolsOf(endless, { maxItems: 1 }),
    ]).toEqual([
      { items: items(2), truncated: 'the server repeats the cursor of a page' },
      { items: items(3), truncated: 'this host requests no more than 3 pages' },
      { items: items(2), truncated: 'this host requests no more than 1' },
    ])
  })
})

describe('a session that the server drops', () => {
  const droppingServer = (times: number): FetchHandler => {
    let dropped = 0
    return scripted({
      initialize: () => rpc({ result: initialized() }, 200, { 'Mcp-Session-Id': `s${dropped}` }),
      'tools/list': () => (dropped++ < times ? new Response(null, { status: 404 }) : { tools: [] }),
    })
  }

  it('is opened again once', async () => {
    expect(await discoverServer(droppingServer(1))).toMatchObject({ tools: { items: [] } })
    expect(methods()).toEqual([...openingMethods, 'tools/list', 'DELETE', ...openingMethods, 'tools/list', 'DELETE'])
    expect(server.requests.at(-1)?.headers['mcp-session-id']).toBe('s1')
  })

  it('fails the discovery when it is dropped again', async () => {
    expect(await discoverServer(droppingServer(2))).toEqual({
      code: 'not-ready',
      message: 'The MCP server loses its sessions (HTTP 404).',
    })
  })
})

const notReady = (problem: string) => ({ code: 'not-ready', message: `The MCP server ${problem}.` })
const tooLarge = { code: 'too-large', message: 'The MCP server answered with more than 4096 bytes.' }
const timeout = { code: 'timeout', message: 'The MCP server did not answer in time.' }
const never = () => new Promise<object>(() => undefined)

describe('a failing server', () => {
  it('is reported with what it does', async () => {
    const [noRpc, noResult] = [
      'answered with something that is not JSON-RPC',
      'answered with a result that MCP does not define',
    ]
    const credentials = (status: number) =>
      notReady(`rejects the credentials of this host (HTTP ${status}): name its secret in upstream.secret`)
    const challenge = (status: number) => () =>
      new Response(null, { status, headers: { 'WWW-Authenticate': 'Bearer' } })
    const longError = { code: -32603, message: 'x'.repeat(1_300) }
    const longText = 'x'.repeat(5000)
    const rows: [FetchHandler, object][] = [
      [
        scripted({ initialize: initialized({ tools: {} }, '1999-01-01') }),
        notReady('speaks MCP version "1999-01-01", which this host does not support'),
      ],
      [() => new Response('No', { status: 404 }), notReady('does not exist at this address (HTTP 404)')],
      [challenge(401), credentials(401)],
      [challenge(403), credentials(403)],
      [respondWith('<!doctype html>', 'text/html'), notReady('answered with neither JSON nor an event stream')],
      [respondWith('{', 'application/json'), notReady(noRpc)],
      [respondWith('{"a": 1}', 'application/json'), notReady(noRpc)],
      [
        scripted({ initialize: () => rpc({ error: longError }) }),
        { code: 'refused', message: `The MCP server answered with error -32603: ${'x'.repeat(1_000)}…` },
      ],
      // Without its name.
      [scripted({ initialize: { protocolVersion: '2025-06-18', capabilities: {} } }), notReady(noResult)],
      [scripted({ 'tools/list': { tools: 'all' } }), notReady(noResult)],
      [scripted({ 'tools/list': { tools: [{ name: longText }] } }), tooLarge],
      [() => undefined, { code: 'unreachable' }],
    ]
    for (const [handle, failure] of rows)
      expect(await discoverServer(handle, { maxResponseBytes: 4096 })).toMatchObject(failure)
  })

  it('is reported when it redirects, even within its origin', async () => {
    const redirect = () => new Response(null, { status: 307, headers: { Location: '/other' } })
    expect(await discoverServer(redirect)).toEqual(
      notReady('redirects (HTTP 307), which this host does not follow: set upstream.mcp to the target'),
    )
    expect(methods()).toEqual(['initialize'])
  })

  it('times out when it does not complete a response', async () => {
    for (const script of [{ 'notifications/initialized': never }, { 'tools/list': () => endless() }])
      expect(await discoverServer(scripted(script), { requestTimeoutMs: 50 })).toEqual(timeout)
  })

  it('times out when all of its pages together take too long', async () => {
    const slow = scripted({
      'tools/list': async ({ cursor = 0 }) => {
        if (Number(cursor) > 3) await never()
        return { tools: [], nextCursor: `${Number(cursor) + 1}` }
      },
    })
    expect(await discoverServer(slow, { timeoutMs: 100 })).toEqual(timeout)
  })
})

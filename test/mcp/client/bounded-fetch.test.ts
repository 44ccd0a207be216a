import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { UpstreamFetch } from '../../../src/http/safe-fetch.ts'
import { discover, discoveryLimits } from '../../../src/mcp/client/server-card.ts'
import { openSession, type Session } from '../../../src/mcp/client/session.ts'
import { initialized, scripted } from '../../support/mcp-server.ts'

/** The requests that the server has received: the method of MCP or HTTP, or `response` for a response to its own request. */
let methods: string[]
const countOf = (method: string): number => methods.filter(each => each === method).length
beforeEach(() => {
  methods = []
})

type Script = Parameters<typeof scripted>[0]

/** Returns the fetch function of a server in this process; `get` responds to requests for its event streams. */
const serverOf = (
  script: Script,
  get = (_lastEventId: string | null): Response => new Response(null, { status: 405 }),
): UpstreamFetch => {
  const respond = scripted({ initialize: () => initialized({ tools: { listChanged: true } }), ...script })
  return async (url, init) => {
    const request = new Request(url, init)
    const message: { method?: string } =
      request.method === 'POST' ? ((await request.clone().json()) as object) : request
    const { method = '' } = message
    methods.push(method || 'response')
    init?.signal?.throwIfAborted()
    if (method === '') return new Response(null, { status: 202 })
    return method === 'GET' ? get(request.headers.get('Last-Event-ID')) : ((await respond(request)) ?? Response.error())
  }
}

const events = (...data: object[]): Response =>
  new Response(data.map(message => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`).join(''), {
    headers: { 'Content-Type': 'text/event-stream' },
  })
const tools = [{ name: 'look', inputSchema: { type: 'object' } }]

describe('discovery', () => {
  it('reports a server as unreachable that responds with a status no Response can have', async () => {
    const response = Object.defineProperty(new Response('{}'), 'status', { value: 600 })
    expect(await discover('https://mcp.example.com/mcp', async () => response)).toMatchObject({
      failure: { code: 'unreachable', why: 'HTTP 600' },
    })
  })

  it('reads nothing with a status with which no Response can have a body', async () => {
    const result = Response.json({ jsonrpc: '2.0', id: 0, result: {} })
    const response = Object.defineProperty(result, 'status', { value: 205 })
    expect(await discover('https://mcp.example.com/mcp', async () => response)).toMatchObject({ failure: {} })
  })

  const discoverServer = (script: Script) =>
    discover('https://mcp.example.com/mcp', serverOf(script), { ...discoveryLimits, maxSessionBytes: 50_000 })

  it('fails when all pages together are too large', async () => {
    const page = ({ cursor = 0 }) => ({
      tools: [{ name: `${cursor}`, description: 'x'.repeat(15_000) }],
      nextCursor: `${Number(cursor) + 1}`,
    })
    expect(await discoverServer({ 'tools/list': page })).toEqual({
      failure: { code: 'not-ready', message: 'The MCP server sends more than a session may receive.' },
    })
    expect(countOf('tools/list')).toBe(4)
  })

  it('resumes the stream of a response, and opens no other stream', async () => {
    const resume = vi.fn((_lastEventId: string | null) => events({ id: 1, result: { tools } }))
    const script = { 'tools/list': () => eventStream('retry: 10\nid: 1\ndata:\n\n') }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const discovery = discover('https://mcp.example.com/mcp', serverOf(script, resume))
    // At the earliest after a second, whatever the server asks for.
    while (resume.mock.calls.length === 0) await vi.advanceTimersByTimeAsync(100)
    expect(await discovery).toMatchObject({ discovered: { tools: { items: tools } } })
    expect(resume.mock.calls).toEqual([['1']])
  })
})

const eventStream = (text: string) => new Response(text, { headers: { 'Content-Type': 'text/event-stream' } })

describe('an open session', () => {
  const open = async (fetch: UpstreamFetch): Promise<Session> => {
    const options = { onToolsChanged: () => undefined, maxResponseBytes: 10_000 }
    const opened = await openSession('https://mcp.example.com/mcp', fetch, options)
    if ('failure' in opened) throw new Error(opened.failure.message)
    return opened.session
  }
  const callLook = (session: Session) =>
    session.callTool(
      'look',
      {},
      {
        ...{ signal: new AbortController().signal, timeoutMs: 60_000, maxTimeoutMs: 60_000 },
        ...{ onProgress: () => undefined, onElicitation: async () => ({ action: 'cancel' }) },
      },
    )
  /** An event stream that ends at once and asks the client to reconnect at once. */
  const emptyStream = () => eventStream('retry: 0\nid: 1\ndata:\n\n')

  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))

  it('reconnects at most once a second, even when the server asks for no delay', async () => {
    const session = await open(serverOf({}, emptyStream))
    await vi.advanceTimersByTimeAsync(10_000)
    expect([countOf('GET'), session.isClosed()]).toEqual([11, false])
    await session.close()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(countOf('GET')).toBe(11)
  })

  it('fails only the call whose response is too large', async () => {
    const slow = Promise.withResolvers<Response>()
    const responses = [
      slow.promise,
      events({ method: 'notifications/x', params: { text: 'x'.repeat(20_000) } }, { id: 2, result: { content: [] } }),
    ]
    const session = await open(serverOf({ 'tools/call': () => responses.shift() ?? {} }))
    const [first, second] = [callLook(session), await callLook(session)]
    expect([second, session.isClosed()]).toEqual([
      {
        failure: {
          code: 'too-large',
          message: 'The MCP server answered with more than 10000 bytes.',
          maxBytes: 10_000,
        },
      },
      false,
    ])
    slow.resolve(events({ id: 1, result: { content: [] } }))
    expect(await first).toEqual({ result: { content: [] } })
    await session.close()
  })

  it('does not resume a response stream that is too large', async () => {
    const large = `id: 1\nretry: 0\ndata:\n\nid: 2\ndata: ${'x'.repeat(20_000)}\n\n`
    const resume = vi.fn((_lastEventId: string | null) => new Response(null, { status: 405 }))
    const session = await open(serverOf({ 'tools/call': () => eventStream(large) }, resume))
    expect(await callLook(session)).toMatchObject({ failure: { code: 'too-large' } })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(resume.mock.calls).toEqual([[null]])
    await session.close()
  })

  it('closes and fails the running calls when the server sends too many bytes outside responses', async () => {
    const flood = Promise.withResolvers<void>()
    const stream = () =>
      new Response(
        new ReadableStream({
          pull: async controller => {
            await flood.promise
            controller.enqueue(new Uint8Array(20_000).fill(10))
          },
        }),
        { headers: { 'Content-Type': 'text/event-stream' } },
      )
    const session = await open(serverOf({ 'tools/call': () => new Promise<object>(() => undefined) }, stream))
    const call = callLook(session)
    flood.resolve()
    expect([await call, session.isClosed()]).toEqual([
      { failure: { code: 'not-ready', message: 'The MCP server sends more than a session may receive.' } },
      true,
    ])
  })
})

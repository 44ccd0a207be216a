import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { UpstreamFetch } from '../../src/http/bindings.ts'
import { discover, discoveryLimits } from '../../src/mcp/discover.ts'
import { openSession, type Session } from '../../src/mcp/session.ts'
import { initialized, scripted } from '../support/mcp-server.ts'

/** What a server was asked: the method of MCP, `answer` for an answer to its own request, or that of HTTP. */
let asked: string[]
const times = (what: string): number => asked.filter(each => each === what).length
beforeEach(() => {
  asked = []
})

type Script = Parameters<typeof scripted>[0]

/** A server in this process; `get` answers requests for its event streams. */
const serverOf = (
  script: Script,
  get = (_lastEventId: string | null): Response => new Response(null, { status: 405 }),
): UpstreamFetch => {
  const answered = scripted({ initialize: () => initialized({ tools: { listChanged: true } }), ...script })
  return async (url, init) => {
    const request = new Request(url, init)
    const message: { method?: string } =
      request.method === 'POST' ? ((await request.clone().json()) as object) : request
    const { method = '' } = message
    asked.push(method || 'answer')
    init?.signal?.throwIfAborted()
    if (method === '') return new Response(null, { status: 202 })
    return method === 'GET'
      ? get(request.headers.get('Last-Event-ID'))
      : ((await answered(request)) ?? Response.error())
  }
}

const events = (...data: object[]): Response =>
  new Response(data.map(each => `data: ${JSON.stringify({ jsonrpc: '2.0', ...each })}\n\n`).join(''), {
    headers: { 'Content-Type': 'text/event-stream' },
  })
const pings = (many: number) => Array.from({ length: many }, (_, id) => ({ id: `p${id}`, method: 'ping' }))
const tools = [{ name: 'look', inputSchema: { type: 'object' } }]

describe('discovery', () => {
  const discovered = (script: Script) =>
    discover('https://mcp.example.com/mcp', serverOf(script), { ...discoveryLimits, maxSessionBytes: 50_000 })

  it('answers what a server asks meanwhile', async () => {
    const result = events(...pings(3), { id: 1, result: { tools } })
    expect(await discovered({ 'tools/list': () => result })).toMatchObject({ discovered: { tools: { items: tools } } })
    expect(times('answer')).toBe(3)
  })

  it('is over where all the pages together are too large, though none is by itself', async () => {
    const page = ({ cursor = 0 }) => ({
      tools: [{ name: `${cursor}`, description: 'x'.repeat(15_000) }],
      nextCursor: `${Number(cursor) + 1}`,
    })
    expect(await discovered({ 'tools/list': page })).toEqual({
      failure: { code: 'not-ready', message: 'The MCP server sends more than a session may receive.' },
    })
    expect(times('tools/list')).toBe(4)
  })

  it('resumes the stream of a response, and opens none for messages of the server', async () => {
    const resumed = vi.fn((_lastEventId: string | null) => events({ id: 1, result: { tools } }))
    const script = { 'tools/list': () => ending('retry: 10\nid: 1\ndata:\n\n') }
    expect(await discover('https://mcp.example.com/mcp', serverOf(script, resumed))).toMatchObject({
      discovered: { tools: { items: tools } },
    })
    expect(resumed.mock.calls).toEqual([['1']])
  })
})

const ending = (text: string) => new Response(text, { headers: { 'Content-Type': 'text/event-stream' } })

describe('a session that stays open', () => {
  const opened = async (fetch: UpstreamFetch): Promise<Session> => {
    const options = { onToolsChanged: () => undefined, maxResponseBytes: 10_000 }
    const opening = await openSession('https://mcp.example.com/mcp', fetch, options)
    if ('failure' in opening) throw new Error(opening.failure.message)
    return opening.session
  }
  const look = (session: Session) =>
    session.callTool(
      'look',
      {},
      {
        signal: new AbortController().signal,
        timeoutMs: 60_000,
        maxTimeoutMs: 60_000,
        onProgress: () => undefined,
      },
    )
  /** An event stream that is over at once, and is to be asked for again at once. */
  const endingAtOnce = () => ending('retry: 0\nid: 1\ndata:\n\n')

  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))

  it('asks for a stream that ends at once no more than once in a second, whatever the server says', async () => {
    const session = await opened(serverOf({}, endingAtOnce))
    await vi.advanceTimersByTimeAsync(10_000)
    expect([times('GET'), session.isClosed()]).toEqual([11, false])
    await session.close()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(times('GET')).toBe(11)
  })

  it('fails a call with too large a response, and no other', async () => {
    const slow = Promise.withResolvers<Response>()
    const responses = [
      slow.promise,
      events({ method: 'notifications/x', params: { text: 'x'.repeat(20_000) } }, { id: 2, result: { content: [] } }),
    ]
    const session = await opened(serverOf({ 'tools/call': () => responses.shift() ?? {} }))
    const [first, second] = [look(session), await look(session)]
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

  it('does not resume the stream of too large a response', async () => {
    const large = `id: 1\nretry: 0\ndata:\n\nid: 2\ndata: ${'x'.repeat(20_000)}\n\n`
    const resumed = vi.fn((_lastEventId: string | null) => new Response(null, { status: 405 }))
    const session = await opened(serverOf({ 'tools/call': () => ending(large) }, resumed))
    expect(await look(session)).toMatchObject({ failure: { code: 'too-large' } })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(resumed.mock.calls).toEqual([[null]])
    await session.close()
  })

  it('ends where the server sends too much of its own accord, and fails the calls under way', async () => {
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
    const session = await opened(serverOf({ 'tools/call': () => new Promise<object>(() => undefined) }, stream))
    const call = look(session)
    flood.resolve()
    expect([await call, session.isClosed()]).toEqual([
      { failure: { code: 'not-ready', message: 'The MCP server sends more than a session may receive.' } },
      true,
    ])
  })
})

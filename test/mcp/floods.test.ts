import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { UpstreamFetch } from '../../src/http/bindings.ts'
import { discover, discoveryLimits } from '../../src/mcp/discover.ts'
import { openSession, type Session, type SessionOptions } from '../../src/mcp/session.ts'
import { initialized, scripted } from '../support/mcp-server.ts'

/** What a server was asked: the method of MCP, `answer` for an answer to its own request, or that of HTTP. */
let asked: string[]
const times = (what: string): number => asked.filter(each => each === what).length
beforeEach(() => {
  asked = []
})

type Script = Parameters<typeof scripted>[0]

/** A server in this process; `get` is what it says unasked. */
const serverOf = (script: Script, get = () => new Response(null, { status: 405 })): UpstreamFetch => {
  const answered = scripted({ initialize: () => initialized({ tools: { listChanged: true } }), ...script })
  return async (url, init) => {
    const request = new Request(url, init)
    const message: { method?: string } =
      request.method === 'POST' ? ((await request.clone().json()) as object) : request
    const { method = '' } = message
    asked.push(method || 'answer')
    init?.signal?.throwIfAborted()
    if (method === '') return new Response(null, { status: 202 })
    return method === 'GET' ? get() : ((await answered(request)) ?? Response.error())
  }
}

const events = (...data: object[]): Response =>
  new Response(data.map(each => `data: ${JSON.stringify({ jsonrpc: '2.0', ...each })}\n\n`).join(''), {
    headers: { 'Content-Type': 'text/event-stream' },
  })
const pings = (many: number) => Array.from({ length: many }, (_, id) => ({ id: `p${id}`, method: 'ping' }))
const tools = [{ name: 'look', inputSchema: { type: 'object' } }]

const overAndOver = {
  code: 'not-ready',
  message:
    'The MCP server has this host make more requests than a session may: it asks for answers, or ends its event streams, over and over.',
}
const tooMuch = { code: 'not-ready', message: 'The MCP server sends more in a minute than a session may.' }

describe('discovery', () => {
  const budget = { unasked: 3, bytes: 50_000, perRequest: { unasked: 0, bytes: 0 } }
  const discovered = (script: Script) =>
    discover('https://mcp.example.com/mcp', serverOf(script), { ...discoveryLimits, budget })

  it('answers what a server asks meanwhile', async () => {
    const result = events(...pings(3), { id: 1, result: { tools } })
    expect(await discovered({ 'tools/list': () => result })).toMatchObject({ discovered: { tools: { items: tools } } })
    expect(times('answer')).toBe(3)
  })

  it('is over where a server asks too much', async () => {
    const result = events(...pings(500), { id: 1, result: { tools } })
    expect(await discovered({ 'tools/list': () => result })).toEqual({ failure: overAndOver })
    expect(times('answer')).toBe(3)
  })

  it('is over where all the pages together are too large, though none is by itself', async () => {
    const page = ({ cursor = 0 }) => ({
      tools: [{ name: `${cursor}`, description: 'x'.repeat(15_000) }],
      nextCursor: `${Number(cursor) + 1}`,
    })
    expect(await discovered({ 'tools/list': page })).toEqual({ failure: tooMuch })
    expect(times('tools/list')).toBe(4)
  })
})

describe('a session that is kept', () => {
  const opened = async (fetch: UpstreamFetch, options: SessionOptions = {}): Promise<Session> => {
    const opening = await openSession('https://mcp.example.com/mcp', fetch, {
      onToolsChanged: () => undefined,
      ...options,
    })
    if ('failure' in opening) throw new Error(opening.failure.message)
    return opening.session
  }
  const look = async ({ client, failure }: Session) => {
    try {
      return (await client.callTool({ name: 'look' })).content
    } catch (error) {
      return failure(error)
    }
  }
  /** An event stream that is over at once, and is to be asked for again at once. */
  const ending = () => new Response('retry: 0\nid: 1\ndata:\n\n', { headers: { 'Content-Type': 'text/event-stream' } })

  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))

  it('asks for a stream that ends at once no more than once in a second, whatever the server says', async () => {
    const session = await opened(serverOf({}, ending))
    await vi.advanceTimersByTimeAsync(10_000)
    expect([times('GET'), session.isCut()]).toEqual([11, false])
    await session.close()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(times('GET')).toBe(11)
  })

  it('asks so for all its streams together', async () => {
    const session = await opened(serverOf({ 'tools/call': ending }, ending))
    const calls = [look(session), look(session), look(session)]
    await vi.advanceTimersByTimeAsync(10_000)
    expect(times('GET')).toBe(11)
    await session.close()
    await Promise.all(calls)
  })

  it('is cut where the streams end over and over', async () => {
    const budget = { unasked: 5, bytes: 10_000, perRequest: { unasked: 0, bytes: 0 } }
    const session = await opened(serverOf({}, ending), { budget })
    await vi.advanceTimersByTimeAsync(4_000)
    expect([times('GET'), session.isCut()]).toEqual([5, false])
    await vi.advanceTimersByTimeAsync(56_000)
    expect([times('GET'), session.isCut(), await look(session)]).toEqual([5, true, overAndOver])
  })

  it('may go on for as long as each minute has no more of them than it may', async () => {
    const budget = { unasked: 60, bytes: 10_000, perRequest: { unasked: 0, bytes: 0 } }
    const session = await opened(serverOf({}, ending), { budget })
    await vi.advanceTimersByTimeAsync(600_000)
    expect([times('GET'), session.isCut()]).toEqual([601, false])
    await session.close()
  })

  it('answers more to a server that is called more', async () => {
    const budget = { unasked: 1, bytes: 0, perRequest: { unasked: 2, bytes: 10_000 } }
    let id = 0
    const session = await opened(
      serverOf({ 'tools/call': () => events(...pings(2), { id: ++id, result: { content: [] } }) }),
      { budget },
    )
    for (const _ of Array.from({ length: 20 })) expect(await look(session)).toEqual([])
    await vi.advanceTimersByTimeAsync(0)
    expect([times('answer'), session.isCut()]).toEqual([40, false])
    await session.close()
  })

  it('fails the calls that are under way as it is cut', async () => {
    const session = await opened(serverOf({ 'tools/call': () => events(...pings(500)) }))
    expect([await look(session), session.isCut()]).toEqual([overAndOver, true])
    expect(times('answer')).toBe(41)
  })

  it('is cut where all its streams together say too much, though none does by itself', async () => {
    const budget = { unasked: 30, bytes: 10_000, perRequest: { unasked: 0, bytes: 0 } }
    const loud = () =>
      new Response(`retry: 0\nid: 1\ndata:\n\n: ${'x'.repeat(3000)}\n\n`, {
        headers: { 'Content-Type': 'text/event-stream' },
      })
    const session = await opened(serverOf({}, loud), { budget, responseBytes: 4000 })
    await vi.advanceTimersByTimeAsync(20_000)
    expect([times('GET'), session.isCut(), await look(session)]).toEqual([4, true, tooMuch])
  })
})

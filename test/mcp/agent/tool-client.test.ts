import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallerIdentity } from '../../../src/mcp/agent/quotas.ts'
import { ToolClient } from '../../../src/mcp/agent/tool-client.ts'
import { initialized, rpc, scripted } from '../../support/mcp-server.ts'

const upstream = { url: 'https://mcp.internal/mcp', service: 'TOOLS' }
const eventStream = { 'Content-Type': 'text/event-stream' }
const result = { content: [{ type: 'text', text: 'ok' }] }

let clients: ToolClient[] = []
const clientOf = (fetch: (url: string, init: RequestInit) => Promise<unknown> | unknown) => {
  const client = new ToolClient({ TOOLS: { fetch } } as unknown as Env, () => undefined)
  clients.push(client)
  return client
}
afterEach(() => {
  for (const client of clients) client.pool.closeIdle(Number.POSITIVE_INFINITY)
  clients = []
})

const alice = { authenticated: true, name: 'alice' }
const bob = { authenticated: true, name: 'bob' }

const callLook = (
  client: ToolClient,
  timeoutSeconds: number,
  { context = 'c1', ...caller }: CallerIdentity & { context?: string } = alice,
  more: object = {},
) => {
  const { signal } = new AbortController()
  const handlers = { onProgress: () => undefined, onElicitation: async () => cancelled }
  return client.call({ ...upstream, ...more }, 'look', {}, { caller, context, signal, timeoutSeconds, ...handlers })
}
const cancelled = { action: 'cancel' as const }

/** Opens one session, in which the server cannot ask: it is not opened again in a newer version of MCP. */
const shared = { session: 'shared' }

describe('a response stream that ends before the result', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))

  const events = (text: string) => new Response(text, { headers: eventStream })
  const resultEvents = () => events(`id: 2\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`)
  const noStream = () => new Response(null, { status: 405 })
  const brokenOff = { failure: { kind: 'broken-off' } }

  /** Calls a tool whose server ends the stream of its response; `resume` answers when the client resumes the stream. */
  const callTool = async (stream: string, resume: (lastEventId: string | null) => Response) => {
    const called = Promise.withResolvers<void>()
    const respond = scripted({
      'tools/call': () => {
        called.resolve()
        return events(stream)
      },
    })
    const client = clientOf((url, init) =>
      init.method === 'GET' ? resume(new Headers(init.headers).get('Last-Event-ID')) : respond(new Request(url, init)),
    )
    const outcome = callLook(client, 60, alice, shared)
    await called.promise
    // The client reads the stream to its end.
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    return { outcome }
  }

  it('is resumed after the delay that the server asks for', async () => {
    const resume = vi.fn((lastEventId: string | null) => (lastEventId === '1' ? resultEvents() : noStream()))
    const { outcome } = await callTool('id: 1\nretry: 12000\ndata:\n\n', resume)
    await vi.advanceTimersByTimeAsync(11_999)
    expect(resume).not.toHaveBeenCalledWith('1')
    await vi.advanceTimersByTimeAsync(1)
    expect(await outcome).toEqual({ result })
  })

  it('fails the call at once when its events have no ids, because it cannot be resumed', async () => {
    const { outcome } = await callTool('data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n', noStream)
    expect(await outcome).toEqual(brokenOff)
  })

  it('fails the call after two failed attempts to resume it', async () => {
    const resume = vi.fn((lastEventId: string | null) =>
      lastEventId === null ? noStream() : new Response(null, { status: 503 }),
    )
    const { outcome } = await callTool('id: 1\nretry: 2000\ndata:\n\n', resume)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await outcome).toEqual(brokenOff)
    expect(resume.mock.calls.filter(([id]) => id === '1')).toHaveLength(2)
  })
})

it('closes a session whose server sends too much between calls, and opens a new one for the next call', async () => {
  const called = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const streams = [
    new ReadableStream({
      pull: async controller => {
        await called.promise
        controller.enqueue(new Uint8Array(1024 * 1024).fill(10))
      },
      cancel: () => aborted.resolve(),
    }),
  ]
  const opened: string[] = []
  const respond = scripted({ initialize: initialized({ tools: { listChanged: true } }), 'tools/call': result })
  const client = clientOf((url, init) => {
    if (init.method !== 'GET') return respond(new Request(url, init))
    opened.push(url)
    const stream = streams.pop()
    return new Response(stream ?? null, { status: stream ? 200 : 405, headers: eventStream })
  })
  expect(await callLook(client, 5, alice, shared)).toEqual({ result })
  called.resolve()
  await aborted.promise
  expect([await callLook(client, 5, alice, shared), opened.length]).toEqual([{ result }, 2])
})

/** A server that gives every client a session of its own, or none, and what it was asked in which. */
const sessionServer = (script: Parameters<typeof scripted>[0] = {}, isStateless = false) => {
  const requests: string[] = []
  const open = new Set<string>()
  let opened = 0
  const respond = scripted({
    initialize: () => {
      const id = `s${++opened}`
      open.add(id)
      const headers = isStateless ? {} : { 'Mcp-Session-Id': id }
      return Response.json({ jsonrpc: '2.0', id: 0, result: initialized() }, { headers })
    },
    'tools/call': result,
    ...script,
  })
  const client = clientOf(async (url, init) => {
    const id = new Headers(init.headers).get('Mcp-Session-Id') ?? ''
    const { method = '' }: { method?: string } = init.method === 'POST' ? JSON.parse(`${init.body}`) : init
    if (method === 'tools/call') requests.push(id)
    if (method === 'DELETE') open.delete(id)
    if (init.method === 'POST' && id !== '' && !open.has(id)) return new Response('gone', { status: 404 })
    return respond(new Request(url, init))
  })
  return {
    client,
    open,
    /** How many sessions were opened. */
    countOpened: () => opened,
    /** The sessions of the calls since the last look. */
    takeRequests: () => requests.splice(0),
    restart: () => open.clear(),
  }
}

describe('a session that the server has lost', () => {
  it('is opened once for two calls that find it lost', async () => {
    const { client, countOpened, open, takeRequests, restart } = sessionServer()
    await callLook(client, 5)
    restart()
    expect(await Promise.all([callLook(client, 5), callLook(client, 5)])).toEqual([{ result }, { result }])
    expect([[...open], countOpened(), takeRequests()]).toEqual([['s2'], 2, ['s1', 's1', 's1', 's2', 's2']])
  })

  it('fails the call if it is lost again at once, with the message of the server', async () => {
    const { client, takeRequests } = sessionServer({ 'tools/call': () => new Response('no session', { status: 400 }) })
    const failed = { notReady: 'The MCP server answered with HTTP 400.', quote: 'no session' }
    expect([await callLook(client, 5), takeRequests()]).toEqual([failed, ['s1', 's2']])
  })
})

describe('a session in which a call fails', () => {
  it('is used again, unless the server as a whole did not respond as MCP', async () => {
    const nextSessionAfter = async (answer: () => Response | Promise<Response>, timeoutSeconds = 5) => {
      let calls = 0
      const { client, open, takeRequests } = sessionServer({ 'tools/call': () => (++calls === 1 ? answer() : result) })
      const failed = await callLook(client, timeoutSeconds)
      expect(await callLook(client, 5)).toEqual({ result })
      await vi.waitFor(() => expect(open.size).toBe(1))
      return [Object.keys(failed)[0], takeRequests().at(-1)]
    }
    expect([
      await nextSessionAfter(() => rpc({ error: { code: -32000, message: 'No' } })),
      await nextSessionAfter(() => new Promise(() => undefined), 0.05),
      await nextSessionAfter(() => new Response(null, { status: 521 })),
      await nextSessionAfter(() => new Response('down', { status: 500 })),
    ]).toEqual([
      ['refused', 's1'],
      ['failure', 's1'],
      ['failure', 's2'],
      ['notReady', 's2'],
    ])
  })

  it('ends when no call has used it for a while', async () => {
    const { client, open } = sessionServer()
    for (const caller of [alice, bob]) await callLook(client, 5, caller)
    expect([client.pool.closeIdle(Date.now()) !== undefined, open.size]).toEqual([true, 2])
    expect(client.pool.closeIdle(Number.POSITIVE_INFINITY)).toBeUndefined()
    await vi.waitFor(() => expect(open.size).toBe(0))
  })
})

describe('the sessions of an agent', () => {
  const visitor = (name: string, context = 'c1') => ({ authenticated: false, name, context })

  it('are one for each caller: none sees what the server keeps for another', async () => {
    const sessionsOf = async (callers: Parameters<typeof callLook>[2][], isStateless = false, more = {}) => {
      const { client, takeRequests } = sessionServer({}, isStateless)
      for (const caller of callers) await callLook(client, 5, caller, more)
      return takeRequests()
    }
    const ofCallers = await sessionsOf([alice, bob, alice, visitor('alice'), visitor('1')])
    expect(ofCallers).toEqual(['s1', 's2', 's1', 's3', 's4'])
    // Each context of an address has its own, all contexts of an authenticated caller have one.
    const callers = [visitor('1', 'c1'), visitor('1', 'c2'), visitor('2', 'c1'), visitor('1', 'c1')]
    const inContexts = await sessionsOf([...callers, alice, { ...alice, context: 'c2' }])
    expect(inContexts).toEqual(['s1', 's2', 's3', 's1', 's4', 's4'])
    // All callers share one where the owner wants that, or where the server has no sessions.
    expect(await sessionsOf([alice, bob, visitor('1')], false, shared)).toEqual(['s1', 's1', 's1'])
    expect(await sessionsOf([alice, bob, visitor('1')], true)).toEqual(['', '', ''])
  })

  it('are replaced when the manifest names another server', async () => {
    const { client, open, takeRequests } = sessionServer()
    await callLook(client, 5)
    await callLook(client, 5, alice, { url: 'https://mcp.internal/other' })
    await vi.waitFor(() => expect([...open]).toEqual(['s2']))
    expect(takeRequests()).toEqual(['s1', 's2'])
  })

  it('are one for callers who are the first at the same time, of a server without sessions', async () => {
    const { client, takeRequests } = sessionServer({}, true)
    const outcomes = await Promise.all([alice, bob, alice, visitor('1')].map(caller => callLook(client, 5, caller)))
    const again = await callLook(client, 5, bob)
    expect([outcomes, again, takeRequests().length]).toEqual([Array(4).fill({ result }), { result }, 5])
    // No call is counted any more.
    expect(client.pool.closeIdle(0)).toBeDefined()
  })

  it('stay open for the calls that waited for them, however many open at once', async () => {
    const { client, takeRequests } = sessionServer()
    const callers = Array.from({ length: 40 }, (_, index) => ({ ...alice, name: `a${index}` }))
    const outcomes = await Promise.all([...callers, ...callers].map(caller => callLook(client, 5, caller)))
    expect([outcomes, new Set(takeRequests()).size]).toEqual([Array(80).fill({ result }), 40])
  })

  it('are at most 32: that which was unused longest is closed, those of callers without a token first', async () => {
    const { client, open, takeRequests } = sessionServer()
    vi.useFakeTimers({ toFake: ['Date'] })
    const callers = [alice, visitor('1'), ...Array.from({ length: 30 }, (_, index) => ({ ...bob, name: `b${index}` }))]
    for (const caller of callers) {
      await callLook(client, 5, caller)
      vi.advanceTimersByTime(1_000)
    }
    await callLook(client, 5, { ...bob, name: 'one more' })
    await vi.waitFor(() => expect([open.size, open.has('s2')]).toEqual([32, false]))
    await callLook(client, 5, { ...bob, name: 'and another' })
    await vi.waitFor(() => expect([open.size, open.has('s1')]).toEqual([32, false]))
    takeRequests()
    await callLook(client, 5, { ...bob, name: 'b0' })
    expect(takeRequests()).toEqual(['s3'])
  })

  it('of the address that has most are closed first, so that it closes none of others', async () => {
    const { client, open } = sessionServer()
    vi.useFakeTimers({ toFake: ['Date'] })
    const contexts = Array.from({ length: 32 }, (_, index) => visitor('2', `c${index}`))
    for (const caller of [alice, visitor('1'), ...contexts]) {
      await callLook(client, 5, caller)
      vi.advanceTimersByTime(1_000)
    }
    await vi.waitFor(() => expect(open.size).toBe(32))
    expect(['s1', 's2', 's3', 's4', 's5'].filter(id => open.has(id))).toEqual(['s1', 's2', 's5'])
  })
})

describe('a resource', () => {
  const link = { content: [{ type: 'resource_link', uri: 'memo://linked', name: 'linked' }] }
  const read = (client: ToolClient, uri: string, isListed: boolean, caller = alice, context = 'c1') => {
    const { signal } = new AbortController()
    return client.read(upstream, { uri, isListed }, { caller, context, signal, timeoutSeconds: 5 })
  }
  const contents = [{ uri: 'memo://linked', mimeType: 'text/markdown', text: '# hello' }]
  const readable = { 'tools/call': link, 'resources/read': { contents } }
  const unknown = { refused: expect.stringContaining('The card does not list this resource') }

  const readResult = { result: { content: [{ type: 'resource', resource: contents[0] }] } }

  it('can be read if the card lists it, or a result has linked it for the same caller', async () => {
    const { client } = sessionServer(readable)
    expect(await read(client, 'memo://linked', true)).toEqual(readResult)
    const before = await read(client, 'memo://linked', false)
    await callLook(client, 5)
    expect([
      before,
      await read(client, 'memo://linked', false),
      await read(client, 'memo://other', false),
      await read(client, 'memo://linked', false, bob),
    ]).toEqual([unknown, readResult, unknown, unknown])
  })

  it('is known for its caller, or a context of an anonymous one, only, even in a session without state', async () => {
    const { client } = sessionServer(readable, true)
    const visitor = { authenticated: false, name: '1' }
    await callLook(client, 5)
    await callLook(client, 5, visitor)
    expect([
      await read(client, 'memo://linked', false, bob),
      await read(client, 'memo://linked', false, visitor, 'c2'),
      await read(client, 'memo://linked', false, visitor, 'c1'),
    ]).toEqual([unknown, unknown, readResult])
  })

  it('is forgotten after 1,000 others', async () => {
    const links = Array.from({ length: 1001 }, (_, index) => ({
      ...{ type: 'resource_link', uri: `memo://${index}`, name: 'l' },
    }))
    const { client } = sessionServer({ ...readable, 'tools/call': { content: links } })
    await callLook(client, 5)
    const reads = await Promise.all(['memo://0', 'memo://1', 'memo://1000'].map(uri => read(client, uri, false)))
    expect(reads).toEqual([unknown, readResult, readResult])
  })

  it('with a URI longer than 2,048 characters is not remembered, because it would fill the memory', async () => {
    const uriOf = (length: number) => `memo://${'m'.repeat(length - 7)}`
    const links = [2048, 2049].map(length => ({ type: 'resource_link', uri: uriOf(length), name: 'linked' }))
    const { client } = sessionServer({ ...readable, 'tools/call': { content: links } })
    await callLook(client, 5)
    expect([await read(client, uriOf(2048), false), await read(client, uriOf(2049), false)]).toEqual([
      expect.objectContaining({ result: expect.anything() }),
      unknown,
    ])
  })

  it('fails with the message of the server', async () => {
    const { client } = sessionServer({ 'resources/read': () => rpc({ error: { code: -32002, message: 'No memo' } }) })
    expect(await read(client, 'memo://x', true)).toEqual({
      refused: 'The MCP server answered with error -32002: No memo',
    })
  })
})

import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ToolClient } from '../../src/mcp-bridge/tool-client.ts'
import { initialized, scripted } from '../support/mcp-server.ts'

const upstream = { url: 'https://mcp.internal/mcp', service: 'TOOLS' }
const eventStream = { 'Content-Type': 'text/event-stream' }
const result = { content: [{ type: 'text', text: 'ok' }] }

const clientOf = (fetch: (url: string, init: RequestInit) => Promise<unknown> | unknown) =>
  new ToolClient({ TOOLS: { fetch } } as unknown as Env, () => undefined)

const callLook = (client: ToolClient, timeoutSeconds: number) => {
  const { signal } = new AbortController()
  return client.call(upstream, 'look', {}, { signal, timeoutSeconds, onProgress: () => undefined })
}

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
    const outcome = callLook(client, 60).finally(() => client.close())
    await called.promise
    // The client reads the stream to its end.
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    return { outcome }
  }

  it.each([
    ['after the delay that the server asks for', 12_000, 12_000],
    ['at most once a second, even when the server asks for no delay', 0, 1_000],
  ])('is resumed %s', async (_, retryMs, expectedMs) => {
    const resume = vi.fn((lastEventId: string | null) => (lastEventId === '1' ? resultEvents() : noStream()))
    const { outcome } = await callTool(`id: 1\nretry: ${retryMs}\ndata:\n\n`, resume)
    await vi.advanceTimersByTimeAsync(expectedMs - 1)
    expect(resume).not.toHaveBeenCalledWith('1')
    await vi.advanceTimersByTimeAsync(1)
    expect(await outcome).toEqual({ result })
  })

  it.each([
    ['has no events', ': hello\n\n'],
    ['has events without ids', 'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n'],
  ])('fails the call at once when it %s, because it cannot be resumed', async (_, stream) => {
    const { outcome } = await callTool(stream, noStream)
    expect(await outcome).toEqual(brokenOff)
  })

  it('fails the call when the server does not resume it', async () => {
    const { outcome } = await callTool('id: 1\nretry: 2000\ndata:\n\n', noStream)
    await vi.advanceTimersByTimeAsync(2_000)
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
  const methods: string[] = []
  const respond = scripted({
    initialize: initialized({ tools: { listChanged: true } }),
    'tools/call': result,
  })
  const endlessBody = () =>
    new ReadableStream({
      pull: async controller => {
        await called.promise
        controller.enqueue(new Uint8Array(1024 * 1024).fill(10))
      },
      cancel: () => aborted.resolve(),
    })
  const client = clientOf((url, init) => {
    const { method = '' }: { method?: string } = init.method === 'POST' ? JSON.parse(`${init.body}`) : init
    methods.push(method)
    if (method !== 'GET') return respond(new Request(url, init))
    const isFirst = methods.filter(each => each === 'GET').length === 1
    return new Response(isFirst ? endlessBody() : null, { status: isFirst ? 200 : 405, headers: eventStream })
  })
  const first = await callLook(client, 5)
  called.resolve()
  await aborted.promise
  const second = await callLook(client, 5)
  const sessionMethods = ['initialize', 'notifications/initialized', 'GET', 'tools/call']
  expect([first, second, methods]).toEqual([{ result }, { result }, [...sessionMethods, ...sessionMethods]])
  client.close()
})

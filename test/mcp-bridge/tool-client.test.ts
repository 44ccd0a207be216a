import { setImmediate } from 'node:timers/promises'
import { beforeEach, expect, it, vi } from 'vitest'
import { ToolClient } from '../../src/mcp-bridge/tool-client.ts'
import { scripted } from '../support/mcp-server.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))

const events = (text: string) => new Response(text, { headers: { 'Content-Type': 'text/event-stream' } })
const upstream = { url: 'https://mcp.internal/mcp', service: 'TOOLS' }

/** Calls a tool of a server that ends the stream of its response; `resume` answers when the client resumes the stream. */
const callTool = async (stream: string, resume: (lastEventId: string | null) => Response) => {
  const called = Promise.withResolvers<void>()
  const server = scripted({
    'tools/call': () => {
      called.resolve()
      return events(stream)
    },
  })
  const fetch = (url: string, init: RequestInit) => {
    if (init.method === 'GET') return resume(new Headers(init.headers).get('Last-Event-ID'))
    return server(new Request(url, init))
  }
  const client = new ToolClient({ TOOLS: { fetch } } as unknown as Env, () => undefined)
  const outcome = client
    .call(
      upstream,
      'look',
      {},
      {
        signal: new AbortController().signal,
        timeoutSeconds: 60,
        onProgress: () => undefined,
      },
    )
    .finally(() => client.close())
  await called.promise
  // The client reads the stream to its end.
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  return { outcome }
}

const result = { content: [{ type: 'text', text: 'ok' }] }
const response = events.bind(undefined, `id: 2\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`)
const noStream = () => new Response(null, { status: 405 })
const brokenOff = { failure: { kind: 'broken-off' } }

it('waits for a result as long as the server asks the client to wait before it resumes the stream', async () => {
  const resume = vi.fn((lastEventId: string | null) => (lastEventId === '1' ? response() : noStream()))
  const { outcome } = await callTool('id: 1\nretry: 12000\ndata:\n\n', resume)
  await vi.advanceTimersByTimeAsync(11_999)
  expect(resume).not.toHaveBeenCalledWith('1')
  await vi.advanceTimersByTimeAsync(1)
  expect(await outcome).toEqual({ result })
})

it('resumes a stream no more than once in a second, whatever the server says', async () => {
  const resume = vi.fn((lastEventId: string | null) => (lastEventId === '1' ? response() : noStream()))
  const { outcome } = await callTool('id: 1\nretry: 0\ndata:\n\n', resume)
  await vi.advanceTimersByTimeAsync(999)
  expect(resume).not.toHaveBeenCalledWith('1')
  await vi.advanceTimersByTimeAsync(1)
  expect(await outcome).toEqual({ result })
})

it.each([
  ['has no events', ': hello\n\n'],
  ['has events without ids', 'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n'],
])('fails a call at once whose stream ends and %s, as nobody can resume it', async (_, stream) => {
  const { outcome } = await callTool(stream, noStream)
  expect(await outcome).toEqual(brokenOff)
})

it('fails a call whose stream the server does not resume', async () => {
  const { outcome } = await callTool('id: 1\nretry: 2000\ndata:\n\n', noStream)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await outcome).toEqual(brokenOff)
})

it('fails a call whose stream cannot be resumed in two attempts', async () => {
  const resume = vi.fn((lastEventId: string | null) =>
    lastEventId === null ? noStream() : new Response(null, { status: 503 }),
  )
  const { outcome } = await callTool('id: 1\nretry: 2000\ndata:\n\n', resume)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(await outcome).toEqual(brokenOff)
  expect(resume.mock.calls.filter(([id]) => id === '1')).toHaveLength(2)
})

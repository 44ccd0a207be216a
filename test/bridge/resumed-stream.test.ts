import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ResponseSemaphore } from '../../src/mcp-bridge/quotas.ts'
import { ToolClient } from '../../src/mcp-bridge/tool-client.ts'
import { scripted } from '../mcp/scripted.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const events = (text: string) => new Response(text, { headers: { 'Content-Type': 'text/event-stream' } })

it('waits for a result as long as the server asks the client to wait before it resumes the stream', async () => {
  const answered = scripted({ 'tools/call': () => events('id: 1\nretry: 12000\ndata:\n\n') })
  const result = { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'ok' }] } }
  const resumed = vi.fn(() => events(`id: 2\ndata: ${JSON.stringify(result)}\n\n`))
  const fetch = async (url: string, init: RequestInit) =>
    new Headers(init.headers).get('Last-Event-ID') === '1' ? resumed() : answered(new Request(url, init))
  const large = new ResponseSemaphore()
  const client = new ToolClient({ TOOLS: { fetch } } as unknown as Env, large, () => undefined)
  const upstream = { url: 'https://mcp.internal/mcp', service: 'TOOLS' }
  const outcome = client.call(upstream, 'look', {}, {
    signal: new AbortController().signal,
    seconds: 60,
    onProgress: () => undefined,
    hold: large.hold({ known: true, name: 'alice' }),
  })
  await vi.advanceTimersByTimeAsync(11_900)
  expect(resumed).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(200)
  expect(await outcome).toEqual({ result: { content: [{ type: 'text', text: 'ok' }] } })
  client.leave()
})

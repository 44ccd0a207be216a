import { expect, it } from 'vitest'
import { ToolClient } from '../../src/mcp-bridge/tool-client.ts'
import { initialized, scripted } from '../support/mcp-server.ts'

it('a session that is cut between calls, since the server says too much, is opened anew by the next call', async () => {
  const called = Promise.withResolvers<void>()
  const cut = Promise.withResolvers<void>()
  const asked: string[] = []
  const answered = scripted({
    initialize: initialized({ tools: { listChanged: true } }),
    'tools/call': { content: [{ type: 'text', text: 'ok' }] },
  })
  const endlessly = () =>
    new ReadableStream({
      pull: async controller => {
        await called.promise
        controller.enqueue(new Uint8Array(1024 * 1024).fill(10))
      },
      cancel: () => cut.resolve(),
    })
  const TOOLS = {
    fetch: async (url: string, init: RequestInit) => {
      const { method }: { method?: string } = init.method === 'POST' ? JSON.parse(`${init.body}`) : init
      asked.push(method ?? '')
      const said = asked.filter(each => each === 'GET').length === 1 ? endlessly() : null
      if (method !== 'GET') return answered(new Request(url, init))
      return new Response(said, { status: said ? 200 : 405, headers: { 'Content-Type': 'text/event-stream' } })
    },
  }
  const server = new ToolClient({ TOOLS } as unknown as Env, () => undefined)
  const call = () =>
    server.call(
      { url: 'https://mcp.internal/mcp', service: 'TOOLS' },
      'look',
      {},
      {
        signal: new AbortController().signal,
        timeoutSeconds: 5,
        onProgress: () => undefined,
      },
    )
  const worked = { result: { content: [{ type: 'text', text: 'ok' }] } }
  const first = await call()
  called.resolve()
  await cut.promise
  const opening = ['initialize', 'notifications/initialized', 'GET', 'tools/call']
  expect([first, await call(), asked]).toEqual([worked, worked, [...opening, ...opening]])
  server.close()
})

import { expect, it } from 'vitest'
import { type RpcResponse, rpcResponse } from '../../src/mcp-bridge/a2a-server.ts'
import { BoundedEventStream } from '../../src/mcp-bridge/quotas.ts'

const format = (errorAsEvent = false) => ({
  id: '"7"',
  errorAsEvent,
  toRpcError: (error: unknown) => `${error}`,
  stream: new BoundedEventStream(() => undefined),
})

/** The answers of a call that is answered with a stream, one at a time; `ended` resolves once all were taken. */
const answers = (results: (number | string | Error)[]) => {
  const ended = Promise.withResolvers<void>()
  const stream = (async function* (): AsyncGenerator<RpcResponse, void, undefined> {
    for (const result of results) {
      if (result instanceof Error) throw result
      yield { jsonrpc: '2.0', result }
      await new Promise(resolve => setTimeout(resolve))
    }
    ended.resolve()
  })()
  return { stream, ended: ended.promise }
}

it('answers one response, under the id of the call', async () => {
  const response = await rpcResponse({ jsonrpc: '2.0', result: 1 }, format())
  expect(await response.json()).toEqual({ jsonrpc: '2.0', id: '7', result: 1 })
})

it('answers a stream, and its error as the last event', async () => {
  const response = await rpcResponse(answers([1, 2, new Error('gone')]).stream, format())
  expect([response.headers.get('Content-Type'), await response.text()]).toEqual([
    'text/event-stream',
    ['"result":1,"id":"7"', '"result":2,"id":"7"', '"error":"Error: gone","id":"7"']
      .map(rest => `data: {"jsonrpc":"2.0",${rest}}\n\n`)
      .join(''),
  ])
})

it.each([
  [false, 'application/json', ''],
  [true, 'text/event-stream', 'data: '],
])('answers a stream that begins with an error in its place: as an event, %s', async (errorAsEvent, type, before) => {
  const response = await rpcResponse(answers([new Error('no')]).stream, format(errorAsEvent))
  expect([response.headers.get('Content-Type'), (await response.text()).trimEnd()]).toEqual([
    type,
    `${before}{"jsonrpc":"2.0","error":"Error: no","id":"7"}`,
  ])
})

it('takes a stream to its end, though its reader has left: a task is kept as its events are taken', async () => {
  const { stream, ended } = answers([1, 2, 3])
  const { body } = await rpcResponse(stream, format())
  await body?.cancel()
  await ended
  expect((await stream.next()).done).toBe(true)
})

it('ends a stream of which too much waits to be read, and says how to come to the rest; the task is kept', async () => {
  const long = 'x'.repeat(3 * 1024 * 1024)
  const { stream, ended } = answers([long, long, 3])
  const { body } = await rpcResponse(stream, format())
  await ended
  const text = await new Response(body).text()
  expect([text.match(/x+/g)?.length, text.slice(-160)]).toEqual([1, expect.stringContaining('get it by its id.')])
})

import { describe, expect, it, vi } from 'vitest'
import { BoundedEventStream } from '../../../src/mcp/agent/quotas.ts'
import { type RpcResponse, toHttpResponse } from '../../../src/mcp/agent/tool-bridge.ts'

const format = () => ({ id: '"7"', stream: new BoundedEventStream(() => undefined) })

/** Streams results one at a time, up to an error; `ended` resolves once all have been consumed. */
const streamResults = (results: (number | string | Error)[]) => {
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

describe('toHttpResponse', () => {
  it('returns a single result as JSON, with the id of the call', async () => {
    const response = await toHttpResponse({ jsonrpc: '2.0', result: 1 }, format())
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: '7', result: 1 })
  })

  it('returns a stream as events, with an error as the last event', async () => {
    const response = await toHttpResponse(streamResults([1, 2, new Error('gone')]).stream, format())
    expect([response.headers.get('Content-Type'), await response.text()]).toEqual([
      'text/event-stream',
      ['"result":1,"id":"7"', '"result":2,"id":"7"', '"error":{"code":-32603,"message":"gone"},"id":"7"']
        .map(rest => `data: {"jsonrpc":"2.0",${rest}}\n\n`)
        .join(''),
    ])
  })

  it('returns the error of a stream that fails before its first event as JSON', async () => {
    const response = await toHttpResponse(streamResults([new Error('no')]).stream, format())
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32603 }, id: '7' })
  })

  // A task is stored as its events are consumed.
  it('consumes a stream to its end even when the client has disconnected, and serializes nothing for it', async () => {
    const { stream, ended } = streamResults([1, 2, 3])
    const { body } = await toHttpResponse(stream, format())
    await body?.cancel()
    const stringify = vi.spyOn(JSON, 'stringify')
    await ended
    expect((await stream.next()).done).toBe(true)
    expect(stringify).not.toHaveBeenCalled()
  })

  it('ends a stream with too many unread bytes, tells the client how to get the rest, and consumes the events', async () => {
    const largeResult = 'x'.repeat(3 * 1024 * 1024)
    const { stream, ended } = streamResults([largeResult, largeResult, 3])
    const { body } = await toHttpResponse(stream, format())
    await ended
    const text = await new Response(body).text()
    expect([text.match(/x+/g)?.length, text.slice(-160)]).toEqual([1, expect.stringContaining('get it by its id.')])
  })
})

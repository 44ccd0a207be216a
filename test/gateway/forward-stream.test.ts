import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { toJsonRpcError, toRestError } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import type { ForwardOptions } from '../../src/gateway/upstream/forward.ts'
import type { UpstreamCall } from '../../src/gateway/upstream/request.ts'
import '../support/workers/identity-transform-stream.ts'
import { numberedEvent } from '../support/answers.ts'
import { forwardTo, hostHeaders, succeeded } from '../support/calls.ts'
import { parseEvents } from '../support/event-stream.ts'
import { json, reply, startUpstream, stream, type UpstreamServer } from '../support/upstream.ts'

let agent: UpstreamServer
beforeAll(async () => {
  agent = await startUpstream()
})
afterAll(() => agent.close())

const send = (outgoing?: Partial<UpstreamCall>, options?: Partial<ForwardOptions>) =>
  forwardTo(agent.origin, outgoing, options)

const event = (number: number) => `data: ${JSON.stringify(numberedEvent(number, 'JSONRPC', '1.0'))}\n\n`

describe('a forwarded stream', () => {
  const openStream = (outgoing: Partial<UpstreamCall> = {}, options: Partial<ForwardOptions> = {}) =>
    send({ streams: true, ...outgoing }, options).then(succeeded)

  const errorEvent = (error: CallError) => ({ data: { jsonrpc: '2.0', id: 7, error: toJsonRpcError(error, '1.0') } })

  it('delivers each event before the agent sends the next one', async () => {
    let connection: ServerResponse | undefined
    agent.respond(response => {
      connection = response
      response.writeHead(200, { ...stream, 'Set-Cookie': 'a=1', 'A2A-Version': '1.0' }).write(event(0))
    })
    const relayed = await openStream()
    expect([relayed.status, Object.fromEntries(relayed.headers)]).toEqual([
      200,
      { ...hostHeaders, 'a2a-version': '1.0', 'content-type': 'text/event-stream' },
    ])
    const reader = (relayed.body as ReadableStream<Uint8Array>).getReader()
    for (let count = 0; count < 5; count++) {
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(event(count))
      connection?.write(event(count + 1))
    }
    connection?.end()
    await reader.read()
    expect((await reader.read()).done).toBe(true)
  })

  it('may last longer than the timeout of a response', async () => {
    let connection: ServerResponse | undefined
    agent.respond(response => {
      connection = response
      response.writeHead(200, stream).write(event(1))
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const relayed = await openStream({}, { timeoutSeconds: 0.1 })
      await vi.advanceTimersByTimeAsync(1000)
      connection?.end(event(2))
      expect(await relayed.text()).toBe(event(1) + event(2))
    } finally {
      vi.useRealTimers()
    }
  })

  it('that never begins, or begins as JSON without an end, is a timeout', async () => {
    for (const respond of [
      () => undefined,
      (response: ServerResponse) => void response.writeHead(200, json).write('{'),
    ]) {
      agent.respond(respond)
      expect(await send({ streams: true }, { timeoutSeconds: 0.05 })).toEqual({ kind: 'timeout', seconds: 0.05 })
    }
  })

  it("is replaced by the agent's JSON-RPC error", async () => {
    const error = '{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"no such task"}}'
    agent.respond(reply(200, json, error))
    const relayed = await openStream()
    expect([relayed.headers.get('Content-Type'), await relayed.text()]).toEqual(['application/json', error])
  })

  it('with another status than 200 is an invalid response', async () => {
    for (const status of [204, 205, 500]) {
      agent.respond(reply(status, stream, 'data: {}\n\n'))
      expect(await send({ streams: true })).toEqual({ kind: 'invalid-response', status })
    }
  })

  it('that breaks off ends with an error event, also in the middle of an event', async () => {
    for (const partial of ['data: {"half', '']) {
      agent.respond(response => {
        response.writeHead(200, stream).write(event(1) + partial, () => response.destroy())
      })
      const first = { data: numberedEvent(1, 'JSONRPC', '1.0') }
      expect(parseEvents(await (await openStream()).text())).toEqual([first, errorEvent({ kind: 'broken-off' })])
    }
  })

  it('that falls silent ends with an error event, and is closed at the agent', async () => {
    agent.respond(response => void response.writeHead(200, stream).write(`${event(1)}data: {"half`))
    const text = await (await openStream({}, { idleSeconds: 0.1 })).text()
    expect(parseEvents(text)).toEqual([
      { data: numberedEvent(1, 'JSONRPC', '1.0') },
      errorEvent({ kind: 'silent', seconds: 0.1 }),
    ])
    await agent.disconnected()
  })

  it('reports a broken connection over HTTP+JSON in an event of the type error', async () => {
    for (const version of ['1.0', '0.3'] as const) {
      const first = numberedEvent(1, 'HTTP+JSON', version)
      const written = `data: ${JSON.stringify(first)}\n\n`
      agent.respond(response => void response.writeHead(200, stream).write(written, () => response.destroy()))
      const target = { binding: 'HTTP+JSON', version, url: agent.origin } as const
      const form = { binding: 'HTTP+JSON', version, id: null, operation: 'stream' } as const
      const data = toRestError({ kind: 'broken-off' }, version)
      const events = parseEvents(await (await openStream({ target, form })).text())
      expect(events).toEqual([{ data: first }, { event: 'error', data }])
    }
  })

  it('is closed at the agent when the caller stops reading', async () => {
    agent.respond(response => void response.writeHead(200, stream).write(event(1)))
    await (await openStream()).body?.cancel()
    await agent.disconnected()
  })

  it('is read no faster than the caller reads', async () => {
    const count = 400
    const large = event(0).replace('t-1', 'x'.repeat(64 * 1024))
    let written = 0
    agent.respond(response => {
      response.writeHead(200, stream)
      const writeMore = () => {
        while (written < count) {
          written++
          if (!response.write(large)) return void response.once('drain', writeMore)
        }
        response.end()
      }
      writeMore()
    })
    const { body } = await openStream()
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    let total = (await reader.read()).value?.byteLength ?? 0
    expect(written).toBeLessThan(count / 2)
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      total += value.byteLength
    }
    expect(total).toBe(count * large.length)
  })
})

import type { ServerResponse } from 'node:http'
import { createParser } from 'eventsource-parser'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { toJsonRpcError, toRestError } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import type { ForwardOptions } from '../../src/gateway/forward.ts'
import type { UpstreamCall } from '../../src/gateway/upstream-request.ts'
import '../support/workers/identity-transform-stream.ts'
import { forwardTo, hostHeaders, succeeded } from '../support/calls.ts'
import { json, reply, startUpstream, stream, type UpstreamServer } from '../support/upstream.ts'

let agent: UpstreamServer
beforeAll(async () => {
  agent = await startUpstream()
})
afterAll(() => agent.close())

const call = (outgoing?: Partial<UpstreamCall>, options?: Partial<ForwardOptions>) =>
  forwardTo(agent.origin, outgoing, options)

describe('a stream', () => {
  const streams = (outgoing: Partial<UpstreamCall> = {}, options: Partial<ForwardOptions> = {}) =>
    call({ streams: true, ...outgoing }, options).then(succeeded)

  const events = (text: string) => {
    const found: { event?: string | undefined; data: unknown }[] = []
    createParser({ onEvent: ({ event, data }) => found.push({ event, data: JSON.parse(data) }) }).feed(text)
    return found
  }
  const ended = (failure: CallError) => ({ data: { jsonrpc: '2.0', id: 7, error: toJsonRpcError(failure, '1.0') } })

  it('brings each event before the agent has the next one', async () => {
    let connection: ServerResponse | undefined
    agent.respond(answering => {
      connection = answering
      answering.writeHead(200, { ...stream, 'Set-Cookie': 'a=1', 'A2A-Version': '1.0' }).write('data: 0\n\n')
    })
    const came = await streams()
    expect([came.status, Object.fromEntries(came.headers)]).toEqual([
      200,
      { ...hostHeaders, 'a2a-version': '1.0', 'content-type': 'text/event-stream' },
    ])
    const reader = (came.body as ReadableStream<Uint8Array>).getReader()
    for (let count = 0; count < 5; count++) {
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(`data: ${count}\n\n`)
      connection?.write(`data: ${count + 1}\n\n`)
    }
    connection?.end()
    await reader.read()
    expect((await reader.read()).done).toBe(true)
  })

  it('may last longer than an answer may take', async () => {
    let connection: ServerResponse | undefined
    agent.respond(answering => {
      connection = answering
      answering.writeHead(200, stream).write('data: 1\n\n')
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const came = await streams({}, { timeoutSeconds: 0.1 })
      await vi.advanceTimersByTimeAsync(1000)
      connection?.end('data: 2\n\n')
      expect(await came.text()).toBe('data: 1\n\ndata: 2\n\n')
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([
    ['never begins', () => undefined],
    [
      'begins as an answer that never ends',
      (answering: ServerResponse) => void answering.writeHead(200, json).write('{'),
    ],
  ])('that %s is a timeout', async (_, how) => {
    agent.respond(how)
    expect(await call({ streams: true }, { timeoutSeconds: 0.1 })).toEqual({ kind: 'timeout', seconds: 0.1 })
  })

  it('that the agent refuses is its JSON', async () => {
    const refusal = '{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"no such task"}}'
    agent.respond(reply(200, json, refusal))
    const came = await streams()
    expect([came.headers.get('Content-Type'), await came.text()]).toEqual(['application/json', refusal])
  })

  it('of an error status is none', async () => {
    agent.respond(reply(500, stream, 'data: {}\n\n'))
    expect(await call({ streams: true })).toEqual({ kind: 'invalid-response', status: 500 })
  })

  it.each([
    ['in the middle of an event', 'data: {"half'],
    ['between events', ''],
  ])('that breaks off %s ends with an error event', async (_, half) => {
    agent.respond(
      answering => void answering.writeHead(200, stream).write(`data: 1\n\n${half}`, () => answering.destroy()),
    )
    expect(events(await (await streams()).text())).toEqual([{ data: 1 }, ended({ kind: 'broken-off' })])
  })

  it('that goes silent ends with an error event, and the agent is told', async () => {
    agent.respond(answering => void answering.writeHead(200, stream).write('data: 1\n\ndata: {"half'))
    const text = await (await streams({}, { idleSeconds: 0.1 })).text()
    expect(events(text)).toEqual([{ data: 1 }, ended({ kind: 'silent', seconds: 0.1 })])
    await agent.disconnected()
  })

  it.each([
    ['1.0', toRestError({ kind: 'broken-off' }, '1.0')],
    ['0.3', toRestError({ kind: 'broken-off' }, '0.3')],
  ] as const)('tells its end over HTTP+JSON %s in an event of the type error', async (version, data) => {
    agent.respond(answering => void answering.writeHead(200, stream).write('data: 1\n\n', () => answering.destroy()))
    const target = { binding: 'HTTP+JSON', version, url: agent.origin } as const
    const outgoing = { target, form: { binding: 'HTTP+JSON', version, id: null } } as const
    expect(events(await (await streams(outgoing)).text())).toEqual([{ data: 1 }, { event: 'error', data }])
  })

  it('ends at the agent when the caller stops reading', async () => {
    agent.respond(answering => void answering.writeHead(200, stream).write('data: 1\n\n'))
    await (await streams()).body?.cancel()
    await agent.disconnected()
  })

  it('is read no faster than its caller reads', async () => {
    const count = 1600
    const event = `data: "${'x'.repeat(64 * 1024)}"\n\n`
    let written = 0
    agent.respond(answering => {
      answering.writeHead(200, stream)
      const more = () => {
        while (written < count) {
          written++
          if (!answering.write(event)) return void answering.once('drain', more)
        }
        answering.end()
      }
      more()
    })
    const { body } = await streams()
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    let total = (await reader.read()).value?.byteLength ?? 0
    expect(written).toBeLessThan(count / 2)
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      total += value.byteLength
    }
    expect(total).toBe(count * event.length)
  })
})

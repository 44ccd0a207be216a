import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { createParser } from 'eventsource-parser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { numberedEvent } from '../support/answers.ts'
import { agentResponse } from '../support/calls.ts'
import { startWorker } from '../support/host.ts'
import type { Runtime } from '../support/runtime.ts'
import { json, reply, startUpstream, stream, type UpstreamServer } from '../support/upstream.ts'
import type { Settings } from '../support/workers/forwarding.ts'

let worker: Runtime
let agent: UpstreamServer
beforeAll(async () => {
  worker = await startWorker("export { Forwarding as default, Agent } from './workers/forwarding.ts'")
  agent = await startUpstream()
})
afterAll(async () => {
  agent.close()
  await worker.close()
})

const send = (settings: Partial<Settings> = {}, init: RequestInit = {}) =>
  fetch(worker.urls.main, {
    method: 'POST',
    body: '{}',
    headers: { Settings: JSON.stringify({ url: `${agent.origin}/a2a`, ...settings }) },
    ...init,
  })

const event = (number: number) => `data: ${JSON.stringify(numberedEvent(number, 'JSONRPC', '1.0'))}\n\n`

const routes = [
  ['the network', {}],
  ['a service binding', { service: true }],
] as const

describe.each(routes)('a call over %s in workerd', (_, route) => {
  it('returns the response of the agent', async () => {
    const answer = JSON.stringify({ ...agentResponse, title: 'Bücher' }, null, 2)
    agent.respond(reply(200, { ...json, 'Set-Cookie': 'a=1' }, answer))
    const response = await send(route)
    expect([response.status, await response.text(), response.headers.get('Set-Cookie')]).toEqual([200, answer, null])
    const headers = agent.requests[0]?.headers
    expect([headers?.via, headers?.settings, headers?.['a2a-version']]).toEqual(['1.1 test', undefined, '1.0'])
  })

  it.each([
    ['redirects', reply(302, { Location: 'http://169.254.169.254/' }, ''), { kind: 'redirect', status: 302 }],
    [
      'responds with HTML',
      reply(502, { 'Content-Type': 'text/html' }, '<h1>'),
      { kind: 'invalid-response', status: 502 },
    ],
    [
      'sends a decompression bomb',
      reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(' '.repeat(1e6))),
      { kind: 'response-too-large', maxBytes: 1000, status: 200 },
    ],
    ['sends too much', reply(200, json, ' '.repeat(2000)), { kind: 'response-too-large', maxBytes: 1000, status: 200 }],
    [
      'declares a length, and sends more in chunks',
      // Written to the socket, because Node would refuse.
      ({ socket }: ServerResponse) =>
        void socket?.end(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n${' '.repeat(2000)}\r\n0\r\n\r\n`,
        ),
      { kind: 'response-too-large', maxBytes: 1000, status: 200 },
    ],
    [
      'closes the connection in the middle of a body',
      (response: ServerResponse) => void response.writeHead(200, json).write('{', () => response.destroy()),
      { kind: 'unreachable', detail: expect.any(String) },
    ],
    [
      'closes the connection',
      (response: ServerResponse) => void response.destroy(),
      { kind: 'unreachable', detail: expect.any(String) },
    ],
  ])('is an error if the agent %s', async (_, respond, error) => {
    agent.respond(respond)
    expect(await (await send({ ...route, maxBytes: 1000 })).json()).toEqual(error)
  })

  it.each([
    ['does not respond', () => undefined],
    ['sends only headers', (response: ServerResponse) => void response.writeHead(200, json).flushHeaders()],
    [
      'declares more bytes than it sends',
      (response: ServerResponse) => void response.writeHead(200, { ...json, 'Content-Length': '9' }).write('{'),
    ],
    [
      'sends one byte at a time',
      (response: ServerResponse) => {
        response.writeHead(200, json)
        const drip = setInterval(() => response.write(' '), 10)
        response.on('close', () => clearInterval(drip))
      },
    ],
  ])('is a timeout if the agent %s, and closes the connection', async (_, respond) => {
    agent.respond(respond)
    const response = await send({ ...route, timeoutSeconds: 0.2 })
    expect(await response.json()).toEqual({ kind: 'timeout', seconds: 0.2 })
    await agent.disconnected()
  })

  const parseEvents = (text: string) => {
    const events: unknown[] = []
    createParser({ onEvent: ({ data }) => events.push(JSON.parse(data)) }).feed(text)
    return events
  }

  it('relays the events of a stream one by one', async () => {
    let connection: ServerResponse | undefined
    agent.respond(response => {
      connection = response
      response.writeHead(200, stream).write(event(0))
    })
    const reader = ((await send({ ...route, streams: true })).body as ReadableStream<Uint8Array>).getReader()
    for (let count = 0; count < 5; count++) {
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(event(count))
      connection?.write(event(count + 1))
    }
    await reader.cancel()
    await agent.disconnected()
  })

  it('ends a stream that breaks off with an error event', async () => {
    agent.respond(
      response => void response.writeHead(200, stream).write(`${event(1)}data: {"ha`, () => response.destroy()),
    )
    const text = await (await send({ ...route, streams: true })).text()
    expect(parseEvents(text)).toMatchObject([
      numberedEvent(1, 'JSONRPC', '1.0'),
      { id: 7, error: { message: 'The connection to the agent was lost before its stream ended.' } },
    ])
  })

  it('ends a stream that falls silent with an error event, and closes it at the agent', async () => {
    agent.respond(response => void response.writeHead(200, stream).write(event(1)))
    const response = await send({ ...route, streams: true, idleSeconds: 0.2, works: true })
    expect(parseEvents(await response.text())).toMatchObject([
      numberedEvent(1, 'JSONRPC', '1.0'),
      { id: 7, error: { message: expect.stringContaining('sent nothing') } },
    ])
    await agent.disconnected()
  })

  it.each([
    ['', {}],
    [', also while other work goes on', { works: true }],
  ])('closes a silent stream at the agent when the caller disconnects%s', async (_, settings) => {
    agent.respond(response => void response.writeHead(200, stream).write(event(1)))
    const caller = new AbortController()
    const response = await send(
      { ...route, streams: true, heartbeatSeconds: 0.4, idleSeconds: 60, ...settings },
      { signal: caller.signal },
    )
    await (response.body as ReadableStream).getReader().read()
    caller.abort()
    await agent.disconnected()
  })
})

describe('a service binding', () => {
  it('cannot declare a false length of its response', async () => {
    const response = await send({ url: 'http://agent/lies', service: true, maxBytes: 1000 })
    expect(await response.json()).toEqual({ kind: 'response-too-large', maxBytes: 1000, status: 200 })
  })
})

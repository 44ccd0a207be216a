import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { createParser } from 'eventsource-parser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

const call = (settings: Partial<Settings> = {}, init: RequestInit = {}) =>
  fetch(worker.urls.main, {
    method: 'POST',
    body: '{}',
    headers: { Settings: JSON.stringify({ url: `${agent.origin}/a2a`, ...settings }) },
    ...init,
  })

const ways = [
  ['the network', {}],
  ['a service', { service: true }],
] as const

describe.each(ways)('a call that goes by way of %s in the real runtime', (_, way) => {
  it('is answered as the agent answers', async () => {
    agent.respond(reply(200, { ...json, 'Set-Cookie': 'a=1' }, '{ "text": "Bücher" }'))
    const came = await call(way)
    expect([came.status, await came.text(), came.headers.get('Set-Cookie')]).toEqual([
      200,
      '{ "text": "Bücher" }',
      null,
    ])
    const headers = agent.requests[0]?.headers
    expect([headers?.via, headers?.settings, headers?.['a2a-version']]).toEqual(['1.1 test', undefined, '1.0'])
  })

  it.each([
    ['redirects', reply(302, { Location: 'http://169.254.169.254/' }, ''), { kind: 'redirect', status: 302 }],
    ['answers in HTML', reply(502, { 'Content-Type': 'text/html' }, '<h1>'), { kind: 'invalid-response', status: 502 }],
    [
      'sends a bomb',
      reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(' '.repeat(1e6))),
      { kind: 'response-too-large', maxBytes: 1000, status: 200 },
    ],
    ['sends too much', reply(200, json, ' '.repeat(2000)), { kind: 'response-too-large', maxBytes: 1000, status: 200 }],
    [
      'tells a length, and sends more in chunks',
      // Past Node, which would not.
      ({ socket }: ServerResponse) =>
        void socket?.end(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n${' '.repeat(2000)}\r\n0\r\n\r\n`,
        ),
      { kind: 'response-too-large', maxBytes: 1000, status: 200 },
    ],
    [
      'breaks off',
      (answering: ServerResponse) => void answering.writeHead(200, json).write('{', () => answering.destroy()),
      { kind: 'unreachable', detail: expect.any(String) },
    ],
    [
      'hangs up',
      (answering: ServerResponse) => void answering.destroy(),
      { kind: 'unreachable', detail: expect.any(String) },
    ],
  ])('is a failure where the agent %s', async (_, how, failure) => {
    agent.respond(how)
    expect(await (await call({ ...way, maxBytes: 1000 })).json()).toEqual(failure)
  })

  it.each([
    ['says nothing', () => undefined],
    [
      'says nothing after its headers',
      (answering: ServerResponse) => void answering.writeHead(200, json).flushHeaders(),
    ],
    [
      'announces more than it sends',
      (answering: ServerResponse) => void answering.writeHead(200, { ...json, 'Content-Length': '9' }).write('{'),
    ],
    [
      'drips',
      (answering: ServerResponse) => {
        answering.writeHead(200, json)
        const drip = setInterval(() => answering.write(' '), 10)
        answering.on('close', () => clearInterval(drip))
      },
    ],
  ])('is a timeout where the agent %s, and the agent is told', async (_, how) => {
    agent.respond(how)
    const came = await call({ ...way, timeoutSeconds: 0.2 })
    expect(await came.json()).toEqual({ kind: 'timeout', seconds: 0.2 })
    await agent.disconnected()
  })

  const events = (text: string) => {
    const found: unknown[] = []
    createParser({ onEvent: ({ data }) => found.push(JSON.parse(data)) }).feed(text)
    return found
  }

  it('is a stream whose events come one by one', async () => {
    let connection: ServerResponse | undefined
    agent.respond(answering => {
      connection = answering
      answering.writeHead(200, stream).write('data: 0\n\n')
    })
    const reader = ((await call({ ...way, streams: true })).body as ReadableStream<Uint8Array>).getReader()
    for (let count = 0; count < 5; count++) {
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(`data: ${count}\n\n`)
      connection?.write(`data: ${count + 1}\n\n`)
    }
    await reader.cancel()
    await agent.disconnected()
  })

  it('ends properly as a stream that the agent breaks off', async () => {
    agent.respond(
      answering => void answering.writeHead(200, stream).write('data: 1\n\ndata: {"ha', () => answering.destroy()),
    )
    const text = await (await call({ ...way, streams: true })).text()
    expect(events(text)).toMatchObject([
      1,
      { id: 7, error: { message: 'The connection to the agent was lost before its stream ended.' } },
    ])
  })

  it('ends properly as a stream that goes silent, and the agent is told', async () => {
    agent.respond(answering => void answering.writeHead(200, stream).write('data: 1\n\n'))
    const came = await call({ ...way, streams: true, idleSeconds: 0.2, works: true })
    expect(events(await came.text())).toMatchObject([
      1,
      { id: 7, error: { message: expect.stringContaining('sent nothing') } },
    ])
    await agent.disconnected()
  })

  it.each([
    ['', {}],
    [', though other work goes on', { works: true }],
  ])('ends at the agent when the caller leaves a silent stream%s', async (_, more) => {
    agent.respond(answering => void answering.writeHead(200, stream).write('data: 1\n\n'))
    const caller = new AbortController()
    const came = await call(
      { ...way, streams: true, heartbeatSeconds: 0.4, idleSeconds: 60, ...more },
      { signal: caller.signal },
    )
    await (came.body as ReadableStream).getReader().read()
    caller.abort()
    await agent.disconnected()
  })
})

describe('a service', () => {
  it('is not believed how long its answer is', async () => {
    const came = await call({ url: 'http://agent/lies', service: true, maxBytes: 1000 })
    expect(await came.json()).toEqual({ kind: 'response-too-large', maxBytes: 1000, status: 200 })
  })
})

import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { numberedEvent } from '../support/answers.ts'
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

describe.each([
  ['the network', {}],
  ['a service binding', { service: true }],
] as const)('a call over %s in workerd', (_, route) => {
  it('is an error if the response of the agent is too large, or breaks off', async () => {
    const tooLarge = { kind: 'response-too-large', maxBytes: 1000, status: 200 }
    const unreachable = { kind: 'unreachable', detail: expect.any(String) }
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked'
    for (const [respond, error] of [
      [reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(' '.repeat(1e6))), tooLarge],
      // Declares a length, and sends more in chunks: written to the socket, because Node would refuse.
      [({ socket }) => socket?.end(`${head}\r\n\r\n7d0\r\n${' '.repeat(2000)}\r\n0\r\n\r\n`), tooLarge],
      [response => response.writeHead(200, json).write('{', () => response.destroy()), unreachable],
    ] as [(response: ServerResponse) => unknown, object][]) {
      agent.respond(respond as never)
      expect(await (await send({ ...route, maxBytes: 1000 })).json()).toEqual(error)
    }
  })

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

  it('closes a silent stream at the agent when the caller disconnects, also while other work goes on', async () => {
    for (const works of [false, true]) {
      agent.respond(response => void response.writeHead(200, stream).write(event(1)))
      const caller = new AbortController()
      const settings = { ...route, streams: true, heartbeatSeconds: 0.2, idleSeconds: 60, works }
      const response = await send(settings, { signal: caller.signal })
      await (response.body as ReadableStream).getReader().read()
      caller.abort()
      await agent.disconnected()
    }
  })
})

it('does not believe the length that a service binding declares', async () => {
  const response = await send({ url: 'http://agent/lies', service: true, maxBytes: 1000 })
  expect(await response.json()).toEqual({ kind: 'response-too-large', maxBytes: 1000, status: 200 })
})

import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJsonRpcError } from '../../src/a2a/error-response.ts'
import { answerCalls, numberedEvent } from '../support/answers.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, expectJsonRpcError } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { parseEvents } from '../support/event-stream.ts'
import { html, json, reply, stream } from '../support/upstream.ts'

let called: CalledHost
let shortTimeouts: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  shortTimeouts = await useSharedHost('short-timeouts')
  for (const { agent, register } of [called, shortTimeouts])
    await register('faults', { card: agentCard(agent.origin), route: 'gateway' })
  await called.register('faults-other', { card: agentCard(called.agent.origin) })
})
afterAll(async () => {
  await called.close()
  await shortTimeouts.close()
})

const send = (headers: Record<string, string> = {}, id = 'faults') =>
  called.send(`/agents/${id}/a2a`, { body: call(), headers })

// All that can be wrong: forward.test.ts and, in the real runtime, forward-in-workerd.host.test.ts.
describe('an agent that fails', () => {
  it('is reported as faulty, without what it has sent, and called again', async () => {
    for (const [respond, code] of [
      [reply(500, html, '<h1>Stack trace'), -32006],
      // A decompression bomb, and more than 4 MiB.
      [reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '))), -32006],
      [reply(200, json, JSON.stringify({ a: 'x'.repeat(4_200_000) })), -32006],
      [response => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n'), -32603],
    ] as [ReturnType<typeof reply>, number][]) {
      called.agent.respond(respond)
      const response = await send()
      expectJsonRpcError(response, { status: 502, code })
      expect(response.text).not.toMatch(/Stack trace|127\.0\.0\.1|OpenSSH/)
    }
    called.agent.respond(answerCalls)
    expect((await send()).body).toEqual(agentResponse)
  })

  it('to respond in time is reported, and disconnected', async () => {
    shortTimeouts.agent.respond(response => response.writeHead(200, json).flushHeaders())
    const response = await shortTimeouts.send('/agents/faults/a2a', { body: call() })
    expectJsonRpcError(response, { status: 504, code: -32603, message: '0.5 seconds' })
    await shortTimeouts.agent.disconnected()
  })

  it('to go on with a stream is reported in an event, and disconnected', async () => {
    const event = numberedEvent(1, 'JSONRPC', '1.0')
    shortTimeouts.agent.respond(response => {
      response.writeHead(200, { ...stream, 'Set-Cookie': 'a=1' }).write(`data: ${JSON.stringify(event)}\n\n`)
    })
    const sent = { body: call('SendStreamingMessage') }
    const { headers, text } = await shortTimeouts.send('/agents/faults/a2a', sent)
    const names = ['content-type', 'cache-control', 'set-cookie']
    expect(names.map(name => headers.get(name))).toEqual(['text/event-stream', 'no-store', null])
    const error = toJsonRpcError({ kind: 'silent', seconds: 1 }, '1.0')
    expect(parseEvents(text)).toEqual([{ data: event }, { data: { jsonrpc: '2.0', id: 7, error } }])
    await shortTimeouts.agent.disconnected()
  })
})

it('rejects a loop with 508, but not a call from one agent of the host to another', async () => {
  called.agent.respond(answerCalls)
  await send()
  const via = String(called.agent.requests.splice(0)[0]?.headers.via)
  const response = await send({ Via: via })
  expect([response.status, codeOf(response.body), called.agent.requests]).toEqual([508, -32603, []])
  expect((await send({ Via: via }, 'faults-other')).body).toEqual(agentResponse)
})

it('never calls a private address: 502, with the reason only in the log', async () => {
  const url = 'https://10.0.0.1/a2a'
  const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
  await called.register('faults-private', { card: agentCard('https://x.example', { supportedInterfaces }) })
  const response = await send({}, 'faults-private')
  expect([response.status, codeOf(response.body), response.text.includes(url)]).toEqual([502, -32603, false])
})

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { html, json, reply } from '../support/upstream.ts'

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

/** Expects that a host serves the next request after a fault of its agent. */
const expectNextCall = async ({ agent, send }: CalledHost): Promise<void> => {
  agent.respond(answerCalls)
  expect((await send('/agents/faults/a2a', { body: call() })).body).toEqual(agentResponse)
}
afterEach(() => expectNextCall(called))

type Respond = (response: ServerResponse) => void

/** Path and body of a call in each version and binding, and the error that the caller receives when the agent fails. */
const forms: [path: string, body: JsonObject, errorOf: (code: number, status: number) => object][] = [
  ['', call(), code => ({ jsonrpc: '2.0', id: 7, error: { code, data: [{}] } })],
  [
    '',
    call('message/send', messageV03()),
    code => ({ jsonrpc: '2.0', id: 7, error: { code, data: { reason: expect.any(String) } } }),
  ],
  ['/message:send', message(), (_, status) => ({ error: { code: status, details: [{}] } })],
  ['/v1/message:send', messageV03(), code => ({ code })],
]

// All that can be wrong: forward.test.ts and, in the real runtime, forward-in-workerd.host.test.ts.
describe('an agent that fails', () => {
  it('is reported as faulty in every form, without what it has sent', async () => {
    const gzip = { ...json, 'Content-Encoding': 'gzip' }
    for (const [respond, code] of [
      [reply(500, html, '<h1>Stack trace'), -32006],
      [reply(302, { Location: 'http://169.254.169.254/latest/meta-data' }, ''), -32006],
      // A decompression bomb, and more than 4 MiB.
      [reply(200, gzip, gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '))), -32006],
      [reply(200, json, JSON.stringify({ a: 'x'.repeat(4_200_000) })), -32006],
      [response => void response.destroy(), -32603],
      [response => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n'), -32603],
    ] as [Respond, number][])
      for (const [path, body, errorOf] of forms) {
        called.agent.respond(respond)
        const { status, headers, body: answer, text } = await called.send(`/agents/faults/a2a${path}`, { body })
        const type = path === '/message:send' ? 'application/a2a+json' : 'application/json'
        expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([502, type, 'no-store'])
        expect(answer).toMatchObject(errorOf(code, 502))
        expect(text).not.toMatch(/Stack trace|127\.0\.0\.1|169\.254|OpenSSH/)
      }
  })

  it('to respond in time is reported in every form, and disconnected', async () => {
    for (const respond of [
      () => undefined,
      response => response.writeHead(200, json).flushHeaders(),
      response => {
        response.writeHead(200, json)
        const drip = setInterval(() => response.write(' '), 20)
        response.on('close', () => clearInterval(drip))
      },
    ] as Respond[]) {
      const disconnected: Promise<unknown>[] = []
      shortTimeouts.agent.respond(response => {
        disconnected.push(once(response, 'close'))
        respond(response)
      })
      // All at once, so that the timeout passes only once.
      const responses = await Promise.all(
        forms.map(([path, body]) => shortTimeouts.send(`/agents/faults/a2a${path}`, { body })),
      )
      for (const [index, { status, body, text }] of responses.entries()) {
        expect([status, text]).toEqual([504, expect.stringContaining('0.5 seconds')])
        expect(body).toMatchObject(forms[index]?.[2](-32603, 504) ?? {})
      }
      expect(disconnected).toHaveLength(forms.length)
      await Promise.all(disconnected)
      await expectNextCall(shortTimeouts)
    }
  })
})

describe('a loop', () => {
  it('is rejected with 508', async () => {
    called.agent.respond(answerCalls)
    await send()
    const via = String(called.agent.requests.splice(0)[0]?.headers.via)
    const response = await send({ Via: via })
    expect([response.status, codeOf(response.body), called.agent.requests]).toEqual([508, -32603, []])
    expect((await send({ Via: via }, 'faults-other')).body).toEqual(agentResponse)
  })

  it('through the agent ends', async () => {
    called.agent.respond(async (response, { headers }) => {
      const nested = await send({ Via: String(headers.via) })
      response.writeHead(nested.status, json).end(nested.text)
    })
    const response = await send()
    expect([response.status, codeOf(response.body), called.agent.requests.length]).toEqual([508, -32603, 1])
  })
})

it('never calls a private or plain address: 502, with the reason only in the log', async () => {
  const ofHost = ['https://10.0.0.1/a2a', 'https://agent.internal/a2a', 'http://127.0.0.1:1/a2a']
  for (const url of [...ofHost, 'http://agent.example.com/a2a']) {
    const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
    await called.register('faults-private', { card: agentCard('https://x.example', { supportedInterfaces }) })
    const response = await send({}, 'faults-private')
    expect([response.status, codeOf(response.body), response.text.includes(url)], url).toEqual([502, -32603, false])
  }
})

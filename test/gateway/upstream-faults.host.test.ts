import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken, type Host } from '../support/host.ts'
import { html, json, reply, stream } from '../support/upstream.ts'

let called: CalledHost<Host>
let shortTimeouts: CalledHost<Host>
beforeAll(async () => {
  called = await useSharedHost()
  shortTimeouts = await useSharedHost('short-timeouts')
  for (const { agent, register } of [called, shortTimeouts])
    await register('faults', { card: agentCard(agent.origin), route: 'gateway' })
  const upstream = { secret: 'AGENT_TOKEN' }
  const card = agentCard(called.agent.origin)
  await called.register('faults-trusted', { card, route: 'gateway', callers: 'anyone', upstream })
})
afterAll(async () => {
  await called.close()
  await shortTimeouts.close()
})

const send = (headers: Record<string, string> = {}, id = 'faults', token?: string) =>
  called.send(`/agents/${id}/a2a`, { body: call(), headers, token })

/** Expects that a host serves the next request after a fault of its agent. */
const expectNextCall = async ({ agent, send }: CalledHost<Host>): Promise<void> => {
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

const text = JSON.stringify(agentResponse)
const gzip = { ...json, 'Content-Encoding': 'gzip' }
/** Responses with which an agent violates A2A, or fails. */
const invalid: Respond[] = [
  reply(200, html, '<h1>Stack trace'),
  reply(200, json, '<h1>hi'),
  reply(200, json, ''),
  reply(200, json, '{"jsonrpc":"2.0",'),
  // Not UTF-8, without a type, and with two types.
  reply(200, json, Buffer.from([0x22, 0xff, 0x22])),
  reply(200, {}, text),
  response => void response.writeHead(200, { 'Content-Type': ['text/html', 'application/json'] }).end('{}'),
  // A stream that was not requested.
  reply(200, stream, `data: ${text}\n\n`),
  reply(500, html, '<h1>Stack trace'),
  reply(204, {}, ''),
  reply(304, {}, ''),
  reply(302, { Location: 'http://169.254.169.254/latest/meta-data' }, ''),
  reply(308, { Location: 'http://127.0.0.1:1/' }, ''),
  // A decompression bomb, and more than 4 MiB.
  reply(200, gzip, gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '))),
  reply(200, json, JSON.stringify({ a: 'x'.repeat(5_000_000) })),
]
const broken: Respond[] = [
  response => void response.destroy(),
  reply(200, gzip, text),
  response => void response.writeHead(200, { ...json, 'Content-Length': '99' }).write('{', () => response.destroy()),
  response => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n'),
]

describe('an agent that fails', () => {
  it('is reported as faulty, without what it has sent', async () => {
    for (const [responds, code] of [
      [invalid, -32006],
      [broken, -32603],
    ] as const)
      // What is wrong does not depend on the form of the call.
      for (const [index, respond] of responds.entries())
        for (const [path, body, errorOf] of index === 0 ? forms : forms.slice(0, 1)) {
          called.agent.respond(respond)
          const response = await called.send(`/agents/faults/a2a${path}`, { body })
          const type = path === '/message:send' ? 'application/a2a+json' : 'application/json'
          const { headers } = response
          expect(
            [response.status, headers.get('content-type'), headers.get('cache-control')],
            `${code} ${index}`,
          ).toEqual([...[502, type, 'no-store']])
          expect(response.body, `${code} ${index}`).toMatchObject(errorOf(code, 502))
          expect(response.text).not.toMatch(/Stack trace|127\.0\.0\.1|169\.254|OpenSSH/)
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

describe('the response of an agent', () => {
  it('loses cookies, credentials and headers about its server', async () => {
    const headers = {
      ...json,
      'Set-Cookie': ['a=1', 'b=2'],
      'WWW-Authenticate': 'Bearer',
      'Proxy-Authenticate': 'Basic',
      'Authentication-Info': 'x',
      Server: 'agent/1',
      'X-Powered-By': 'agent',
      'Access-Control-Allow-Origin': 'https://evil.example',
      'Access-Control-Allow-Credentials': 'true',
      'Cache-Control': 'public, max-age=99999',
      'CDN-Cache-Control': 'max-age=99999',
      'Cache-Tag': 'agents',
      'Content-Security-Policy': 'default-src *',
      'Strict-Transport-Security': 'max-age=1',
      'Clear-Site-Data': '"*"',
      'Alt-Svc': 'h3=":1"',
      Location: '/elsewhere',
      ETag: '"x"',
      'CF-Ray': 'x',
      'A2A-Version': '1.0',
      'Retry-After': '3',
    }
    called.agent.respond(response => void response.writeHead(200, headers).end(text))
    const ofConnection = ['date', 'content-length', 'connection', 'keep-alive', 'transfer-encoding']
    const received = [...(await send()).headers].filter(([name]) => !ofConnection.includes(name))
    expect(Object.fromEntries(received)).toEqual({
      'a2a-version': '1.0',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.any(String),
      'cache-control': 'no-store',
      'content-type': 'application/json',
      'retry-after': '3',
      'x-content-type-options': 'nosniff',
    })
  })

  it('keeps its JSON byte for byte, including vendor codes', async () => {
    const data = '{"n":1.0,"big":12345678901234567890}'
    const text = `{ "jsonrpc":"2.0","id" : 7, "error":{"code":-31999,"message":"Bücher","data":${data}}}\n`
    called.agent.respond(reply(200, json, text))
    expect((await send()).text).toBe(text)
  })

  const challenge = { ...json, 'WWW-Authenticate': 'Bearer realm="agent"' }

  it('keeps its status with JSON', async () => {
    for (const status of [400, 401, 403, 404, 409, 429, 500, 503]) {
      called.agent.respond(reply(status, challenge, text))
      const { status: actual, body, headers } = await send()
      expect([actual, body], `${status}`).toEqual([status, agentResponse])
      expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer realm="agent"' : null)
    }
  })

  it("is replaced if the agent rejects the host's own credentials", async () => {
    for (const status of [401, 403]) {
      called.agent.respond(reply(status, challenge, text))
      const { status: actual, body, headers } = await send({}, 'faults-trusted', adminToken)
      expect([actual, codeOf(body), headers.get('www-authenticate')], `${status}`).toEqual([502, -32603, null])
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
    expect((await send({ Via: via }, 'faults-trusted')).body).toEqual(agentResponse)
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

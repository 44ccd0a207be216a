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
import { json, reply, stream } from '../support/upstream.ts'

let called: CalledHost<Host>
let shortTimeouts: CalledHost<Host>
beforeAll(async () => {
  called = await useSharedHost()
  shortTimeouts = await useSharedHost('short-timeouts')
  for (const each of [called, shortTimeouts])
    await each.register('calls-upstream', { card: agentCard(each.agent.origin), route: 'gateway' })
  await called.register('calls-upstream-trusted', {
    card: agentCard(called.agent.origin),
    route: 'gateway',
    callers: 'anyone',
    upstream: { secret: 'AGENT_TOKEN' },
  })
})
afterAll(async () => {
  await called.close()
  await shortTimeouts.close()
})

const respondWell = answerCalls

/** Expects that a host serves the next request after a fault of its agent. */
const expectNextCall = async ({ agent, send }: CalledHost<Host>): Promise<void> => {
  agent.respond(respondWell)
  expect((await send('/agents/calls-upstream/a2a', { body: call() })).body).toEqual(agentResponse)
}
afterEach(() => expectNextCall(called))

type Respond = (response: ServerResponse) => void

/** Version and binding, path, request, and the error that the caller receives when the agent fails. */
const forms: [string, string, JsonObject, (code: number, status: number) => object][] = [
  [
    'JSON-RPC 1.0',
    '',
    call(),
    code => ({ jsonrpc: '2.0', id: 7, error: expect.objectContaining({ code, data: [expect.anything()] }) }),
  ],
  [
    'JSON-RPC 0.3',
    '',
    call('message/send', messageV03()),
    code => ({
      jsonrpc: '2.0',
      id: 7,
      error: expect.objectContaining({ code, data: expect.objectContaining({ reason: expect.any(String) }) }),
    }),
  ],
  [
    'HTTP+JSON 1.0',
    '/message:send',
    message(),
    (_, status) => ({ error: expect.objectContaining({ code: status, details: [expect.anything()] }) }),
  ],
  ['HTTP+JSON 0.3', '/v1/message:send', messageV03(), code => expect.objectContaining({ code })],
]

const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '))

describe.each(forms)('over %s, an agent that', (_, path, body, errorBody) => {
  it.each<[string, Respond, number, number]>([
    ['declares JSON and sends HTML', reply(200, json, '<h1>hi'), 502, -32006],
    ['declares JSON and sends an empty body', reply(200, json, ''), 502, -32006],
    ['declares JSON and sends half of it', reply(200, json, '{"jsonrpc":"2.0",'), 502, -32006],
    [
      'declares JSON and sends bytes that are not UTF-8',
      reply(200, json, Buffer.from([0x22, 0xff, 0x22])),
      502,
      -32006,
    ],
    ['declares HTML', reply(200, { 'Content-Type': 'text/html' }, JSON.stringify(agentResponse)), 502, -32006],
    ['declares no type', reply(200, {}, JSON.stringify(agentResponse)), 502, -32006],
    [
      'declares two types',
      response => void response.writeHead(200, { 'Content-Type': ['text/html', 'application/json'] }).end('{}'),
      502,
      -32006,
    ],
    [
      'streams without a request for a stream',
      reply(200, stream, `data: ${JSON.stringify(agentResponse)}\n\n`),
      502,
      -32006,
    ],
    ['returns 500 with HTML', reply(500, { 'Content-Type': 'text/html' }, '<h1>Stack trace'), 502, -32006],
    ['sends 204', reply(204, {}, ''), 502, -32006],
    ['sends 304', reply(304, {}, ''), 502, -32006],
    [
      'redirects to a private address',
      reply(302, { Location: 'http://169.254.169.254/latest/meta-data' }, ''),
      502,
      -32006,
    ],
    ['redirects to this machine', reply(308, { Location: 'http://127.0.0.1:1/' }, ''), 502, -32006],
    ['sends a decompression bomb', reply(200, { ...json, 'Content-Encoding': 'gzip' }, bomb), 502, -32006],
    ['sends 20 MB', reply(200, json, JSON.stringify({ a: 'x'.repeat(20_000_000) })), 502, -32006],
    [
      'declares gzip and sends plain text',
      reply(200, { ...json, 'Content-Encoding': 'gzip' }, JSON.stringify(agentResponse)),
      502,
      -32603,
    ],
    [
      'closes the connection in the middle of a body',
      response =>
        void response.writeHead(200, { ...json, 'Content-Length': '99' }).write('{', () => response.destroy()),
      502,
      -32603,
    ],
    ['closes the connection at once', response => void response.destroy(), 502, -32603],
    ['does not speak HTTP', response => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n'), 502, -32603],
  ])('%s is reported as faulty', async (_, respond, status, code) => {
    called.agent.respond(respond)
    const response = await called.send(`/agents/calls-upstream/a2a${path}`, { body })
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
      response.body,
    ]).toEqual([
      status,
      path === '/message:send' ? 'application/a2a+json' : 'application/json',
      'no-store',
      errorBody(code, status),
    ])
    expect(response.text).not.toMatch(/Stack trace|127\.0\.0\.1|169\.254|OpenSSH/)
  })
})

describe('an agent that', () => {
  it.each<[string, Respond]>([
    ['never responds', () => undefined],
    ['sends only headers', response => response.writeHead(200, json).flushHeaders()],
    [
      'responds byte by byte',
      response => {
        response.writeHead(200, json)
        const drip = setInterval(() => response.write(' '), 20)
        response.on('close', () => clearInterval(drip))
      },
    ],
  ])('%s is reported as timed out in every form, and disconnected', async (_, respond) => {
    const disconnected: Promise<unknown>[] = []
    shortTimeouts.agent.respond(response => {
      disconnected.push(once(response, 'close'))
      respond(response)
    })
    // All at once, so that the timeout passes only once.
    const responses = await Promise.all(
      forms.map(([, path, body]) => shortTimeouts.send(`/agents/calls-upstream/a2a${path}`, { body })),
    )
    for (const [index, { status, body, text }] of responses.entries()) {
      expect([status, body]).toEqual([504, forms[index]?.[3](-32603, 504)])
      expect(text).toContain('0.5 seconds')
    }
    expect(disconnected).toHaveLength(forms.length)
    await Promise.all(disconnected)
    await expectNextCall(shortTimeouts)
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
    called.agent.respond(response => void response.writeHead(200, headers).end(JSON.stringify(agentResponse)))
    const response = await called.send('/agents/calls-upstream/a2a', { body: call() })
    expect(
      Object.fromEntries(
        [...response.headers].filter(
          ([name]) => !/^(?:date|content-length|connection|keep-alive|transfer-encoding)$/.test(name),
        ),
      ),
    ).toEqual({
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
    const text =
      '{ "jsonrpc":"2.0","id" : 7, "error":{"code":-31999,"message":"Bücher","data":{"n":1.0,"big":12345678901234567890}}}\n'
    called.agent.respond(reply(200, json, text))
    expect((await called.send('/agents/calls-upstream/a2a', { body: call() })).text).toBe(text)
  })

  it.each([400, 401, 403, 404, 409, 429, 500, 503])('keeps its status %d with JSON', async status => {
    called.agent.respond(
      reply(status, { ...json, 'WWW-Authenticate': 'Bearer realm="agent"' }, JSON.stringify(agentResponse)),
    )
    const response = await called.send('/agents/calls-upstream/a2a', { body: call() })
    expect([response.status, response.body, response.headers.get('www-authenticate')]).toEqual([
      status,
      agentResponse,
      status === 401 ? 'Bearer realm="agent"' : null,
    ])
  })

  it.each([401, 403])("is replaced if the agent rejects the host's own credentials: %d", async status => {
    called.agent.respond(
      reply(status, { ...json, 'WWW-Authenticate': 'Bearer realm="agent"' }, JSON.stringify(agentResponse)),
    )
    const response = await called.send('/agents/calls-upstream-trusted/a2a', { body: call(), token: adminToken })
    expect([response.status, codeOf(response.body), response.headers.get('www-authenticate')]).toEqual([
      502,
      -32603,
      null,
    ])
  })
})

describe('a loop', () => {
  it('is rejected with 508', async () => {
    called.agent.respond(respondWell)
    await called.send('/agents/calls-upstream/a2a', { body: call() })
    const via = String(called.agent.requests[0]?.headers.via)
    called.agent.requests.length = 0
    const response = await called.send('/agents/calls-upstream/a2a', { body: call(), headers: { Via: via } })
    expect([response.status, codeOf(response.body), called.agent.requests.length]).toEqual([508, -32603, 0])
    const other = await called.send('/agents/calls-upstream-trusted/a2a', { body: call(), headers: { Via: via } })
    expect([other.body, called.agent.requests.length]).toEqual([agentResponse, 1])
  })

  it('through the agent ends', async () => {
    called.agent.respond(async (response, request) => {
      const nested = await called.send('/agents/calls-upstream/a2a', {
        body: call(),
        headers: { Via: String(request.headers.via) },
      })
      response.writeHead(nested.status, json).end(nested.text)
    })
    const response = await called.send('/agents/calls-upstream/a2a', { body: call() })
    expect([response.status, codeOf(response.body), called.agent.requests.length]).toEqual([508, -32603, 1])
  })
})

describe('the address of an agent', () => {
  it.each([
    ['a private address', 'https://10.0.0.1/a2a'],
    ['a private name', 'https://agent.internal/a2a'],
    ['another port of this machine', 'http://127.0.0.1:1/a2a'],
    ['plain http', 'http://agent.example.com/a2a'],
  ])('is never called if it is %s: 502, with the reason only in the log', async (_, url) => {
    await called.register('calls-upstream-private', {
      card: {
        ...agentCard('https://x.example'),
        supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      },
    })
    const response = await called.send('/agents/calls-upstream-private/a2a', { body: call() })
    expect([response.status, codeOf(response.body), response.text.includes(url)]).toEqual([502, -32603, false])
  })
})

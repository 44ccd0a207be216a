import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { toJsonRpcError, toRestError } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import type { ForwardOptions } from '../../src/gateway/upstream/forward.ts'
import type { UpstreamCall } from '../../src/gateway/upstream/request.ts'
import { forwardedBody as body, forwardTo, hostHeaders, succeeded } from '../support/calls.ts'
import { html, json, reply, startUpstream, stream, type UpstreamServer } from '../support/upstream.ts'

let agent: UpstreamServer
beforeAll(async () => {
  agent = await startUpstream()
})
afterAll(() => agent.close())

const send = (outgoing?: Partial<UpstreamCall>, options?: Partial<ForwardOptions>) =>
  forwardTo(agent.origin, outgoing, options)

const unreachable = { kind: 'unreachable', detail: expect.stringMatching(/./) }

const answer =
  '{"jsonrpc": "2.0", "id": 7, "result": {"message": {"messageId": "a", "role": "ROLE_AGENT", "parts": [{"text": "B\\u00fccher – 21 °"}]}}}'

const errorOf = (code: number): string =>
  `{"jsonrpc":"2.0", "id": 7, "error": {"code": ${code}, "message": "x", "data": 1.0}}`

const targetAt = (url: string) => ({ binding: 'JSONRPC', version: '1.0', url }) as const
const restTarget = (): Partial<UpstreamCall> => ({
  target: { binding: 'HTTP+JSON', version: '1.0', url: `${agent.origin}/a2a` },
})

describe('the upstream request', () => {
  it('has the given body and an allow-list of headers', async () => {
    agent.respond(reply(200, json, answer))
    const headers = new Headers({
      Authorization: 'Bearer own',
      Cookie: 'session=1',
      'CF-Ray': '1',
      'Content-Type': 'application/json; charset=utf-8',
      Via: '2 edge',
      'X-Forwarded-For': '192.0.2.1',
    })
    await send({ headers, extensions: ['https://e.example/1'] })
    const [{ headers: received, ...request } = {}] = agent.requests
    expect(request).toEqual({ method: 'POST', path: '/a2a', body })
    expect(received).toEqual({
      accept: 'application/json',
      'a2a-version': '1.0',
      'a2a-extensions': 'https://e.example/1',
      authorization: 'Bearer own',
      'content-type': 'application/json',
      'content-length': String(body.length),
      host: new URL(agent.origin).host,
      via: '2 edge, 1.1 weather.cards.example.com',
      // What Node's own fetch adds.
      'accept-encoding': expect.any(String),
      'accept-language': '*',
      connection: 'keep-alive',
      'sec-fetch-mode': 'cors',
      'user-agent': 'node',
    })
  })

  it('declares its own version to an endpoint of another one', async () => {
    for (const [version, endpoint, expected] of [
      ['1.0', '0.3', ['1.0', 'urn:a', undefined]],
      ['0.3', '1.0', ['0.3', undefined, 'urn:a']],
    ] as const) {
      agent.respond(reply(200, json, answer))
      const target = { binding: 'JSONRPC', version: endpoint, url: `${agent.origin}/a2a` } as const
      await send({ form: { binding: 'JSONRPC', version, id: 7, operation: 'send' }, target, extensions: ['urn:a'] })
      const { headers = {} } = agent.requests[0] ?? {}
      expect(['a2a-version', 'a2a-extensions', 'x-a2a-extensions'].map(name => headers[name])).toEqual(expected)
    }
  })

  it('appends the path to the endpoint over HTTP+JSON', async () => {
    agent.respond(reply(200, json, '{}'))
    await send({ ...restTarget(), method: 'GET', path: 'tasks/1?historyLength=2', body: undefined })
    expect(agent.requests).toMatchObject([{ method: 'GET', path: '/a2a/tasks/1?historyLength=2', body: '' }])
    expect(agent.requests[0]?.headers).not.toHaveProperty('content-type')
  })

  it('goes to a service binding without the checks on network addresses', async () => {
    agent.respond(reply(200, json, answer))
    const requests: [string, string][] = []
    const service = {
      fetch: async (url: string, init: RequestInit) => {
        const request = new Request(url, init)
        requests.push([request.url, await request.text()])
        expect([init.redirect, request.headers.get('A2A-Version')]).toEqual(['manual', '1.0'])
        return new Response(answer, { headers: json })
      },
    } as unknown as Fetcher
    const target = { binding: 'JSONRPC', version: '1.0', url: 'http://localhost/a2a' } as const
    const response = succeeded(await send({ target, service }, { allowedOrigins: '' }))
    expect([await response.text(), requests, agent.requests]).toEqual([answer, [['http://localhost/a2a', body]], []])
  })

  it('is not sent to a forbidden address', async () => {
    for (const [url, detail] of [
      ['http://127.0.0.1:9/a2a', "The agent's address is not https."],
      ['https://169.254.169.254/', "The agent's address is an IP address."],
      ['https://metadata.google.internal/', "The agent's address is not a public name."],
    ] as const)
      expect(await send({ target: targetAt(url) }, { allowedOrigins: '' })).toEqual({ kind: 'misconfigured', detail })
  })

  it('is not sent if it comes back in a loop, or would leave the endpoint', async () => {
    agent.respond(reply(200, json, answer))
    const headers = new Headers({ Via: '1.1 weather.cards.example.com, 1.1 b' })
    expect(await send({ headers })).toEqual({ kind: 'loop' })
    expect(await send({ ...restTarget(), path: '..' })).toMatchObject({ kind: 'misconfigured' })
    expect(agent.requests).toEqual([])
  })
})

describe('the response to the caller', () => {
  it('has the body of the agent byte for byte, and an allow-list of headers', async () => {
    const headers = {
      ...json,
      'A2A-Version': '1.0',
      'A2A-Extensions': 'https://e.example/1',
      'Retry-After': '3',
      'Access-Control-Allow-Origin': 'https://agent.example',
      'Access-Control-Allow-Credentials': 'true',
      'Alt-Svc': 'h3=":443"',
      'Cache-Control': 'public, max-age=60',
      'CF-Ray': '1',
      Connection: 'close',
      Link: '</secret>; rel=next',
      Location: 'https://internal.example/',
      Server: 'agent/1',
      'Set-Cookie': 'session=1',
      'Strict-Transport-Security': 'max-age=1',
      'WWW-Authenticate': 'Bearer',
      'X-Powered-By': 'agent',
    }
    agent.respond(reply(200, headers, answer))
    const response = succeeded(await send())
    expect(Object.fromEntries(response.headers)).toEqual({
      ...hostHeaders,
      'a2a-extensions': 'https://e.example/1',
      'a2a-version': '1.0',
      'content-type': 'application/json',
      'retry-after': '3',
    })
    expect([response.status, await response.text()]).toEqual([200, answer])
  })

  it('may have any JSON type, a BOM, gzip, and an error with its status', async () => {
    const vendorError = '{"jsonrpc":"2.0","id":7,"error":{"code":-32099,"message":"x"}}'
    for (const [status, headers, text] of [
      [200, { 'Content-Type': 'application/a2a+json; charset=utf-8' }, answer],
      [200, json, `\ufeff${answer}`],
      [200, { ...json, 'Content-Encoding': 'gzip' }, answer],
      [200, json, vendorError],
      ...[400, 403, 404, 409, 503].map(status => [status, json, errorOf(-32001)]),
      [500, { 'Content-Type': 'application/a2a+json' }, errorOf(-32603)],
      // A status that Cloudflare uses.
      [522, json, errorOf(-32000)],
      [401, { ...json, 'WWW-Authenticate': 'Bearer realm="a"' }, errorOf(-32000)],
      [429, { ...json, 'Retry-After': '7' }, errorOf(-32000)],
    ] as [number, Record<string, string>, string][]) {
      const { 'Content-Encoding': encoding, ...kept } = headers
      agent.respond(reply(status, headers, encoding ? gzipSync(text) : text))
      const response = succeeded(await send())
      for (const [name, value] of Object.entries(kept)) expect(response.headers.get(name)).toBe(value)
      const body = Buffer.from(await response.arrayBuffer()).toString()
      expect([response.status, body]).toEqual([status, text.replace('\ufeff', '')])
    }
  })

  it('may be empty for a DELETE over HTTP+JSON', async () => {
    const path = 'tasks/1/pushNotificationConfigs/2'
    for (const [status, headers] of [
      [204, {}],
      [200, json],
      [200, {}],
    ] as [number, Record<string, string>][]) {
      agent.respond(reply(status, headers, ''))
      const response = succeeded(await send({ ...restTarget(), method: 'DELETE', path, body: undefined }))
      const type = response.headers.get('Content-Type')
      expect([response.status, await response.text(), type]).toEqual([status, '', null])
    }
  })

  it('is an error if the response of the agent is not A2A', async () => {
    const notJson = { detail: 'the body must be JSON' }
    const tooLarge = { kind: 'response-too-large', maxBytes: 1000 }
    const plain = { 'Content-Type': 'text/plain' }
    for (const [status, headers, text, error] of [
      [502, html, '<h1>Bad Gateway</h1>', {}],
      [200, html, '{"jsonrpc":"2.0"}', {}],
      [200, {}, '{}', {}],
      [200, json, '<html>', notJson],
      [200, json, '{"jsonrpc":"2.0",', notJson],
      [200, json, Buffer.from([0x22, 0xe4, 0x22]), {}],
      [200, json, '', notJson],
      [204, {}, '', {}],
      [205, json, answer, {}],
      // A stream that was not requested, and a status out of range.
      [200, stream, 'data: {}\n\n', {}],
      [999, json, '{}', {}],
      // Redirects to a private address, and to itself.
      [307, { Location: 'http://169.254.169.254/' }, '', { kind: 'redirect' }],
      [302, { ...json, Location: '/a2a' }, '{}', { kind: 'redirect' }],
      [200, json, `"${'x'.repeat(2000)}"`, tooLarge],
      [200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(' '.repeat(1e6)), tooLarge],
      ...['{"jsonrpc":"2.0"}', 'It rains', ''].map(text => [200, plain, text, {}]),
    ] as [number, Record<string, string>, string, object][]) {
      agent.respond(reply(status, headers, text))
      const name = `${status} ${JSON.stringify(headers)} ${text.slice(0, 20)}`
      expect(await send({}, { maxBytes: 1000 }), name).toEqual({ kind: 'invalid-response', status, ...error })
      expect(agent.requests, name).toHaveLength(1)
    }
  })

  it('passes JSON that is declared as plain text with its own type, and reports it', async () => {
    const onRepair = vi.fn()
    const answers = { level: 'enforce', warn: () => undefined, onRepair } as const
    agent.respond(reply(200, { 'Content-Type': 'text/plain; charset=utf-8' }, answer))
    const response = succeeded(await send({}, { answers }))
    expect([await response.text(), response.headers.get('Content-Type')]).toEqual([answer, 'application/json'])
    expect(onRepair.mock.calls).toEqual([[['content-type'], 'response']])
  })

  it('is a network error for an error page of Cloudflare', async () => {
    for (const [status, error] of [
      ...[520, 521, 523, 525, 526, 530].map(status => [status, { kind: 'unreachable' }]),
      ...[522, 524].map(status => [status, { kind: 'timeout' }]),
      ...[519, 527].map(status => [status, { kind: 'invalid-response', status }]),
    ] as [number, CallError][])
      for (const headers of [html, { 'Content-Type': 'text/plain' }, {}] as Record<string, string>[]) {
        agent.respond(reply(status, headers, `error code: ${status}`))
        expect(await send(), `${status}`).toEqual(error)
      }
  })

  it('is cut off at the size limit, even if it never ends', async () => {
    agent.respond(response => {
      response.writeHead(200, json)
      const writeMore = () => {
        if (!response.destroyed && response.write(' '.repeat(1000))) setImmediate(writeMore)
        else response.once('drain', writeMore)
      }
      writeMore()
    })
    expect(await send({}, { maxBytes: 5000 })).toEqual({ kind: 'response-too-large', maxBytes: 5000, status: 200 })
    await agent.disconnected()
  })

  it('is a timeout if the agent does not respond completely in time', async () => {
    for (const respond of [
      () => undefined,
      response => response.writeHead(200, json).flushHeaders(),
      response => response.writeHead(200, { ...json, 'Content-Length': '9' }).write('{'),
      response => {
        response.writeHead(200, json)
        const drip = setInterval(() => response.write(' '), 10)
        response.on('close', () => clearInterval(drip))
      },
    ] as ((response: ServerResponse) => void)[]) {
      agent.respond(respond)
      expect(await send({}, { timeoutSeconds: 0.05 })).toEqual({ kind: 'timeout', seconds: 0.05 })
    }
  })

  it('is an error if the connection fails', async () => {
    for (const respond of [
      response => response.destroy(),
      response => response.writeHead(200, json).write('{', () => response.destroy()),
      response => response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n'),
      reply(200, { ...json, 'Content-Encoding': 'gzip' }, '{}'),
    ] as ((response: ServerResponse) => void)[]) {
      agent.respond(respond)
      expect(await send()).toEqual(unreachable)
    }
  })

  it('is an error if no server listens, or the TLS handshake fails', async () => {
    for (const url of ['http://127.0.0.1:9/', 'https://127.0.0.1:9/', agent.origin.replace('http:', 'https:')]) {
      const allowedOrigins = new URL(url).origin
      expect(await send({ target: targetAt(url) }, { allowedOrigins }), url).toEqual(unreachable)
    }
  })
})

describe('an authentication error of the agent, or one of its limits', () => {
  it("is not passed on if the credentials were the Worker's", async () => {
    for (const status of [401, 403]) {
      agent.respond(reply(status, { ...json, 'WWW-Authenticate': 'Bearer' }, '{}'))
      const error = { kind: 'misconfigured', detail: expect.stringContaining(String(status)) }
      expect(await send({ credentials: { secret: 's3cret' } })).toMatchObject(error)
      expect(agent.requests[0]?.headers.authorization).toBe('Bearer s3cret')
    }
  })

  it('is converted from HTML into an error of the version and binding', async () => {
    const refused = { kind: 'agent-refused', status: 401 } as const
    for (const [binding, version, type, error] of [
      ['JSONRPC', '1.0', 'json', { jsonrpc: '2.0', id: 7, error: toJsonRpcError(refused, '1.0') }],
      ['JSONRPC', '0.3', 'json', { jsonrpc: '2.0', id: 7, error: toJsonRpcError(refused, '0.3') }],
      ['HTTP+JSON', '0.3', 'json', toRestError(refused, '0.3')],
      ['HTTP+JSON', '1.0', 'a2a+json', toRestError(refused, '1.0')],
    ] as const) {
      agent.respond(reply(401, { ...html, 'WWW-Authenticate': 'Bearer realm="agent"' }, '<h1>Who are you?</h1>'))
      const target = { binding, version, url: agent.origin }
      const response = succeeded(await send({ target, form: { binding, version, id: 7, operation: 'send' } }))
      expect([response.status, await response.json()]).toEqual([401, error])
      expect(Object.fromEntries(response.headers)).toEqual({
        ...hostHeaders,
        'content-type': `application/${type}`,
        'www-authenticate': 'Bearer realm="agent"',
      })
    }
  })

  it('keeps its status whatever its body, and Retry-After', async () => {
    for (const status of [401, 403, 413, 429])
      for (const body of ['<h1>No</h1>', '', '{']) {
        agent.respond(reply(status, { ...html, 'Retry-After': '7' }, body))
        const response = succeeded(await send())
        expect([response.status, response.headers.get('Retry-After')], body).toEqual([status, '7'])
      }
  })
})

it('does not report a defect of this host as an unreachable agent', async () => {
  agent.respond(reply(401, html, '<h1>Who are you?</h1>'))
  const form = {
    binding: 'JSONRPC',
    version: '1.0',
    operation: 'send',
    get id(): never {
      throw new TypeError('a defect')
    },
  } as const
  await expect(send({ form })).rejects.toThrow(new TypeError('a defect'))
})

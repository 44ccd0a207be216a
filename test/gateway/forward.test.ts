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

  it.each([
    ['1.0', '0.3', ['1.0', 'urn:a', undefined]],
    ['0.3', '1.0', ['0.3', undefined, 'urn:a']],
  ] as const)('declares A2A %s, its own version, to an endpoint of %s', async (version, endpoint, expected) => {
    agent.respond(reply(200, json, answer))
    const target = { binding: 'JSONRPC', version: endpoint, url: `${agent.origin}/a2a` } as const
    await send({ form: { binding: 'JSONRPC', version, id: 7, operation: 'send' }, target, extensions: ['urn:a'] })
    const { headers = {} } = agent.requests[0] ?? {}
    expect(['a2a-version', 'a2a-extensions', 'x-a2a-extensions'].map(name => headers[name])).toEqual(expected)
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

  it.each([
    ['http://127.0.0.1:9/a2a', "The agent's address is not https."],
    ['https://169.254.169.254/', "The agent's address is an IP address."],
    ['https://metadata.google.internal/', "The agent's address is not a public name."],
  ])('is not sent to a forbidden address: %s', async (url, detail) => {
    const target = { binding: 'JSONRPC', version: '1.0', url } as const
    expect(await send({ target }, { allowedOrigins: '' })).toEqual({ kind: 'misconfigured', detail })
  })

  it.each([
    [
      'comes back in a loop',
      { headers: new Headers({ Via: '1.1 weather.cards.example.com, 1.1 b' }) },
      { kind: 'loop' },
    ],
    ['would leave the endpoint', { target: { binding: 'HTTP+JSON' }, path: '..' }, { kind: 'misconfigured' }],
  ])('is not sent if it %s', async (_, outgoing, error) => {
    agent.respond(reply(200, json, answer))
    const target = { version: '1.0', url: `${agent.origin}/a2a`, binding: 'JSONRPC', ...Object(outgoing).target }
    expect(await send({ ...(outgoing as Partial<UpstreamCall>), target })).toMatchObject(error)
    expect(agent.requests).toEqual([])
  })
})

describe('the response to the caller', () => {
  it('has the body of the agent byte for byte, and an allow-list of headers', async () => {
    const headers = {
      ...json,
      'A2A-Version': '1.0',
      'A2A-Extensions': 'https://e.example/1',
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
    })
    expect([response.status, await response.text()]).toEqual([200, answer])
  })

  it.each([
    ['another JSON type', 200, { 'Content-Type': 'application/a2a+json; charset=utf-8' }, answer],
    ['a BOM, which is removed', 200, json, `\ufeff${answer}`],
    ['gzip, which is inflated', 200, { ...json, 'Content-Encoding': 'gzip' }, answer],
    ["a JSON-RPC error that is not A2A's", 200, json, '{"jsonrpc":"2.0","id":7,"error":{"code":-32099,"message":"x"}}'],
    ['an error with an HTTP status', 404, json, errorOf(-32001)],
    ['a server error', 500, { 'Content-Type': 'application/a2a+json' }, errorOf(-32603)],
    ['an error with a status code that Cloudflare uses', 522, json, errorOf(-32000)],
    ['a challenge', 401, { ...json, 'WWW-Authenticate': 'Bearer realm="a"' }, errorOf(-32000)],
    ['a rate limit', 429, { ...json, 'Retry-After': '7' }, errorOf(-32000)],
  ])('may have %s', async (_, status, headers, text) => {
    agent.respond(reply(status, headers, 'Content-Encoding' in headers ? gzipSync(text) : text))
    const response = succeeded(await send())
    const { 'Content-Encoding': __, ...down } = { 'Content-Encoding': '', ...headers }
    for (const [name, value] of Object.entries(down)) expect(response.headers.get(name)).toBe(value)
    expect([response.status, Buffer.from(await response.arrayBuffer()).toString()]).toEqual([
      status,
      text.replace('\ufeff', ''),
    ])
  })

  it.each([
    ['no body', 204, {}],
    ['an empty body', 200, json],
    ['an empty body without a type', 200, {}],
  ])('may be empty for a DELETE over HTTP+JSON: %s', async (_, status, headers) => {
    agent.respond(reply(status, headers, ''))
    const response = succeeded(
      await send({ ...restTarget(), method: 'DELETE', path: 'tasks/1/pushNotificationConfigs/2', body: undefined }),
    )
    expect([response.status, await response.text(), response.headers.get('Content-Type')]).toEqual([status, '', null])
  })

  it.each([
    ['HTML', 502, html, '<h1>Bad Gateway</h1>', { kind: 'invalid-response', status: 502 }],
    ['HTML with 200', 200, html, '{"jsonrpc":"2.0"}', { kind: 'invalid-response', status: 200 }],
    ['without a content type', 200, {}, '{}', { kind: 'invalid-response', status: 200 }],
    ['invalid JSON', 200, json, '<html>', { kind: 'invalid-response', status: 200, detail: 'the body must be JSON' }],
    [
      'truncated JSON',
      200,
      json,
      '{"jsonrpc":"2.0",',
      { kind: 'invalid-response', status: 200, detail: 'the body must be JSON' },
    ],
    ['JSON that is not UTF-8', 200, json, Buffer.from([0x22, 0xe4, 0x22]), { kind: 'invalid-response', status: 200 }],
    ['empty', 200, json, '', { kind: 'invalid-response', status: 200, detail: 'the body must be JSON' }],
    ['204', 204, {}, '', { kind: 'invalid-response', status: 204 }],
    ['205 with JSON', 205, json, answer, { kind: 'invalid-response', status: 205 }],
    ['an unrequested stream', 200, stream, 'data: {}\n\n', { kind: 'invalid-response', status: 200 }],
    ['a status code out of range', 999, json, '{}', { kind: 'invalid-response', status: 999 }],
    [
      'a redirect to a private address',
      307,
      { Location: 'http://169.254.169.254/' },
      '',
      { kind: 'redirect', status: 307 },
    ],
    ['a redirect to itself, as JSON', 302, { ...json, Location: '/a2a' }, '{}', { kind: 'redirect', status: 302 }],
    ['too large', 200, json, `"${'x'.repeat(2000)}"`, { kind: 'response-too-large', maxBytes: 1000, status: 200 }],
    [
      'a decompression bomb',
      200,
      { ...json, 'Content-Encoding': 'gzip' },
      gzipSync(' '.repeat(1e6)),
      { kind: 'response-too-large', maxBytes: 1000, status: 200 },
    ],
  ])("is an error if the agent's is %s", async (_, status, headers, text, error) => {
    agent.respond(reply(status, headers as Record<string, string>, text))
    expect(await send({}, { maxBytes: 1000 })).toEqual(error)
    expect(agent.requests).toHaveLength(1)
  })

  it('passes JSON that is declared as plain text with its own type, and reports it', async () => {
    const onRepair = vi.fn()
    const answers = { level: 'enforce', warn: () => undefined, onRepair } as const
    agent.respond(reply(200, { 'Content-Type': 'text/plain; charset=utf-8' }, answer))
    const response = succeeded(await send({}, { answers }))
    expect([await response.text(), response.headers.get('Content-Type')]).toEqual([answer, 'application/json'])
    expect(onRepair.mock.calls).toEqual([[['content-type'], 'response']])
  })

  it.each(['{"jsonrpc":"2.0"}', 'It rains', ''])('is an error if it is plain text that is not A2A: %j', async text => {
    agent.respond(reply(200, { 'Content-Type': 'text/plain' }, text))
    expect(await send()).toEqual({ kind: 'invalid-response', status: 200 })
  })

  it.each<[number, CallError]>([
    ...[520, 521, 523, 525, 526, 530].map((status): [number, CallError] => [status, { kind: 'unreachable' }]),
    ...[522, 524].map((status): [number, CallError] => [status, { kind: 'timeout' }]),
    ...[519, 527].map((status): [number, CallError] => [status, { kind: 'invalid-response', status }]),
  ])('is a network error for an error page of Cloudflare with %d', async (status, error) => {
    for (const headers of [html, { 'Content-Type': 'text/plain' }, {}]) {
      agent.respond(reply(status, headers as Record<string, string>, `error code: ${status}`))
      expect(await send()).toEqual(error)
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
  ])('is a timeout if the agent %s', async (_, respond) => {
    agent.respond(respond)
    expect(await send({}, { timeoutSeconds: 0.1 })).toEqual({ kind: 'timeout', seconds: 0.1 })
  })

  it.each([
    ['closes the connection', (response: ServerResponse) => void response.destroy()],
    [
      'closes the connection in the middle of a body',
      (response: ServerResponse) => void response.writeHead(200, json).write('{', () => response.destroy()),
    ],
    ['does not speak HTTP', (response: ServerResponse) => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n')],
    ['declares gzip and sends plain text', reply(200, { ...json, 'Content-Encoding': 'gzip' }, '{}')],
  ])('is an error if the agent %s', async (_, respond) => {
    agent.respond(respond)
    expect(await send()).toEqual(unreachable)
  })

  it.each([['http://127.0.0.1:9/'], ['https://127.0.0.1:9/']])('is an error if no server listens: %s', async url => {
    const target = { binding: 'JSONRPC', version: '1.0', url } as const
    expect(await send({ target }, { allowedOrigins: new URL(url).origin })).toEqual(unreachable)
  })

  it('is an error if the TLS handshake fails', async () => {
    const url = agent.origin.replace('http:', 'https:')
    const target = { binding: 'JSONRPC', version: '1.0', url } as const
    expect(await send({ target }, { allowedOrigins: url })).toEqual(unreachable)
  })
})

describe('an authentication error of the agent, or one of its limits', () => {
  it.each([401, 403])("is not passed on if the credentials were the Worker's: %d", async status => {
    agent.respond(reply(status, { ...json, 'WWW-Authenticate': 'Bearer' }, '{}'))
    expect(await send({ credentials: { secret: 's3cret' } })).toMatchObject({
      kind: 'misconfigured',
      detail: expect.stringContaining(String(status)),
    })
    expect(agent.requests[0]?.headers.authorization).toBe('Bearer s3cret')
  })

  const refused = { kind: 'agent-refused', status: 401 } as const
  it.each([
    ['JSONRPC', '1.0', { jsonrpc: '2.0', id: 7, error: toJsonRpcError(refused, '1.0') }],
    ['JSONRPC', '0.3', { jsonrpc: '2.0', id: 7, error: toJsonRpcError(refused, '0.3') }],
    ['HTTP+JSON', '0.3', toRestError(refused, '0.3')],
    ['HTTP+JSON', '1.0', toRestError(refused, '1.0')],
  ] as const)('is converted from HTML into an error of %s %s', async (binding, version, error) => {
    agent.respond(reply(401, { ...html, 'WWW-Authenticate': 'Bearer realm="agent"' }, '<h1>Who are you?</h1>'))
    const target = { binding, version, url: agent.origin }
    const response = succeeded(await send({ target, form: { binding, version, id: 7, operation: 'send' } }))
    expect([response.status, await response.json()]).toEqual([401, error])
    expect(Object.fromEntries(response.headers)).toEqual({
      ...hostHeaders,
      'content-type': `application/${binding === 'HTTP+JSON' && version === '1.0' ? 'a2a+json' : 'json'}`,
      'www-authenticate': 'Bearer realm="agent"',
    })
  })

  it.each([401, 403, 413, 429])('keeps its status %d, whatever its body', async status => {
    for (const body of ['<h1>No</h1>', '', '{']) {
      agent.respond(reply(status, html, body))
      expect([body, succeeded(await send()).status]).toEqual([body, status])
    }
  })

  it('keeps Retry-After', async () => {
    agent.respond(reply(429, { 'Retry-After': '7' }, ''))
    const response = succeeded(await send())
    expect([response.status, response.headers.get('Retry-After')]).toEqual([429, '7'])
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

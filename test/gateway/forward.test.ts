import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJsonRpcError, toRestError } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import type { ForwardOptions } from '../../src/gateway/forward.ts'
import type { UpstreamCall } from '../../src/gateway/upstream-request.ts'
import { forwardedBody as body, forwardTo, hostHeaders, succeeded } from '../support/calls.ts'
import { html, json, reply, startUpstream, stream, type UpstreamServer } from '../support/upstream.ts'

let agent: UpstreamServer
beforeAll(async () => {
  agent = await startUpstream()
})
afterAll(() => agent.close())

const call = (outgoing?: Partial<UpstreamCall>, options?: Partial<ForwardOptions>) =>
  forwardTo(agent.origin, outgoing, options)

const unreachable = { kind: 'unreachable', detail: expect.stringMatching(/./) }

const answer = '{"jsonrpc": "2.0", "id": 7, "result": {"text": "B\\u00fccher – 21 °"}}'

const rest = (): Partial<UpstreamCall> => ({
  target: { binding: 'HTTP+JSON', version: '1.0', url: `${agent.origin}/a2a` },
})

describe('a call on its way up', () => {
  it('is the text that it is given, with an allow-list of headers', async () => {
    agent.respond(reply(200, json, answer))
    const headers = new Headers({
      Authorization: 'Bearer own',
      Cookie: 'session=1',
      'CF-Ray': '1',
      'Content-Type': 'application/json; charset=utf-8',
      Via: '2 edge',
      'X-Forwarded-For': '192.0.2.1',
    })
    await call({ headers, extensions: ['https://e.example/1'] })
    const [{ headers: sent, ...request } = {}] = agent.requests
    expect(request).toEqual({ method: 'POST', path: '/a2a', body })
    expect(sent).toEqual({
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
  ] as const)('names A2A %s, in which it is written, at an endpoint of %s', async (version, endpoint, expected) => {
    agent.respond(reply(200, json, answer))
    const target = { binding: 'JSONRPC', version: endpoint, url: `${agent.origin}/a2a` } as const
    await call({ form: { binding: 'JSONRPC', version, id: 7 }, target, extensions: ['urn:a'] })
    const { headers = {} } = agent.requests[0] ?? {}
    expect(['a2a-version', 'a2a-extensions', 'x-a2a-extensions'].map(name => headers[name])).toEqual(expected)
  })

  it('goes below the endpoint over HTTP+JSON', async () => {
    agent.respond(reply(200, json, '{}'))
    await call({ ...rest(), method: 'GET', path: 'tasks/1?historyLength=2', body: undefined })
    expect(agent.requests).toMatchObject([{ method: 'GET', path: '/a2a/tasks/1?historyLength=2', body: '' }])
    expect(agent.requests[0]?.headers).not.toHaveProperty('content-type')
  })

  it('goes to the service in place of the network, and the guard does not apply', async () => {
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
    const came = succeeded(await call({ target, service }, { allowedOrigins: '' }))
    expect([await came.text(), requests, agent.requests]).toEqual([answer, [['http://localhost/a2a', body]], []])
  })

  it.each([
    ['http://127.0.0.1:9/a2a', "The agent's address is not https."],
    ['https://169.254.169.254/', "The agent's address is an IP address."],
    ['https://metadata.google.internal/', "The agent's address is not a public name."],
  ])('is not made where the guard says no: %s', async (url, detail) => {
    const target = { binding: 'JSONRPC', version: '1.0', url } as const
    expect(await call({ target }, { allowedOrigins: '' })).toEqual({ kind: 'misconfigured', detail })
  })

  it.each([
    ['was here before', { headers: new Headers({ Via: '1.1 weather.cards.example.com, 1.1 b' }) }, { kind: 'loop' }],
    ['would leave the endpoint', { target: { binding: 'HTTP+JSON' }, path: '..' }, { kind: 'misconfigured' }],
    ['has a secret that no header can hold', { credentials: { secret: '' } }, { kind: 'misconfigured' }],
  ])('is not made that %s', async (_, outgoing, failure) => {
    agent.respond(reply(200, json, answer))
    const target = { version: '1.0', url: `${agent.origin}/a2a`, binding: 'JSONRPC', ...Object(outgoing).target }
    expect(await call({ ...(outgoing as Partial<UpstreamCall>), target })).toMatchObject(failure)
    expect(agent.requests).toEqual([])
  })
})

describe('an answer on its way down', () => {
  it('is byte for byte what came, with an allow-list of headers', async () => {
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
    const came = succeeded(await call())
    expect(Object.fromEntries(came.headers)).toEqual({
      ...hostHeaders,
      'a2a-extensions': 'https://e.example/1',
      'a2a-version': '1.0',
      'content-type': 'application/json',
    })
    expect([came.status, await came.text()]).toEqual([200, answer])
  })

  it.each([
    ['JSON of another kind', 200, { 'Content-Type': 'application/a2a+json; charset=utf-8' }, '{ "a" : 1.0 }'],
    ['a BOM, which stays behind', 200, json, '\ufeff{}'],
    ['gzip, inflated', 200, { ...json, 'Content-Encoding': 'gzip' }, '{"zipped":true}'],
    ["a JSON-RPC error that is not A2A's", 200, json, '{"jsonrpc":"2.0","id":7,"error":{"code":-32099,"message":"x"}}'],
    ['an error of HTTP', 404, json, '{"error":{"code":404,"status":"NOT_FOUND","message":"no such task"}}'],
    ['a failure of the agent', 500, { 'Content-Type': 'application/problem+json' }, '{"title":"oops"}'],
    ["JSON with a status of Cloudflare's", 522, json, '{"error":"mine"}'],
    ['a wish for credentials', 401, { ...json, 'WWW-Authenticate': 'Bearer realm="a"' }, '{"error":{"code":401}}'],
    ['too much', 429, { ...json, 'Retry-After': '7' }, '{"error":{"code":429}}'],
  ])('may be %s', async (_, status, headers, text) => {
    agent.respond(reply(status, headers, 'Content-Encoding' in headers ? gzipSync(text) : text))
    const came = succeeded(await call())
    const { 'Content-Encoding': __, ...down } = { 'Content-Encoding': '', ...headers }
    for (const [name, value] of Object.entries(down)) expect(came.headers.get(name)).toBe(value)
    expect([came.status, Buffer.from(await came.arrayBuffer()).toString()]).toEqual([
      status,
      text.replace('\ufeff', ''),
    ])
  })

  it.each([
    ['without a body', 204, {}],
    ['with an empty one', 200, json],
    ['with an empty one of no type', 200, {}],
  ])('may be nothing to a DELETE over HTTP+JSON: %s', async (_, status, headers) => {
    agent.respond(reply(status, headers, ''))
    const came = succeeded(
      await call({ ...rest(), method: 'DELETE', path: 'tasks/1/pushNotificationConfigs/2', body: undefined }),
    )
    expect([came.status, await came.text(), came.headers.get('Content-Type')]).toEqual([status, '', null])
  })

  it.each([
    ['HTML', 502, html, '<h1>Bad Gateway</h1>', { kind: 'invalid-response', status: 502 }],
    ['a page with 200', 200, html, '{"jsonrpc":"2.0"}', { kind: 'invalid-response', status: 200 }],
    ['no type', 200, {}, '{}', { kind: 'invalid-response', status: 200 }],
    ['JSON that is none', 200, json, '<html>', { kind: 'invalid-response', status: 200 }],
    ['JSON that is cut off', 200, json, '{"jsonrpc":"2.0",', { kind: 'invalid-response', status: 200 }],
    ['JSON that is not UTF-8', 200, json, Buffer.from([0x22, 0xe4, 0x22]), { kind: 'invalid-response', status: 200 }],
    ['nothing', 200, json, '', { kind: 'invalid-response', status: 200 }],
    ['nothing, and says so', 204, {}, '', { kind: 'invalid-response', status: 204 }],
    ['a stream that nobody asked for', 200, stream, 'data: {}\n\n', { kind: 'invalid-response', status: 200 }],
    ['a status of its own', 999, json, '{}', { kind: 'invalid-response', status: 999 }],
    [
      'a redirect to a private address',
      307,
      { Location: 'http://169.254.169.254/' },
      '',
      { kind: 'redirect', status: 307 },
    ],
    ['a redirect to itself, as JSON', 302, { ...json, Location: '/a2a' }, '{}', { kind: 'redirect', status: 302 }],
    ['too much', 200, json, `"${'x'.repeat(2000)}"`, { kind: 'response-too-large', maxBytes: 1000, status: 200 }],
    [
      'a bomb',
      200,
      { ...json, 'Content-Encoding': 'gzip' },
      gzipSync(' '.repeat(1e6)),
      { kind: 'response-too-large', maxBytes: 1000, status: 200 },
    ],
  ])('is a failure where it is %s', async (_, status, headers, text, failure) => {
    agent.respond(reply(status, headers as Record<string, string>, text))
    expect(await call({}, { maxBytes: 1000 })).toEqual(failure)
    expect(agent.requests).toHaveLength(1)
  })

  it.each<[number, CallError]>([
    ...[520, 521, 523, 525, 526, 530].map((status): [number, CallError] => [status, { kind: 'unreachable' }]),
    ...[522, 524].map((status): [number, CallError] => [status, { kind: 'timeout' }]),
    ...[519, 527].map((status): [number, CallError] => [status, { kind: 'invalid-response', status }]),
  ])("is a failure of the network's where a page of Cloudflare's says %d", async (status, failure) => {
    for (const headers of [html, { 'Content-Type': 'text/plain' }, {}]) {
      agent.respond(reply(status, headers as Record<string, string>, `error code: ${status}`))
      expect(await call()).toEqual(failure)
    }
  })

  it('is no longer read when it is larger than allowed, even if it never ends', async () => {
    agent.respond(answering => {
      answering.writeHead(200, json)
      const more = () => {
        if (!answering.destroyed && answering.write(' '.repeat(1000))) setImmediate(more)
        else answering.once('drain', more)
      }
      more()
    })
    expect(await call({}, { maxBytes: 5000 })).toEqual({ kind: 'response-too-large', maxBytes: 5000, status: 200 })
    await agent.disconnected()
  })

  it.each([
    ['says nothing', () => undefined],
    ['sends headers and no more', (answering: ServerResponse) => void answering.writeHead(200, json).flushHeaders()],
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
  ])('is a timeout where the agent %s', async (_, how) => {
    agent.respond(how)
    expect(await call({}, { timeoutSeconds: 0.1 })).toEqual({ kind: 'timeout', seconds: 0.1 })
  })

  it.each([
    ['hangs up', (answering: ServerResponse) => void answering.destroy()],
    [
      'breaks off',
      (answering: ServerResponse) => void answering.writeHead(200, json).write('{', () => answering.destroy()),
    ],
    ['speaks no HTTP', (answering: ServerResponse) => void answering.socket?.end('SSH-2.0-OpenSSH_9.9\r\n')],
    ['says that it is gzip and is not', reply(200, { ...json, 'Content-Encoding': 'gzip' }, '{}')],
  ])('is a failure where the agent %s', async (_, how) => {
    agent.respond(how)
    expect(await call()).toEqual(unreachable)
  })

  it.each([['http://127.0.0.1:9/'], ['https://127.0.0.1:9/']])('is a failure where nobody listens: %s', async url => {
    const target = { binding: 'JSONRPC', version: '1.0', url } as const
    expect(await call({ target }, { allowedOrigins: new URL(url).origin })).toEqual(unreachable)
  })

  it('is a failure where TLS is', async () => {
    const url = agent.origin.replace('http:', 'https:')
    const target = { binding: 'JSONRPC', version: '1.0', url } as const
    expect(await call({ target }, { allowedOrigins: url })).toEqual(unreachable)
  })
})

describe('a refusal of the agent', () => {
  it.each([401, 403])("is no concern of the caller's where the credentials were the Worker's: %d", async status => {
    agent.respond(reply(status, { ...json, 'WWW-Authenticate': 'Bearer' }, '{}'))
    expect(await call({ credentials: { secret: 's3cret' } })).toMatchObject({
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
  ] as const)(
    'comes in the form of the call where the agent tells it in HTML: %s %s',
    async (binding, version, error) => {
      agent.respond(reply(401, { ...html, 'WWW-Authenticate': 'Bearer realm="agent"' }, '<h1>Who are you?</h1>'))
      const target = { binding, version, url: agent.origin }
      const came = succeeded(await call({ target, form: { binding, version, id: 7 } }))
      expect([came.status, await came.json()]).toEqual([401, error])
      expect(Object.fromEntries(came.headers)).toEqual({
        ...hostHeaders,
        'content-type': 'application/json',
        'www-authenticate': 'Bearer realm="agent"',
      })
    },
  )

  it('says when to come back', async () => {
    agent.respond(reply(429, { 'Retry-After': '7' }, ''))
    const came = succeeded(await call())
    expect([came.status, came.headers.get('Retry-After')]).toEqual([429, '7'])
  })
})

it('does not report a defect of this host as an unreachable agent', async () => {
  agent.respond(reply(401, html, '<h1>Who are you?</h1>'))
  const form = {
    binding: 'JSONRPC',
    version: '1.0',
    get id(): never {
      throw new TypeError('a defect')
    },
  } as const
  await expect(call({ form })).rejects.toThrow(new TypeError('a defect'))
})

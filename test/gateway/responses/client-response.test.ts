import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { CallError } from '../../../src/a2a/call-error.ts'
import type { A2ACall } from '../../../src/a2a/operations.ts'
import type { CallProfile } from '../../../src/card/call-profile.ts'
import { permit } from '../../../src/gateway/gate/admit.ts'
import type { Permitted } from '../../../src/gateway/gate/exchange.ts'
import { toClientResponse } from '../../../src/gateway/responses/client-response.ts'
import { send } from '../../../src/gateway/send.ts'
import type { UpstreamMessage } from '../../../src/gateway/upstream/index.ts'
import '../../support/workers/identity-transform-stream.ts'
import { numberedEvent } from '../../support/answers.ts'
import {
  callWith,
  exchangeWith,
  gateWith,
  hostHeaders,
  profileWith,
  succeeded,
  toRestError,
} from '../../support/calls.ts'
import { parseEvents } from '../../support/event-stream.ts'
import { html, json, reply, startUpstream, stream, type UpstreamServer } from '../../support/upstream.ts'

let agent: UpstreamServer
beforeAll(async () => {
  agent = await startUpstream()
})
afterAll(() => agent.close())

type Sent = {
  call?: Partial<A2ACall>
  permitted?: Partial<Permitted>
  profile?: Partial<CallProfile>
  env?: Record<string, string>
  headers?: HeadersInit
}

/** Sends a permitted call to the agent, by default a message in 1.0 over JSON-RPC. Returns its exchange, too. */
const exchangeCall = async ({ call: changes, permitted, profile, env, headers }: Sent = {}) => {
  const call = callWith({ id: 7, ...changes })
  const { binding, version } = call
  const target = { binding, version, url: `${agent.origin}/a2a` }
  const REGISTRY = { getByName: () => ({ recordObservations: async () => undefined }) }
  const variables = { REGISTRY, ALLOWED_ORIGINS: agent.origin, ...env } as unknown as Env
  const gate = gateWith({ targets: [target], ...profile }, variables)
  const exchange = exchangeWith(gate, call, { 'Content-Type': 'application/json', ...headers })
  const sent = { ...permit(gate, call), ...permitted, target: gate.profile.targets[0] ?? target }
  return { result: await send(sent, exchange), exchange }
}

const sendCall = async (sent?: Sent) => (await exchangeCall(sent)).result

const answer =
  '{"jsonrpc": "2.0", "id": 7, "result": {"message": {"messageId": "a", "role": "ROLE_AGENT", "parts": [{"text": "B\\u00fccher – 21 °"}]}}}'

const event = (number: number) => `data: ${JSON.stringify(numberedEvent(number, 'JSONRPC', '1.0'))}\n\n`

/** A call over HTTP+JSON to a path below the agent's endpoint. */
const restCall = (path: string, message: Partial<UpstreamMessage> = {}): Sent => ({
  call: { binding: 'HTTP+JSON', id: null, operation: path === 'message:stream' ? 'stream' : 'send' },
  permitted: { message: { method: 'POST', path, body: '{}', ...message } },
})

const streamingCall: Sent = { call: { operation: 'stream' } }

describe('the upstream request', () => {
  it('is not sent to a forbidden address', async () => {
    const error = { kind: 'misconfigured', detail: "The agent's address is an IP address." }
    const url = 'https://169.254.169.254/'
    expect(await sendCall({ profile: { targets: [{ binding: 'JSONRPC', version: '1.0', url }] } })).toEqual(error)
  })

  it('is not sent if it comes back in a loop, or would leave the endpoint', async () => {
    agent.respond(reply(200, json, answer))
    const headers = { Via: '1.1 weather.cards.example.com, 1.1 b' }
    expect(await sendCall({ headers })).toEqual({ kind: 'loop' })
    expect(await sendCall(restCall('..'))).toMatchObject({ kind: 'misconfigured' })
    expect(agent.requests).toEqual([])
  })
})

describe('the response to the caller', () => {
  it('has the body of the agent byte for byte, and an allow-list of headers', async () => {
    const passed = { 'A2A-Version': '1.0', 'A2A-Extensions': 'https://e.example/1', 'Retry-After': '3' }
    const headers = {
      ...{ ...json, ...passed, 'Access-Control-Allow-Origin': 'https://agent.example', 'Cache-Control': 'public' },
      ...{ Location: 'https://internal.example/', Server: 'agent/1', 'Set-Cookie': 'session=1' },
      'WWW-Authenticate': 'Bearer',
    }
    agent.respond(reply(200, headers, answer))
    const response = succeeded(await sendCall())
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
    const error = '{"jsonrpc":"2.0", "id": 7, "error": {"code": -32001, "message": "x", "data": 1.0}}'
    for (const [status, headers, text] of [
      [200, { 'Content-Type': 'application/a2a+json; charset=utf-8' }, answer],
      [200, json, `\ufeff${answer}`],
      [200, { ...json, 'Content-Encoding': 'gzip' }, answer],
      [400, json, error],
      // Statuses of which other bodies are replaced: one of Cloudflare's, and one that is passed on.
      [522, json, error],
      [429, json, error],
    ] as [number, Record<string, string>, string][]) {
      const { 'Content-Encoding': encoding, ...kept } = headers
      agent.respond(reply(status, headers, encoding ? gzipSync(text) : text))
      const response = succeeded(await sendCall())
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
    ] as [number, Record<string, string>][]) {
      agent.respond(reply(status, headers, ''))
      const response = succeeded(await sendCall(restCall(path, { method: 'DELETE', body: undefined })))
      const type = response.headers.get('Content-Type')
      expect([response.status, await response.text(), type]).toEqual([status, '', null])
      expect(agent.requests).toMatchObject([{ method: 'DELETE', path: `/a2a/${path}`, body: '' }])
      expect(agent.requests[0]?.headers).not.toHaveProperty('content-type')
    }
  })

  it('is an error if the response of the agent is not A2A', async () => {
    const plain = { 'Content-Type': 'text/plain' }
    for (const [status, headers, text, error] of [
      [502, html, '<h1>Bad Gateway</h1>', {}],
      [200, json, '<html>', { detail: 'the body must be JSON' }],
      // Not UTF-8.
      [200, json, Buffer.from([0x22, 0xe4, 0x22]), {}],
      [204, {}, '', {}],
      [200, json, '', { detail: 'the body must be JSON' }],
      // A stream that was not requested.
      [200, stream, 'data: {}\n\n', {}],
      [302, { ...json, Location: '/a2a' }, '{}', { kind: 'redirect' }],
      [200, json, `"${'x'.repeat(4_194_303)}"`, { kind: 'response-too-large', maxBytes: 4_194_304 }],
      [200, plain, 'It rains', {}],
      [500, plain, answer, {}],
    ] as [number, Record<string, string>, string, object][]) {
      agent.respond(reply(status, headers, text))
      const name = `${status} ${JSON.stringify(headers)} ${text.slice(0, 20)}`
      expect(await sendCall(), name).toEqual({ kind: 'invalid-response', status, ...error })
    }
  })

  it('passes JSON that is declared as plain text with its own type, and reports it', async () => {
    agent.respond(reply(200, { 'Content-Type': 'text/plain; charset=utf-8' }, answer))
    const { result, exchange } = await exchangeCall()
    const response = succeeded(result)
    expect([await response.text(), response.headers.get('Content-Type')]).toEqual([answer, 'application/json'])
    expect(exchange.warnings).toEqual([{ kind: 'repaired', repairs: ['content-type'] }])
  })

  it('is a network error for an error page of Cloudflare', async () => {
    for (const [status, error] of [
      ...[520, 521, 523, 525, 526, 530].map(status => [status, { kind: 'unreachable' }]),
      ...[522, 524].map(status => [status, { kind: 'timeout' }]),
      ...[519, 527].map(status => [status, { kind: 'invalid-response', status }]),
    ] as [number, CallError][]) {
      agent.respond(reply(status, html, `error code: ${status}`))
      expect(await sendCall(), `${status}`).toEqual(error)
    }
  })

  it('is an error if the connection fails, or the agent does not respond completely in time', async () => {
    const unreachable = { kind: 'unreachable', detail: expect.stringMatching(/./) }
    const timeout = { kind: 'timeout', seconds: 0.2 }
    for (const [respond, error] of [
      [response => response.destroy(), unreachable],
      [response => response.writeHead(200, json).write('{', () => response.destroy()), unreachable],
      [() => undefined, timeout],
      [response => response.writeHead(200, json).write('{'), timeout],
    ] as [(response: ServerResponse) => void, object][]) {
      agent.respond(respond)
      expect(await sendCall({ env: { UPSTREAM_TIMEOUT: '0.2' } })).toEqual(error)
    }
  })
})

describe('an authentication error of the agent, or one of its limits', () => {
  it("is not passed on if the credentials were the Worker's", async () => {
    for (const status of [401, 403]) {
      agent.respond(reply(status, { ...json, 'WWW-Authenticate': 'Bearer' }, '{}'))
      const error = { kind: 'misconfigured', detail: expect.stringContaining(String(status)) }
      const sent = { profile: { secret: 'AGENT_TOKEN' }, env: { AGENT_TOKEN: 's3cret' } }
      expect(await sendCall(sent)).toMatchObject(error)
      expect(agent.requests[0]?.headers.authorization).toBe('Bearer s3cret')
    }
  })

  it('is converted from HTML into an error of the version and binding', async () => {
    agent.respond(reply(401, { ...html, 'WWW-Authenticate': 'Bearer realm="agent"' }, '<h1>Who are you?</h1>'))
    const response = succeeded(await sendCall(restCall('message:send')))
    const error = toRestError({ kind: 'agent-refused', status: 401 }, '1.0')
    expect([response.status, await response.json()]).toEqual([401, error])
    expect(Object.fromEntries(response.headers)).toEqual({
      ...{ ...hostHeaders, 'content-type': 'application/a2a+json', 'www-authenticate': 'Bearer realm="agent"' },
    })
  })

  it('keeps its status whatever its body, and Retry-After', async () => {
    for (const [status, headers, body] of [
      [401, html, '<h1>No</h1>'],
      [403, html, ''],
      [413, json, '{'],
      [429, json, '{"detail":"at main.py:12"}'],
    ] as const) {
      agent.respond(reply(status, { ...headers, 'Retry-After': '7' }, body))
      const response = succeeded(await sendCall())
      expect([response.status, response.headers.get('Retry-After')], body).toEqual([status, '7'])
      expect(await response.text()).not.toContain('main.py')
    }
  })
})

describe('a forwarded stream', () => {
  it('has the events of the agent, and an allow-list of its headers', async () => {
    agent.respond(reply(200, { ...stream, 'Set-Cookie': 'a=1', 'A2A-Version': '1.0' }, event(0) + event(1)))
    const relayed = succeeded(await sendCall(streamingCall))
    expect([relayed.status, await relayed.text()]).toEqual([200, event(0) + event(1)])
    const headers = Object.fromEntries(relayed.headers)
    expect(headers).toEqual({ ...hostHeaders, 'a2a-version': '1.0', 'content-type': 'text/event-stream' })
  })

  it('with another status than 200 is an invalid response', async () => {
    for (const status of [205, 500]) {
      agent.respond(reply(status, stream, 'data: {}\n\n'))
      expect(await sendCall(streamingCall)).toEqual({ kind: 'invalid-response', status })
    }
  })

  it('that breaks off over HTTP+JSON ends with an event of the type error', async () => {
    const first = numberedEvent(1, 'HTTP+JSON', '1.0')
    const written = `data: ${JSON.stringify(first)}\n\n`
    agent.respond(response => void response.writeHead(200, stream).write(written, () => response.destroy()))
    vi.spyOn(console, 'info').mockReturnValue(undefined)
    const relayed = succeeded(await sendCall(restCall('message:stream')))
    const data = toRestError({ kind: 'broken-off' }, '1.0')
    expect(parseEvents(await relayed.text())).toEqual([{ data: first }, { event: 'error', data }])
  })
})

it('does not report a defect of this host as an unreachable agent', async () => {
  agent.respond(reply(200, json, answer))
  const translate = () => {
    throw new TypeError('a defect')
  }
  await expect(sendCall({ permitted: { translate } })).rejects.toThrow(new TypeError('a defect'))
})

it('rejects a body with a status with which no Response can have one', async () => {
  for (const status of [101, 199, 204, 205, 600]) {
    const upstream = Response.json({ jsonrpc: '2.0', id: 7, result: {} })
    Object.defineProperties(upstream, { status: { value: status }, ok: { value: status > 199 && status < 300 } })
    vi.stubGlobal('fetch', async () => upstream)
    const gate = { ...profileWith().gate, responses: 'off' } as const
    const sent = { profile: { gate }, permitted: { message: { method: 'DELETE' } } }
    expect(await sendCall(sent)).toEqual({ kind: 'invalid-response', status })
  }
})

it('passes on the challenges of an agent without any address, and keeps them separate', () => {
  const host = 'agent.internal.example'
  const bearer = 'Bearer realm="weather", error="invalid_token", scope="read"'
  const digest = 'Digest realm="a", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9X+s=="'
  for (const [expected, ...challenges] of [
    [bearer, bearer],
    ['Bearer error="invalid_token"', `Bearer resource_metadata="https://${host}/meta", error="invalid_token"`],
    ['Bearer scope="read"', `Bearer realm="https://${host}/", scope="read"`],
    ['Bearer error="invalid_token"', `Bearer error="invalid_token", resource_metadata=https://${host}`],
    ['Bearer scope="read:weather write"', `Bearer realm="${host}", scope="read:weather write"`],
    ['Bearer', 'Bearer realm="agent@10.0.0.7:8443"'],
    ['Bearer error=invalid_token', `Bearer error_uri="//${host}/e", error=invalid_token`],
    ['Bearer', 'Bearer error_description="see 10.0.0.7:8443/token"'],
    ['Bearer', `Bearer error="https:\\/\\/${host}"`],
    [digest, digest],
    ['a'.repeat(32), 'a'.repeat(40_000)],
    ['Bearer realm="a", Basic realm="b", charset="UTF-8"', 'Bearer realm="a"', 'Basic realm="b", charset="UTF-8"'],
    ['Bearer error="x_y", scope="read", DPoP', 'Bearer error="x_y", scope="read"', 'DPoP algs="ES256"'],
    ['Negotiate, Basic realm="b"', 'Negotiate YWJj', 'Basic realm="b"'],
    ['Bearer realm="a", error="x_y"', 'Bearer realm = "a", error = "x_y"'],
    ['Bearer, Basic realm="b"', 'Bearer resource_metadata="https://a.example/, Basic realm=b"', 'Basic realm="b"'],
    ['Bearer', 'Bearer realm="a', 'Basic realm="b"'],
  ]) {
    const upstream = new Response(null, { status: 401 })
    for (const challenge of challenges) upstream.headers.append('WWW-Authenticate', challenge)
    const passed = toClientResponse('{}', 'application/json', upstream).headers.get('WWW-Authenticate')
    expect(passed, challenges.join()).toBe(expected)
  }
})

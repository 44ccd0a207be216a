import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type CalledHost, type Sent, startCalledHost } from '../support/called-host.ts'
import { answer, call, message, message0 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'
import { json, reply } from '../support/upstream.ts'

/** What stands in everything that a caller, an agent or an owner writes, and in nothing that this host does. */
const marker = 'zzmarkerzz'

let called: CalledHost
let reader: { token: string; id: string }
beforeAll(async () => {
  called = await startCalledHost({ AGENT_TOKEN: `${marker}-secret` })
  const { origin } = called.agent
  const card = agentCard(origin, {
    description: marker,
    securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: `X-${marker}` } } },
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extensions: [{ uri: `https://${marker}.example`, required: false }],
    },
  })
  await called.register('weather', { card, extended: { description: `${marker} extended` }, hosts: ['*'] })
  await called.register('warned', { card, gate: { capabilities: 'warn' } })
  await called.register('hidden', { card, visibility: 'internal' })
  await called.register('closed', { card, route: 'closed' })
  await called.register('secret', { card, upstream: { secret: 'AGENT_TOKEN' } })
  await called.register('no-secret', { card, upstream: { secret: `NO_${marker}` } })
  reader = await called.issue({ scopes: ['read'], note: marker })
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(reply(200, json, JSON.stringify(answer))))

/** The lines that a request makes the Worker write: its log comes a moment after its answer. */
const linesOf = async (request: () => Promise<unknown>): Promise<JsonObject[]> => {
  const before = called.host.logged().length
  await request()
  await expect.poll(() => called.host.logged().length).toBeGreaterThan(before)
  return called.host
    .logged()
    .slice(before)
    .map(line => JSON.parse(line) as JsonObject)
}

const line = {
  event: 'call',
  agent: 'weather',
  caller: 'anonymous',
  operation: 'send',
  binding: 'JSONRPC',
  version: '1.0',
  verdict: 'passed',
  status: 200,
  milliseconds: expect.any(Number),
}
const unread = { operation: '', binding: '', version: '' }

describe('the log line of a call', () => {
  it.each<[string, string, Sent, JsonObject]>([
    ['passed', '/agents/weather/a2a', { body: call() }, { upstream: 200 } as JsonObject],
    [
      'passed, of 0.3',
      '/agents/weather/a2a',
      { body: call('message/send', message0()) },
      { version: '0.3', upstream: 200 },
    ],
    [
      'passed, over HTTP+JSON',
      '/agents/weather/a2a/message:send',
      { body: message() },
      { binding: 'HTTP+JSON', upstream: 200 },
    ],
    ['passed, by the root', '/a2a', { body: call() }, { upstream: 200 }],
    [
      'passed, by its name',
      '/a2a/v1',
      { body: call('SendMessage', message({ agentName: 'Weather', tenant: 'x' })) },
      { agent: expect.any(String) as never, upstream: 200 },
    ],
    [
      'passed with a warning',
      '/agents/warned/a2a',
      { body: call('SendStreamingMessage') },
      { agent: 'warned', operation: 'stream', warnings: 'streaming', upstream: 200 },
    ],
    [
      'of a caller that the agent may know',
      '/agents/weather/a2a',
      { body: call(), token: 'theirs' },
      { caller: 'unrecognized', upstream: 200 },
    ],
    [
      'of the administrator',
      '/agents/hidden/a2a',
      { body: call(), token: adminToken },
      { agent: 'hidden', caller: 'admin', upstream: 200 },
    ],
    [
      'with a token that does not hold',
      '/agents/weather/a2a',
      { body: call(), token: 'cc_no' },
      { ...unread, caller: 'bad-token', verdict: 'bad-token', status: 401 },
    ],
    [
      'refused',
      '/agents/weather/a2a',
      { body: call('SendStreamingMessage') },
      { operation: 'stream', verdict: 'streaming' },
    ],
    [
      'refused over HTTP+JSON',
      '/agents/weather/a2a/message:stream',
      { body: message() },
      { binding: 'HTTP+JSON', operation: 'stream', verdict: 'streaming', status: 400 },
    ],
    [
      'of a method that there is not',
      '/agents/weather/a2a',
      { body: call('Nothing') },
      { ...unread, verdict: 'method' },
    ],
    [
      'of a path that there is not',
      '/agents/weather/a2a/nothing',
      { method: 'GET' },
      { ...unread, verdict: 'method', status: 404 },
    ],
    [
      'of a version that there is not',
      '/agents/weather/a2a',
      { body: call(), headers: { 'A2A-Version': '9.9' } },
      { ...unread, verdict: 'version' },
    ],
    ['that is none', '/agents/weather/a2a', { body: '[]' }, { ...unread, verdict: 'not-a-request', status: 400 }],
    ['that is no JSON', '/agents/weather', { body: '{' }, { ...unread, verdict: 'not-json', status: 400 }],
    [
      'that is too large',
      '/agents/weather/a2a',
      { body: 'x'.repeat(5_000_000) },
      { ...unread, verdict: 'too-large', status: 413 },
    ],
    [
      'of another content type',
      '/agents/weather/a2a',
      { body: '{}', headers: { 'Content-Type': 'text/plain' } },
      { ...unread, verdict: 'content-type', status: 415 },
    ],
    [
      'of no agent',
      '/agents/nobody/a2a',
      { body: call() },
      { ...unread, agent: '', verdict: 'unknown-agent', status: 404 },
    ],
    [
      'of an agent that cannot be',
      '/agents/NO%20BODY/a2a',
      { body: call() },
      { ...unread, agent: '', verdict: 'unknown-agent', status: 404 },
    ],
    [
      'of an internal agent',
      '/agents/hidden/a2a',
      { body: call() },
      { ...unread, agent: 'hidden', verdict: 'unknown-agent', status: 404 },
    ],
    ['that names no agent', '/a2a/v1', { body: call() }, { ...unread, agent: '', verdict: 'invalid-params' }],
    ['of an agent that takes none', '/agents/closed/a2a', { body: call() }, { agent: 'closed', verdict: 'closed' }],
    [
      'for the extended card, without a token',
      '/agents/weather/a2a',
      { body: call('GetExtendedAgentCard', {}) },
      { operation: 'extendedCard', verdict: 'no-token', status: 401 },
    ],
    [
      'for the extended card',
      '/agents/weather/a2a',
      { body: call('GetExtendedAgentCard', {}), token: adminToken },
      { operation: 'extendedCard', caller: 'admin' },
    ],
    [
      'that the host is not set up for',
      '/agents/no-secret/a2a',
      { body: call() },
      { agent: 'no-secret', verdict: 'misconfigured', why: `This Worker has no secret "NO_${marker}".`, status: 502 },
    ],
  ])('%s', async (what, path, sent, facts) => {
    const lines = await linesOf(() => called.send(path, sent))
    expect(lines).toEqual([{ ...line, ...facts }])
    if (what === 'passed')
      expect(Object.keys(lines[0] ?? {})).toEqual(expect.arrayContaining([...Object.keys(line), 'upstream']))
  })

  it("names a token by its id, and tells the agent's own status", async () => {
    called.agent.respond(reply(503, json, JSON.stringify(answer)))
    const lines = await linesOf(() => called.send('/agents/weather/a2a', { body: call(), token: reader.token }))
    expect(lines).toEqual([{ ...line, caller: `token:${reader.id}`, upstream: 503, status: 503 }])
  })

  it.each([200, 302, 500])('tells of an agent that fails with %d what failed', async upstream => {
    called.agent.respond(reply(upstream, { 'Content-Type': 'text/html' }, marker))
    const lines = await linesOf(() => called.send('/agents/weather/a2a', { body: call() }))
    expect(lines).toEqual([
      { ...line, verdict: upstream === 302 ? 'redirect' : 'invalid-response', upstream, status: 502 },
    ])
  })
})

it('logs why an agent cannot be reached', async () => {
  called.agent.respond(response => response.destroy())
  const lines = await linesOf(() => called.send('/agents/weather/a2a', { body: call() }))
  expect(lines).toEqual([{ ...line, verdict: 'unreachable', why: expect.stringMatching(/\w/), status: 502 }])
})

it('does not log a client that disconnects while it sends a call as an unexpected error', async () => {
  const lines = await linesOf(async () => {
    const { hostname, port } = called.host.url
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /agents/weather/a2a HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    )
    await setTimeout(200)
    socket.destroy()
  })
  expect(lines).toEqual([{ ...line, ...unread, verdict: 'aborted', status: 400 }])
})

describe('whatever comes in', () => {
  const marked = (): Record<string, string> => ({
    Authorization: `Bearer ${marker}`,
    'A2A-Extensions': `https://${marker}.example`,
    [`X-${marker}`]: marker,
    Cookie: marker,
    'User-Agent': marker,
    Origin: `https://${marker}.example`,
    traceparent: marker,
    Via: `1.1 ${marker}`,
  })
  const params: JsonObject = {
    message: {
      messageId: marker,
      role: marker,
      parts: [{ text: marker, mediaType: 'text/plain' }],
      metadata: { skillId: marker, [marker]: marker },
    },
    metadata: { [marker]: marker },
    tenant: marker,
    agentName: marker,
    configuration: { acceptedOutputModes: [`text/${marker}`] },
  }
  const bodies: Json[] = [
    { ...call('SendMessage', params), id: marker },
    { ...call('SendMessage', { ...params, configuration: {} }), id: marker },
    { ...call('message/send', { ...params, configuration: {} }), id: marker },
    { ...call(marker, params) },
    { ...call('GetTask', { id: marker }) },
    { ...call('GetExtendedAgentCard', { id: marker }), id: marker },
    { ...call(), [marker]: marker, jsonrpc: marker },
    marker,
    `{"${marker}`,
    [marker],
  ]
  const paths = [
    '/agents/weather/a2a',
    '/agents/warned',
    '/agents/secret/a2a',
    '/agents/hidden/a2a',
    '/agents/no-secret/a2a',
    '/a2a',
    '/a2a/v1',
    `/agents/${marker.toUpperCase()}/a2a`,
  ]
  const credentials: (() => Record<string, string>)[] = [
    () => ({}),
    () => ({ Authorization: `Bearer cc_${marker}` }),
    () => ({ Authorization: `Basic ${marker}, Bearer ${marker}` }),
    () => ({ Authorization: `Bearer ${reader.token}` }),
    () => ({ 'A2A-Version': marker }),
    () => ({ 'Content-Type': `text/${marker}` }),
  ]

  it('no token, body, header or answer is in a log line', async () => {
    const before = called.host.logged().length
    let sent = 0
    for (const answering of [
      reply(
        200,
        { ...json, 'Set-Cookie': marker, 'X-Agent': marker },
        JSON.stringify({ jsonrpc: '2.0', id: marker, error: { code: -32001, message: marker } }),
      ),
      reply(500, { 'Content-Type': 'text/html' }, marker),
    ]) {
      called.agent.respond(answering)
      for (const path of paths)
        for (const body of bodies) {
          // Together: one by one they would take half a minute.
          await Promise.all(
            credentials.map(more =>
              called.send(`${path}?${marker}=${marker}`, { body, headers: { ...marked(), ...more() } }),
            ),
          )
          sent += credentials.length
        }
      for (const path of [
        `message:send`,
        `tasks/${marker}`,
        `${marker}`,
        `v1/tasks/${marker}`,
        `tasks/${marker}:cancel`,
      ])
        for (const more of credentials) {
          await called.send(`/agents/weather/a2a/${path}?${marker}=${marker}`, {
            body: params,
            headers: { ...marked(), ...more() },
          })
          await called.send(`/agents/weather/a2a/${path}?${marker}=${marker}`, {
            method: 'GET',
            headers: { ...marked(), ...more() },
          })
        }
    }
    await expect.poll(() => called.host.logged().length - before).toBeGreaterThanOrEqual(sent)
    const lines = called.host.logged().slice(before)
    // What the manifest of `no-secret` names is its owner's word, and what the log is for.
    const found = lines.filter(text =>
      [marker, reader.token, adminToken].some(secret =>
        text.replaceAll(`NO_${marker}`, '').toLowerCase().includes(secret),
      ),
    )
    expect(found).toEqual([])
    expect(lines.filter(text => (JSON.parse(text) as { event: string }).event !== 'call')).toEqual([])
  }, 60_000)
})

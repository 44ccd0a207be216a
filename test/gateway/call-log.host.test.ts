import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, type Sent, startCalledHost } from '../support/called-host.ts'
import { agentResponse, call, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'
import { json, reply } from '../support/upstream.ts'

/** Occurs in everything that a caller, an agent or an owner writes, and in nothing that this host writes. */
const marker = 'zzmarkerzz'
const missingSecret = `NO_${marker.toUpperCase()}`

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
  await called.register('secret', { card, callers: 'anyone', upstream: { secret: 'AGENT_TOKEN' } })
  await called.register('no-secret', { card, callers: 'anyone', upstream: { secret: missingSecret } })
  reader = await called.issue({ scopes: ['read'], note: marker })
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

/** Returns the lines that the Worker logs for a request, shortly after the response. */
const captureLog = async (request: () => Promise<unknown>): Promise<JsonObject[]> => {
  const before = called.host.logged().length
  await request()
  await expect.poll(() => called.host.logged().length).toBeGreaterThan(before)
  return called.host
    .logged()
    .slice(before)
    .map(line => JSON.parse(line) as JsonObject)
}

const passedCall = {
  event: 'call',
  'gen_ai.agent.id': 'weather',
  'a2a.method.name': 'SendMessage',
  'a2a.protocol.version': '1.0',
  'calling_card.binding': 'JSONRPC',
  'calling_card.caller': 'anonymous',
  'http.response.status_code': 200,
  'calling_card.duration_ms': expect.any(Number),
}
/** Fields that a line lacks. */
const unparsed = { 'a2a.method.name': undefined, 'a2a.protocol.version': undefined, 'calling_card.binding': undefined }
const noAgent = { 'gen_ai.agent.id': undefined }

it('explains to the owner that the agent used the id of a task of another caller again', async () => {
  called.agent.respond((response, _, body) => {
    const { id = null } = JSON.parse(String(body)) as { id?: Json }
    const task = { id: '1', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } }
    response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result: { task } }))
  })
  const logged = await captureLog(async () => {
    for (const token of [adminToken, reader.token])
      await called.send('/agents/secret/a2a', { token, body: call(), headers: { 'A2A-Version': '1.0' } })
    await expect.poll(() => called.host.logged().at(-1)).toContain('foreign-task')
  })
  expect(logged.map(line => [line['error.type'], line['calling_card.detail']])).toEqual([
    [undefined, undefined],
    [
      'foreign-task',
      'An id of the agent belongs to another caller. If it restarted and uses ids again: npx sync-card tasks clear secret',
    ],
  ])
})

describe('the log line', () => {
  it.each<[string, string, Sent, JsonObject]>([
    ['passed', '/agents/weather/a2a', { body: call() }, { 'calling_card.upstream.status_code': 200 } as JsonObject],
    [
      'passed in 0.3',
      '/agents/weather/a2a',
      { body: call('message/send', messageV03()) },
      { 'a2a.protocol.version': '0.3', 'calling_card.upstream.status_code': 200 },
    ],
    [
      'passed over HTTP+JSON',
      '/agents/weather/a2a/message:send',
      { body: message() },
      { 'calling_card.binding': 'HTTP+JSON', 'calling_card.upstream.status_code': 200 },
    ],
    ['passed to the root agent', '/a2a', { body: call() }, { 'calling_card.upstream.status_code': 200 }],
    [
      'passed to an agent by its name',
      '/a2a/v1',
      { body: call('SendMessage', message({ agentName: 'Weather', tenant: 'x' })) },
      { 'gen_ai.agent.id': expect.any(String) as never, 'calling_card.upstream.status_code': 200 },
    ],
    [
      'passed with a warning',
      '/agents/warned/a2a',
      { body: call('SendStreamingMessage') },
      {
        'gen_ai.agent.id': 'warned',
        'a2a.method.name': 'SendStreamingMessage',
        'calling_card.warnings': 'streaming',
        'calling_card.upstream.status_code': 200,
      },
    ],
    [
      'with credentials for the agent',
      '/agents/weather/a2a',
      { body: call(), token: 'theirs' },
      { 'calling_card.caller': 'unrecognized', 'calling_card.upstream.status_code': 200 },
    ],
    [
      'with the admin token',
      '/agents/hidden/a2a',
      { body: call(), token: adminToken },
      { 'gen_ai.agent.id': 'hidden', 'calling_card.caller': 'admin', 'calling_card.upstream.status_code': 200 },
    ],
    [
      'with an invalid token',
      '/agents/weather/a2a',
      { body: call(), token: 'cc_no' },
      { ...unparsed, 'calling_card.caller': 'bad-token', 'error.type': 'bad-token', 'http.response.status_code': 401 },
    ],
    [
      'rejected',
      '/agents/weather/a2a',
      { body: call('SendStreamingMessage') },
      { 'a2a.method.name': 'SendStreamingMessage', 'error.type': 'streaming' },
    ],
    [
      'rejected over HTTP+JSON',
      '/agents/weather/a2a/message:stream',
      { body: message() },
      {
        'calling_card.binding': 'HTTP+JSON',
        'a2a.method.name': 'SendStreamingMessage',
        'error.type': 'streaming',
        'http.response.status_code': 400,
      },
    ],
    ['of an unknown method', '/agents/weather/a2a', { body: call('Nothing') }, { ...unparsed, 'error.type': 'method' }],
    [
      'to an unknown path',
      '/agents/weather/a2a/nothing',
      { method: 'GET' },
      { ...unparsed, 'error.type': 'method', 'http.response.status_code': 404 },
    ],
    [
      'in an unknown version',
      '/agents/weather/a2a',
      { body: call(), headers: { 'A2A-Version': '9.9' } },
      { ...unparsed, 'error.type': 'version' },
    ],
    ['that is a batch', '/agents/weather/a2a', { body: '[]' }, { ...unparsed, 'error.type': 'not-a-request' }],
    [
      'that is not JSON',
      '/agents/weather',
      { body: '{' },
      { ...unparsed, 'error.type': 'not-json', 'http.response.status_code': 400 },
    ],
    [
      'that is too large',
      '/agents/weather/a2a',
      { body: 'x'.repeat(5_000_000) },
      { ...unparsed, 'error.type': 'too-large', 'http.response.status_code': 413 },
    ],
    [
      'with another content type',
      '/agents/weather/a2a',
      { body: '{}', headers: { 'Content-Type': 'text/plain' } },
      { ...unparsed, 'error.type': 'content-type', 'http.response.status_code': 415 },
    ],
    [
      'to an unknown agent',
      '/agents/nobody/a2a',
      { body: call() },
      { ...unparsed, ...noAgent, 'error.type': 'unknown-agent' },
    ],
    [
      'to an invalid agent id',
      '/agents/NO%20BODY/a2a',
      { body: call() },
      { ...unparsed, ...noAgent, 'error.type': 'unknown-agent' },
    ],
    [
      'to an internal agent',
      '/agents/hidden/a2a',
      { body: call() },
      { ...unparsed, 'gen_ai.agent.id': 'hidden', 'error.type': 'unknown-agent' },
    ],
    ['without an agent name', '/a2a/v1', { body: call() }, { ...unparsed, ...noAgent, 'error.type': 'invalid-params' }],
    [
      'to a closed agent',
      '/agents/closed/a2a',
      { body: call() },
      { 'gen_ai.agent.id': 'closed', 'error.type': 'closed' },
    ],
    [
      'for the extended card, without a token',
      '/agents/weather/a2a',
      { body: call('GetExtendedAgentCard', {}) },
      { 'a2a.method.name': 'GetExtendedAgentCard', 'error.type': 'no-token', 'http.response.status_code': 401 },
    ],
    [
      'for the extended card',
      '/agents/weather/a2a',
      { body: call('GetExtendedAgentCard', {}), token: adminToken },
      { 'a2a.method.name': 'GetExtendedAgentCard', 'calling_card.caller': 'admin' },
    ],
    [
      'to an agent whose secret does not exist',
      '/agents/no-secret/a2a',
      { body: call() },
      {
        'gen_ai.agent.id': 'no-secret',
        'error.type': 'misconfigured',
        'calling_card.detail': `This Worker has no secret "${missingSecret}". Run \`npx wrangler secret put ${missingSecret}\`.`,
        'http.response.status_code': 502,
      },
    ],
  ])('has the expected fields for a call %s', async (title, path, request, expected) => {
    const lines = await captureLog(() => called.send(path, request))
    expect(lines).toEqual([{ ...passedCall, ...expected }])
    if (title === 'passed')
      expect(Object.keys(lines[0] ?? {})).toEqual(
        expect.arrayContaining([...Object.keys(passedCall), 'calling_card.upstream.status_code']),
      )
  })

  it("has the id of the token and the agent's status", async () => {
    called.agent.respond(reply(503, json, JSON.stringify(agentResponse)))
    const lines = await captureLog(() => called.send('/agents/weather/a2a', { body: call(), token: reader.token }))
    expect(lines).toEqual([
      {
        ...passedCall,
        'calling_card.caller': `token:${reader.id}`,
        'calling_card.upstream.status_code': 503,
        'http.response.status_code': 503,
      },
    ])
  })

  it.each([200, 302, 500])('has the reason why an agent fails with %d', async upstream => {
    called.agent.respond(reply(upstream, { 'Content-Type': 'text/html' }, marker))
    const lines = await captureLog(() => called.send('/agents/weather/a2a', { body: call() }))
    expect(lines).toEqual([
      {
        ...passedCall,
        'error.type': upstream === 302 ? 'redirect' : 'invalid-response',
        'calling_card.upstream.status_code': upstream,
        'http.response.status_code': 502,
      },
    ])
  })
})

it('logs why an agent cannot be reached', async () => {
  called.agent.respond(response => response.destroy())
  const lines = await captureLog(() => called.send('/agents/weather/a2a', { body: call() }))
  expect(lines).toEqual([
    {
      ...passedCall,
      'error.type': 'unreachable',
      'calling_card.detail': expect.stringMatching(/\w/),
      'http.response.status_code': 502,
    },
  ])
})

it('does not log a client that disconnects while it sends a call as an unexpected error', async () => {
  const lines = await captureLog(async () => {
    const { hostname, port } = called.host.url
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /agents/weather/a2a HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    )
    await setTimeout(200)
    socket.destroy()
  })
  expect(lines).toEqual([{ ...passedCall, ...unparsed, 'error.type': 'aborted', 'http.response.status_code': 400 }])
})

describe('every log line', () => {
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

  it('contains no token, body or header of a request or response', async () => {
    const before = called.host.logged().length
    let requestCount = 0
    for (const respond of [
      reply(
        200,
        { ...json, 'Set-Cookie': marker, 'X-Agent': marker },
        JSON.stringify({ jsonrpc: '2.0', id: marker, error: { code: -32001, message: marker } }),
      ),
      reply(500, { 'Content-Type': 'text/html' }, marker),
    ]) {
      called.agent.respond(respond)
      for (const path of paths)
        for (const body of bodies) {
          // In parallel, because one by one they take half a minute.
          await Promise.all(
            credentials.map(extraHeaders =>
              called.send(`${path}?${marker}=${marker}`, { body, headers: { ...marked(), ...extraHeaders() } }),
            ),
          )
          requestCount += credentials.length
        }
      for (const path of [
        `message:send`,
        `tasks/${marker}`,
        `${marker}`,
        `v1/tasks/${marker}`,
        `tasks/${marker}:cancel`,
      ])
        for (const extraHeaders of credentials) {
          await called.send(`/agents/weather/a2a/${path}?${marker}=${marker}`, {
            body: params,
            headers: { ...marked(), ...extraHeaders() },
          })
          await called.send(`/agents/weather/a2a/${path}?${marker}=${marker}`, {
            method: 'GET',
            headers: { ...marked(), ...extraHeaders() },
          })
        }
    }
    await expect.poll(() => called.host.logged().length - before).toBeGreaterThanOrEqual(requestCount)
    const lines = called.host.logged().slice(before)
    // The log may name the missing secret of `no-secret`, which its owner chose.
    const leaks = lines.filter(text =>
      [marker, reader.token, adminToken].some(secret =>
        text.replaceAll(missingSecret, '').toLowerCase().includes(secret),
      ),
    )
    expect(leaks).toEqual([])
    expect(lines.filter(text => (JSON.parse(text) as { event: string }).event !== 'call')).toEqual([])
  }, 60_000)
})

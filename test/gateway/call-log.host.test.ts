import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, type Sent, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'
import { combine } from '../support/matrix.ts'
import { html, json, reply } from '../support/upstream.ts'

/** Occurs in everything that a caller, an agent or an owner writes, and in nothing that this host writes. */
const marker = 'zzmarkerzz'
const missingSecret = `NO_${marker.toUpperCase()}`

let called: CalledHost
let reader: { token: string; id: string }
beforeAll(async () => {
  called = await useSharedHost()
  const card = agentCard(called.agent.origin, {
    name: 'Call Log',
    description: marker,
    securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: `X-${marker}` } } },
    capabilities: { streaming: false, pushNotifications: false, extensions: [{ uri: `https://${marker}.example` }] },
  })
  const extended = { description: `${marker} extended` }
  for (const [id, manifest] of Object.entries<JsonObject>({
    'call-log': { extended },
    'call-log-warned': { gate: { capabilities: 'warn' } },
    'call-log-hidden': { visibility: 'internal' },
    'call-log-secret': { callers: 'anyone', upstream: { secret: 'AGENT_TOKEN' } },
    'call-log-no-secret': { callers: 'anyone', upstream: { secret: missingSecret } },
  }))
    await called.register(id, { card, ...manifest })
  reader = await called.issue({ scopes: ['read'], note: marker })
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

/** Lists what the Worker has logged of the agents of this file, and of none. */
const listLines = (from = 0): JsonObject[] =>
  called.host
    .events()
    .slice(from)
    .filter(({ 'gen_ai.agent.id': id = 'call-log' }) => String(id).startsWith('call-log'))

/** Returns the lines that the Worker logs for a request, shortly after the response. */
const captureLog = async (request: () => Promise<unknown>, count = 1): Promise<JsonObject[]> => {
  const before = called.host.events().length
  await request()
  await expect.poll(() => listLines(before).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count)
  return listLines(before)
}

/** Describes a line by its values, and by the names of those that few lines have. */
const describeLine = ({ event, 'calling_card.duration_ms': duration, ...line }: JsonObject): string => {
  expect([event, typeof duration]).toEqual(['call', 'number'])
  const take = (name: string): Json => {
    const { [name]: value = '-' } = line
    delete line[name]
    return value
  }
  const names = ['gen_ai.agent.id', 'a2a.method.name', 'a2a.protocol.version', 'calling_card.binding']
  const values = [...names, 'calling_card.caller', 'http.response.status_code'].map(take)
  const rest = Object.entries(line).map(([name, value]) => `, ${name.replace('calling_card.', '')} ${value}`)
  return values.join(' ') + rest.sort().join('')
}

const rpc = '/agents/call-log/a2a'
const stream = call('SendStreamingMessage')
const extendedCard = call('GetExtendedAgentCard', {})
const passed = 'call-log SendMessage 1.0 JSONRPC anonymous 200, upstream.status_code 200'

describe('the log line', () => {
  it('has the expected fields for each kind of call', async () => {
    const noSecret = `This Worker has no secret "${missingSecret}". Run \`npx wrangler secret put ${missingSecret}\`.`
    const hidden = '/agents/call-log-hidden/a2a'
    const rows: [path: string, request: Sent, expected: string][] = [
      [rpc, { body: call() }, passed],
      [`${rpc}/v1/message:send`, { body: messageV03() }, passed.replace('1.0 JSONRPC', '0.3 HTTP+JSON')],
      [rpc, { body: call(), token: 'theirs' }, passed.replace('anonymous', 'unrecognized')],
      [
        '/agents/call-log-warned/a2a',
        { body: stream },
        'call-log-warned SendStreamingMessage 1.0 JSONRPC anonymous 200, upstream.status_code 200, warnings streaming',
      ],
      [rpc, { body: call(), token: 'cc_no' }, 'call-log - - - bad-token 401, error.type bad-token'],
      [rpc, { body: stream }, 'call-log SendStreamingMessage 1.0 JSONRPC anonymous 200, error.type streaming'],
      [rpc, { body: call('Nothing') }, 'call-log - - - anonymous 200, error.type method'],
      ['/agents/nobody/a2a', { body: call() }, '- - - - anonymous 200, error.type unknown-agent'],
      [hidden, { body: call() }, 'call-log-hidden - - - anonymous 200, error.type unknown-agent'],
      [rpc, { body: extendedCard, token: adminToken }, 'call-log GetExtendedAgentCard 1.0 JSONRPC admin 200'],
      [
        '/agents/call-log-no-secret/a2a',
        { body: call() },
        `call-log-no-secret SendMessage 1.0 JSONRPC anonymous 502, detail ${noSecret}, error.type misconfigured`,
      ],
    ]
    for (const [path, request, expected] of rows)
      expect((await captureLog(() => called.send(path, request))).map(describeLine), path).toEqual([expected])
  })

  it("has the id of the token and the agent's status", async () => {
    called.agent.respond(reply(503, json, JSON.stringify(agentResponse)))
    const lines = await captureLog(() => called.send(rpc, { body: call(), token: reader.token }))
    const expected = passed.replace('anonymous', `token:${reader.id}`).replaceAll(' 200', ' 503')
    expect(lines.map(describeLine)).toEqual([expected])
  })

  it('has the reason why an agent fails', async () => {
    for (const [respond, reason] of [
      [reply(302, html, marker), /^, error.type redirect, upstream.status_code 302$/],
      [response => response.destroy(), /^, detail .*\w.*, error.type unreachable$/],
    ] as [ReturnType<typeof reply>, RegExp][]) {
      called.agent.respond(respond)
      const [line = {}] = await captureLog(() => called.send(rpc, { body: call() }))
      const [before, after] = describeLine(line).split(' 502')
      expect([before, after]).toEqual([passed.slice(0, passed.indexOf(' 200')), expect.stringMatching(reason)])
    }
  })

  it('explains to the owner that the agent used the id of a task of another caller again', async () => {
    const task = { id: '1', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } }
    called.agent.respond(reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, result: { task } })))
    const logged = await captureLog(async () => {
      for (const token of [adminToken, reader.token])
        await called.send('/agents/call-log-secret/a2a', { token, body: call(), headers: { 'A2A-Version': '1.0' } })
    }, 2)
    const detail =
      'An id of the agent belongs to another caller. If it restarted and uses ids again: npx sync-card tasks clear call-log-secret'
    expect(logged.map(line => [line['error.type'], line['calling_card.detail']])).toEqual([
      [undefined, undefined],
      ['foreign-task', detail],
    ])
  })

  it('has the trace that the agent gets, if the caller has a valid one', async () => {
    const [traceId, spanId] = ['12345678901234567890123456789012', '1234567890123456']
    const headers = { traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'congo=t61rcWkgMzE' }
    const [line = {}] = await captureLog(() => called.send(rpc, { body: call(), headers }))
    expect(line).toMatchObject({ trace_id: traceId, parent_span_id: spanId, trace_flags: '01' })
    const traceparent = `00-${traceId}-${line.span_id}-01`
    expect(called.agent.requests.at(-1)?.headers).toMatchObject({ ...headers, traceparent })
    await captureLog(() => called.send(rpc, { body: call(), headers: { ...headers, traceparent: 'zz' } }))
    expect(Object.keys(called.agent.requests.at(-1)?.headers ?? {}).filter(name => /^trace/.test(name))).toEqual([])
  })
})

describe('every log line', () => {
  const marked: Record<string, string> = {
    Authorization: `Bearer ${marker}`,
    'A2A-Extensions': `https://${marker}.example`,
    Origin: `https://${marker}.example`,
    Via: `1.1 ${marker}`,
    ...Object.fromEntries([`X-${marker}`, 'Cookie', 'User-Agent', 'traceparent'].map(name => [name, marker])),
  }
  const params: JsonObject = {
    message: { messageId: marker, role: marker, parts: [{ text: marker }], metadata: { skillId: marker } },
    ...{ [marker]: marker, tenant: marker, agentName: marker },
    configuration: { acceptedOutputModes: [`text/${marker}`] },
  }
  const bodies: Json[] = [
    call('SendMessage', params, marker),
    call('SendMessage', { ...params, configuration: {} }, marker),
    call(marker, params),
    call('GetExtendedAgentCard', { id: marker }, marker),
    marker,
    `{"${marker}`,
  ]
  const paths = [
    ...['', '-warned', '-secret', '-hidden', '-no-secret'].map(name => `/agents/call-log${name}/a2a`),
    ...['/a2a/v1', `/agents/${marker.toUpperCase()}/a2a`, `${rpc}/message:send`, `${rpc}/${marker}`],
  ]
  const credentials = (): Record<string, string>[] => [
    {},
    { Authorization: `Bearer cc_${marker}` },
    { Authorization: `Bearer ${reader.token}` },
    { 'A2A-Version': marker },
    { 'Content-Type': `text/${marker}` },
  ]

  it('contains no token, body or header of a request or response', async () => {
    const before = called.host.events().length
    const linesBefore = called.host.logged().length
    const error = { code: -32001, message: marker }
    const text = JSON.stringify({ jsonrpc: '2.0', id: marker, error })
    const answers = [reply(200, { ...json, 'Set-Cookie': marker }, text), reply(500, html, marker)]
    const calls = combine([0, 1], paths, bodies, credentials())
    for (const [index, respond] of answers.entries()) {
      called.agent.respond(respond)
      await Promise.all(
        calls
          .filter(([at]) => at === index)
          .map(([, path, body, headers]) =>
            called.send(`${path}?${marker}=${marker}`, { headers: { ...marked, ...headers }, body }),
          ),
      )
    }
    await expect.poll(() => listLines(before).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(calls.length)
    // The log may name the missing secret of `call-log-no-secret`, which its owner chose.
    const lines = called.host
      .logged()
      .slice(linesBefore)
      .map(line => line.replaceAll(missingSecret, '').toLowerCase())
    const secrets = [marker, reader.token, adminToken, 'the-hosts-own-secret']
    expect(lines.filter(line => secrets.some(secret => line.includes(secret.toLowerCase())))).toEqual([])
    expect(listLines(before).filter(({ event }) => event !== 'call')).toEqual([])
  })
})

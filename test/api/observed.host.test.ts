import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { Workspace } from '../cli/workspace.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { call, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'
import { json, reply, stream } from '../support/upstream.ts'

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
})
afterAll(() => called.close())

const answer = (body: JsonObject) => reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, ...body }))
const result = (part: JsonObject): JsonObject => ({
  result: { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [part] } },
})
const error = (code: number): JsonObject => ({ error: { code, message: 'No' } })
const event = (part: JsonObject): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id: 7, ...result(part) })}\n\n`

const register = (id: string, card: JsonObject = {}, gate: JsonObject = {}) =>
  called.register(id, { card: agentCard(called.agent.origin, card), gate })
const callTimes = async (times: number, id: string, body: Json, headers: Record<string, string> = {}) => {
  for (let time = 0; time < times; time++) await called.send(`/agents/${id}/a2a`, { body, headers })
}
const read = (id: string, token: string | undefined = adminToken) =>
  called.send(`/agents/${id}/observed`, { method: 'GET', token })
const observed = async (id: string) => (await read(id)).body as JsonObject & { proposals: JsonObject[] }

const none = { answered: 0, refused: 0, failed: 0 }
const all = (outcome: 'answered' | 'refused' | 'failed', count: number) => ({ ...none, [outcome]: count })
const image = { raw: 'AA==', mediaType: 'image/png' }

describe('GET /agents/{id}/observed', () => {
  it('is empty for an agent that was never called', async () => {
    await register('observed-never')
    const { status, headers, body } = await read('observed-never')
    expect([status, headers.get('cache-control'), body]).toEqual([
      ...[200, 'private, no-store'],
      {
        ...{ id: 'observed-never', calls: 0, errorRate: 0, failures: {}, streaming: none, pushNotifications: none },
        ...{ interfaces: [], operations: {}, mediaTypes: {}, proposals: [] },
      },
    ])
  })

  it('shows an agent that streams and produces images although its card does not declare it', async () => {
    await register('observed-more', { capabilities: { streaming: false } }, { capabilities: 'off' })
    called.agent.respond(reply(200, stream, event(image) + event({ text: 'Rain' })))
    await callTimes(3, 'observed-more', call('SendStreamingMessage'))
    called.agent.respond(answer(result(image)))
    await callTimes(2, 'observed-more', call())
    const { since, lastSeen, ...body } = await observed('observed-more')
    expect(Date.parse(String(since))).toBeLessThanOrEqual(Date.parse(String(lastSeen)))
    expect(body).toEqual({
      ...{ id: 'observed-more', calls: 5, errorRate: 0, failures: {} },
      ...{ streaming: all('answered', 3), pushNotifications: none },
      interfaces: [{ protocolBinding: 'JSONRPC', protocolVersion: '1.0', ...all('answered', 5) }],
      operations: { stream: all('answered', 3), send: all('answered', 2) },
      mediaTypes: { 'image/png': 5, 'text/plain': 3 },
      proposals: [
        {
          rule: 'observed-streaming',
          pointer: '/capabilities/streaming',
          message: 'is not true, but of 3 calls that asked for a stream 3 were answered with a stream',
          seen: all('answered', 3),
          change: { op: 'add', path: '/capabilities/streaming', value: true },
        },
        {
          rule: 'observed-output-modes',
          pointer: '/defaultOutputModes',
          message: 'do not include what the agent produced: image/png (in 5 results)',
          seen: { 'image/png': 5 },
          change: { op: 'add', path: '/defaultOutputModes', value: ['text/plain', 'image/png'] },
        },
      ],
    })
  })

  it('shows an agent that refuses what its card declares', async () => {
    await register('observed-less', { capabilities: { streaming: true, pushNotifications: true } })
    const taskPushNotificationConfig = { url: 'https://client.example.com/callback' }
    const withPush = call('SendMessage', message({ configuration: { taskPushNotificationConfig } }))
    called.agent.respond(answer(error(-32004)))
    await callTimes(3, 'observed-less', call('SendStreamingMessage'))
    called.agent.respond(answer(error(-32003)))
    await callTimes(3, 'observed-less', withPush)
    called.agent.respond(answer(error(-32601)))
    await callTimes(3, 'observed-less', call('message/send', messageV03()), { 'A2A-Version': '0.3' })
    const { calls, errorRate, failures, proposals } = await observed('observed-less')
    expect([calls, errorRate, failures]).toEqual([9, 1, { '-32004': 3, '-32003': 3, '-32601': 3 }])
    const add = (path: string) => ({ op: 'add', path, value: false })
    expect(proposals).toMatchObject([
      { rule: 'observed-streaming', change: add('/capabilities/streaming') },
      { rule: 'observed-push-notifications', change: add('/capabilities/pushNotifications') },
      { rule: 'observed-interface', change: { op: 'remove', path: '/supportedInterfaces/1' } },
    ])
    const pointers = ['/capabilities/streaming', '/capabilities/pushNotifications', '/supportedInterfaces/1']
    expect(proposals.map(({ pointer }) => pointer)).toEqual(pointers)
  })

  it('takes the error in the first event of a stream for the answer to the call', async () => {
    await register('observed-event')
    called.agent.respond(reply(200, stream, `data: ${JSON.stringify({ jsonrpc: '2.0', id: 7, ...error(-32601) })}\n\n`))
    await callTimes(3, 'observed-event', call('SendStreamingMessage'))
    const streaming = all('refused', 3)
    const failures = { '-32601': 3 }
    expect(await observed('observed-event')).toMatchObject({ streaming, operations: { stream: streaming }, failures })
  })

  it('proposes no media type that an extended card declares', async () => {
    const skill = { id: 'map', name: 'Map', description: 'Draws a map of the weather', tags: ['map'] }
    await called.register('observed-extended', {
      card: agentCard(called.agent.origin),
      extended: { skills: [{ ...skill, outputModes: ['image/png'] }] },
    })
    called.agent.respond(answer(result(image)))
    await callTimes(1, 'observed-extended', call())
    expect(await observed('observed-extended')).toMatchObject({ mediaTypes: { 'image/png': 1 }, proposals: [] })
  })

  it('counts failures by kind, and tasks that do not exist as answers in the protocol', async () => {
    await register('observed-failing')
    called.agent.respond(reply(500, { 'Content-Type': 'text/html' }, '<h1>Stack trace</h1>'))
    await callTimes(1, 'observed-failing', call())
    called.agent.respond(response => void response.destroy())
    await callTimes(1, 'observed-failing', call())
    called.agent.respond(answer(error(-32001)))
    await callTimes(1, 'observed-failing', call('GetTask', { id: 't' }))
    called.agent.respond(answer(result({ text: 'Rain' })))
    await callTimes(1, 'observed-failing', call())
    expect(await observed('observed-failing')).toMatchObject({
      calls: 4,
      errorRate: 0.75,
      failures: { 'invalid-response': 1, unreachable: 1, '-32001': 1 },
      operations: { send: { answered: 1, refused: 0, failed: 2 }, getTask: all('failed', 1) },
      interfaces: [{ protocolBinding: 'JSONRPC', protocolVersion: '1.0', answered: 2, refused: 0, failed: 2 }],
      proposals: [],
    })
  })

  it('counts an answer that is not A2A as a failure, whether it passes or not', async () => {
    await register('observed-warned', {}, { responses: 'warn' })
    await register('observed-withheld')
    for (const [id, status] of [
      ['observed-warned', 200],
      ['observed-withheld', 502],
    ] as const) {
      called.agent.respond(answer({}))
      expect((await called.send(`/agents/${id}/a2a`, { body: call() })).status).toBe(status)
      called.agent.respond(reply(200, stream, 'data: {"jsonrpc":"2.0","id":7}\n\n'))
      await callTimes(1, id, call('SendStreamingMessage'))
      const failures = { 'invalid-response': 2 }
      expect(await observed(id)).toMatchObject({ calls: 2, failures, streaming: all('failed', 1), proposals: [] })
    }
  })

  it('counts a stream that breaks off before its first event as a failure', async () => {
    await register('observed-broken')
    called.agent.respond(response => {
      response.writeHead(200, stream).flushHeaders()
      response.write(': comment\n\n', () => response.destroy())
    })
    await callTimes(1, 'observed-broken', call('SendStreamingMessage'))
    expect(await observed('observed-broken')).toMatchObject({ calls: 1, failures: { 'broken-off': 1 } })
  })

  it('shows only the status of answers with gate.responses off', async () => {
    await register('observed-unread', {}, { responses: 'off' })
    called.agent.respond(answer(result(image)))
    await callTimes(1, 'observed-unread', call())
    called.agent.respond(reply(200, stream, event(image)))
    await callTimes(1, 'observed-unread', call('SendStreamingMessage'))
    const streaming = all('answered', 1)
    expect(await observed('observed-unread')).toMatchObject({ calls: 2, streaming, mediaTypes: {}, proposals: [] })
  })

  it('has nothing of calls that were not forwarded', async () => {
    await register('observed-refused', { capabilities: { streaming: false } })
    await callTimes(3, 'observed-refused', call('SendStreamingMessage'))
    await callTimes(3, 'observed-refused', call('NoSuchMethod'))
    expect(await observed('observed-refused')).toMatchObject({ calls: 0 })
  })

  it('has nothing that a caller or an agent wrote, except for valid media types', async () => {
    await register('observed-secret')
    const parts = [{ raw: 'AA==', mediaType: 'secret text' }, { text: 'secret-result' }]
    const task = {
      ...{ id: 'secret-task', contextId: 'secret-context', status: { state: 'TASK_STATE_COMPLETED' } },
      artifacts: [{ artifactId: 'secret-artifact', parts }],
    }
    called.agent.respond(answer({ result: { task } }))
    const body = call('SendMessage', {
      message: { messageId: 'secret-id', role: 'ROLE_USER', parts: [{ text: 'secret-message' }] },
    })
    await callTimes(1, 'observed-secret', body)
    called.agent.respond(answer({ error: { code: -32050, message: 'secret-error', data: 'secret-data' } }))
    await callTimes(1, 'observed-secret', body)
    const { id, ...rest } = await observed('observed-secret')
    expect(rest).toMatchObject({ calls: 2, mediaTypes: { 'text/plain': 1 }, failures: { '-32050': 1 } })
    expect(JSON.stringify(rest)).not.toContain('secret')
  })

  it('points into the card as it is written, whatever its dialect', async () => {
    const { origin } = called.agent
    const card = {
      name: 'A',
      description: 'Answers questions',
      url: `${origin}/a2a`,
      supportedOutputModes: ['text/plain'],
    }
    await called.register('observed-dialect', {
      ...{ card: { ...card, capabilities: { streaming: false } }, gate: { capabilities: 'off' } },
    })
    called.agent.respond(reply(200, stream, event({ text: 'Rain' })))
    await callTimes(1, 'observed-dialect', call('SendStreamingMessage'))
    called.agent.respond(answer(result(image)))
    await callTimes(1, 'observed-dialect', call())
    const { proposals } = await observed('observed-dialect')
    expect(proposals.map(({ pointer, change }) => [pointer, (change as JsonObject).path])).toEqual([
      ['/capabilities/streaming', '/capabilities/streaming'],
      ['/supportedOutputModes', '/defaultOutputModes'],
    ])
  })

  it('counts what an agent answers in place of a stream, also where it is translated', async () => {
    await called.register('observed-translated', { card: agentCard(called.agent.origin), route: 'gateway' })
    const version = { 'A2A-Version': '0.3' }
    called.agent.respond(answer(result({ text: 'Rain' })))
    await callTimes(1, 'observed-translated', call('message/stream', messageV03()), version)
    called.agent.respond(answer(error(-32004)))
    await callTimes(2, 'observed-translated', call('message/stream', messageV03()), version)
    const streaming = { answered: 0, refused: 2, failed: 1 }
    expect(await observed('observed-translated')).toMatchObject({ calls: 3, streaming, failures: { '-32004': 2 } })
  })

  it('starts anew when the agent is removed', async () => {
    await register('observed-removed')
    called.agent.respond(answer(result({ text: 'Rain' })))
    await callTimes(2, 'observed-removed', call())
    expect(await observed('observed-removed')).toMatchObject({ calls: 2 })
    await called.send('/agents/observed-removed', { method: 'DELETE', token: adminToken })
    expect((await read('observed-removed')).status).toBe(404)
    await register('observed-removed')
    expect(await observed('observed-removed')).toMatchObject({ calls: 0 })
  })

  it('requires the scope write for the agent, known or not', async () => {
    await register('observed-scopes')
    const reader = await called.issue({ scopes: ['read'] })
    const other = await called.issue({ scopes: ['read', 'write'], agents: ['other'] })
    const writer = await called.issue({ scopes: ['write'], agents: ['observed-*'] })
    const statuses = async (token?: string) =>
      Promise.all(
        ['observed-scopes', 'observed-unknown'].map(
          async id => (await called.send(`/agents/${id}/observed`, { method: 'GET', token })).status,
        ),
      )
    expect(await statuses()).toEqual([401, 401])
    expect(await statuses(reader.token)).toEqual([403, 403])
    expect(await statuses(other.token)).toEqual([403, 403])
    expect(await statuses(writer.token)).toEqual([200, 404])
  })

  it('is what sync-card lint --observed reports', async () => {
    const manifest = { card: agentCard(called.agent.origin), route: 'gateway' }
    const workspace = new Workspace({ 'observed-lint.json': manifest })
    await called.register('observed-lint', manifest)
    called.agent.respond(answer(result(image)))
    await callTimes(1, 'observed-lint', call())
    const url = called.host.url.href
    const args = ['lint', 'observed-lint.json', '--observed', '--url', url, '--token', adminToken]
    const { stdout, code } = await workspace.run(args)
    expect(stdout).toContain('/card/defaultOutputModes do not include what the agent produced: image/png (in 1 result)')
    expect(code).toBe(0)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
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

  it('shows an agent that refuses the push notifications which its card declares', async () => {
    await register('observed-less', { capabilities: { pushNotifications: true } })
    const taskPushNotificationConfig = { url: 'https://client.example.com/callback' }
    called.agent.respond(answer(error(-32003)))
    await callTimes(3, 'observed-less', call('SendMessage', message({ configuration: { taskPushNotificationConfig } })))
    const { errorRate, failures, proposals } = await observed('observed-less')
    expect([errorRate, failures]).toEqual([1, { '-32003': 3 }])
    const change = { op: 'add', path: '/capabilities/pushNotifications', value: false }
    expect(proposals).toMatchObject([{ rule: 'observed-push-notifications', change }])
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

  it('counts a stream that breaks off before its first event as a failure', async () => {
    await register('observed-broken')
    called.agent.respond(response => {
      response.writeHead(200, stream).flushHeaders()
      response.write(': comment\n\n', () => response.destroy())
    })
    await callTimes(1, 'observed-broken', call('SendStreamingMessage'))
    expect(await observed('observed-broken')).toMatchObject({ calls: 1, failures: { 'broken-off': 1 } })
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

  it('requires the scope write for the agent, known or not', async () => {
    const reader = await called.issue({ scopes: ['read'] })
    for (const id of ['observed-secret', 'observed-unknown']) expect((await read(id, reader.token)).status).toBe(403)
  })

  it('points into the card as it is written, and knows what its extended card declares', async () => {
    const { origin } = called.agent
    const fields = { name: 'A', description: 'Answers questions', url: `${origin}/a2a` }
    const skill = { id: 'map', name: 'Map', description: 'Draws a map of the weather', tags: ['map'] }
    await called.register('observed-dialect', {
      card: { ...fields, supportedOutputModes: ['text/plain'] },
      extended: { skills: [{ ...skill, outputModes: ['image/png'] }] },
    })
    for (const part of [image, { raw: 'AA==', mediaType: 'image/gif' }]) {
      called.agent.respond(answer(result(part)))
      await callTimes(1, 'observed-dialect', call())
    }
    const { proposals } = await observed('observed-dialect')
    expect(proposals.map(({ pointer, seen, change }) => [pointer, seen, (change as JsonObject).path])).toEqual([
      ['/supportedOutputModes', { 'image/gif': 1 }, '/defaultOutputModes'],
    ])
  })
})

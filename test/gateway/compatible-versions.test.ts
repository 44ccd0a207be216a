import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { WireVersion } from '../../src/card/model/versions.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import '../support/workers/identity-transform-stream.ts'

// A version that only adds: its row, and its members and parameters, before anything is derived from the tables.
vi.resetModules()
afterAll(() => vi.resetModules())
const { versions, wireVersionOf, wireVersions } = await import('../../src/card/model/versions.ts')
const { objects } = await import('../../src/a2a/objects/table.ts')
const next = '1.1' as string as WireVersion
const rows = objects as unknown as Record<string, object[]>
Object.assign(versions, {
  [next]: { ...versions['1.0'], follows: '1.0', forms: { JSONRPC: 'proto-1.1', 'HTTP+JSON': 'proto-1.1' } },
})
wireVersions.push(next)
const known = wireVersionOf as Map<string, WireVersion>
known.set(next, next)
rows.statusUpdate?.push({ name: 'cursor', since: next })
rows.pushConfig?.push({ name: 'redacted', since: next })
const { operations } = await import('../../src/a2a/operations.ts')
Object.assign(operations.send, { params: { skillId: { since: next } } })
Object.assign(operations.resubscribe, { params: { ...operations.resubscribe.params, cursor: { since: next } } })

const { startNodeHost } = await import('../support/node-host.ts')
const { token } = await import('../support/runtime.ts')

/** What the agent was sent: the version in the header, the method, and the parameters. */
type Sent = { version: string | null; method: string; params: JsonObject; path: string }

const authorization = { Authorization: `Bearer ${token}` }
const host = await startNodeHost()
let sent: Sent[] = []
let result: Json = null

const agent = {
  fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input, init)
    const text = await request.text()
    const { method = '', id = null, params = {} } = text === '' ? {} : JSON.parse(text)
    const { pathname, search } = new URL(request.url)
    sent.push({ version: request.headers.get('A2A-Version'), method, params, path: pathname + search })
    if (request.headers.get('Accept') !== 'text/event-stream') return Response.json({ jsonrpc: '2.0', id, result })
    const event = `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`
    return new Response(event, { headers: { 'Content-Type': 'text/event-stream' } })
  },
}
Object.assign(host.env, { AGENT: agent })

const register = (id: string, ...versions: string[]) =>
  host.put(id, {
    card: {
      ...{ name: id, description: 'Knows the weather.', version: '1.0.0' },
      capabilities: { streaming: true, pushNotifications: true },
      ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
      skills: [{ id: 'rain', name: 'Rain', description: 'Tells whether it rains.', tags: ['rain'] }],
      supportedInterfaces: versions.map(protocolVersion => ({
        ...{ url: 'https://agent.example/a2a', protocolBinding: 'JSONRPC', protocolVersion },
      })),
    },
    ...{ route: 'gateway', upstream: { service: 'AGENT' }, gate: { tasks: 'shared' } },
  })

await register('of-1-0', '1.0')
await register('of-1-1', '1.1')
await register('of-both', '1.0', '1.1')

beforeEach(() => {
  sent = []
  result = { message: { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: 'It rains' }] } }
})

const call = async (agent: string, version: string | undefined, method: string, params: JsonObject) => {
  const headers = {
    ...authorization,
    'Content-Type': 'application/json',
    ...(version !== undefined && { 'A2A-Version': version }),
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })
  const response = await host.fetch(`/agents/${agent}/a2a`, { method: 'POST', headers, body })
  const text = await response.text()
  const answer: JsonObject = JSON.parse(text.replace(/^data: /, ''))
  return { answer, warning: response.headers.get('Gate-Warning') }
}

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Does it rain?' }] }
const messageV03 = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Does it rain?' }] }

describe('an agent of 1.1', () => {
  it('is served with its own interface, and with those of older clients', async () => {
    const read = async (version: string) => {
      const headers = { 'A2A-Version': version }
      const response = await host.fetch('/agents/of-1-1/.well-known/agent-card.json', { headers })
      return { version: response.headers.get('A2A-Version'), card: (await response.json()) as JsonObject }
    }
    const { version, card } = await read('1.1')
    const interfaces = card.supportedInterfaces as { protocolBinding: string; protocolVersion: string }[]
    expect(version).toBe('1.0')
    expect(interfaces.map(each => `${each.protocolBinding} ${each.protocolVersion}`)).toEqual([
      ...['JSONRPC 1.1', 'HTTP+JSON 1.1', 'JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3', 'HTTP+JSON 0.3'],
    ])
    expect((await read('1.0')).card).toEqual(card)
  })

  it('gets a call of 1.1 as it is', async () => {
    const params = { message, skillId: 'rain' }
    const { answer, warning } = await call('of-1-1', '1.1', 'SendMessage', params)
    expect([answer, warning]).toEqual([{ jsonrpc: '2.0', id: 7, result }, null])
    expect(sent).toMatchObject([{ version: '1.1', method: 'SendMessage', params }])
  })

  it('gets a call that names no version as one of 1.1', async () => {
    await call('of-1-1', undefined, 'SendMessage', { message, skillId: 'rain' })
    await call('of-both', undefined, 'SendMessage', { message })
    await call('of-1-0', undefined, 'SendMessage', { message })
    expect(sent.map(({ version }) => version)).toEqual(['1.1', '1.0', '1.0'])
  })

  it('is called by clients of 1.0 and 0.3', async () => {
    const ofV1 = await call('of-1-1', '1.0', 'SendMessage', { message })
    const ofV0 = await call('of-1-1', '0.3', 'message/send', { message: messageV03 })
    expect([ofV1.answer.result, ofV1.warning]).toEqual([result, null])
    expect(ofV0.answer.result).toMatchObject({ kind: 'message', role: 'agent' })
    expect(sent).toMatchObject([1, 2].map(() => ({ version: '1.1', method: 'SendMessage', params: { message } })))
  })

  it('is called over HTTP+JSON, whose paths two versions share', async () => {
    result = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }
    const read = async (headers: Record<string, string>) => {
      const response = await host.fetch('/agents/of-1-1/a2a/tasks/t', { headers: { ...authorization, ...headers } })
      return [response.status, response.headers.get('Content-Type')]
    }
    expect([await read({ 'A2A-Version': '1.1' }), await read({ 'A2A-Version': '1.0' }), await read({})]).toEqual(
      [1, 2, 3].map(() => [200, 'application/a2a+json']),
    )
    expect(sent.map(({ version, method }) => [version, method])).toEqual([1, 2, 3].map(() => ['1.1', 'GetTask']))
  })

  it('shows the cursor of a stream, and that a secret is left out, to clients of 1.1 alone', async () => {
    const event = { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }
    result = { statusUpdate: { ...event, cursor: '5' } }
    const follow = (version: string) => call('of-1-1', version, 'SubscribeToTask', { id: 't' })
    expect((await follow('1.1')).answer.result).toEqual(result)
    expect((await follow('1.0')).answer.result).toEqual({ statusUpdate: event })
    const config = { id: 'p', taskId: 't', url: 'https://client.example/push' }
    result = { ...config, redacted: true }
    const read = (version: string) => call('of-1-1', version, 'GetTaskPushNotificationConfig', { taskId: 't', id: 'p' })
    expect(await read('1.1')).toMatchObject({ answer: { result }, warning: null })
    expect(await read('1.0')).toEqual({
      answer: { jsonrpc: '2.0', id: 7, result: config },
      warning: 'lossy (redacted)',
    })
  })
})

describe('an agent of 1.0', () => {
  it('is not listed with the interfaces of 1.1, whose clients understand its own', async () => {
    const card = (await (await host.fetch('/agents/of-1-0/.well-known/agent-card.json')).json()) as JsonObject
    const interfaces = card.supportedInterfaces as { protocolVersion: string }[]
    expect(new Set(interfaces.map(({ protocolVersion }) => protocolVersion))).toEqual(new Set(['1.0', '0.3']))
  })

  it('gets calls of 1.1 without what 1.1 adds, of which the caller is told', async () => {
    const started = await call('of-1-0', '1.1', 'SendMessage', { message, skillId: 'rain' })
    expect(started).toEqual({ answer: { jsonrpc: '2.0', id: 7, result }, warning: 'lossy (skillId)' })
    result = { statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } }
    const followed = await call('of-1-0', '1.1', 'SubscribeToTask', { id: 't', cursor: '5' })
    expect(followed).toEqual({ answer: { jsonrpc: '2.0', id: 7, result }, warning: 'lossy (cursor)' })
    expect(sent.map(({ version, params }) => ({ version, params }))).toEqual([
      { version: '1.0', params: { message } },
      { version: '1.0', params: { id: 't' } },
    ])
  })
})

it('describes each path that both versions have once', async () => {
  const { paths } = (await (await host.fetch('/openapi.json')).json()) as { paths: Record<string, JsonObject> }
  const operations = Object.values(paths).flatMap(
    path => Object.values(path) as { operationId: string; summary: string }[],
  )
  const ids = operations.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(operations.find(({ operationId }) => operationId === 'getTask_1_0')?.summary).toBe(
    'Call GetTask of A2A 1.0 or 1.1 over HTTP+JSON',
  )
})

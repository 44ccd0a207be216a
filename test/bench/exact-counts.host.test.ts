import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Load } from '../../bench/load.ts'
import { cardPath, quickCard, sameCard } from '../../bench/requests.ts'
import { adminToken, register } from '../../bench/servers.ts'
import { json, reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'
import { startCountingHost } from './counting-host.ts'

let host: Awaited<ReturnType<typeof startCountingHost>>
let upstream: UpstreamServer
let origin: string

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.respond(reply(200, json, JSON.stringify(quickCard('remote'))))
  origin = upstream.origin
  host = await startCountingHost(origin)
  await register(host.port, 'agent-000000', quickCard('agent-000000'))
  // The card and the root agent.
  await host.untilPuts(2)
})
afterAll(async () => {
  await upstream.close()
  await host?.stop()
})
beforeEach(() => host.resetCounts())

const nothing = { kv: 0, parses: 0, hashes: 0, registry: 0, owners: 0 }
const noReads = { get: 0, bulk: 0, put: 0, delete: 0 }

describe('the counts', () => {
  it('include the work of a registration', async () => {
    await register(host.port, 'counted', quickCard('counted'))
    const { parses, hashes, registry } = await host.hostCounts()
    expect([parses > 0, hashes > 0, registry > 0]).toEqual([true, true, true])
    // The card.
    await host.untilPuts(1)
  })

  it('include the work of a GET that is not in memory', async () => {
    await fetch(host.origin + cardPath('agent-000001'))
    expect(await host.hostCounts()).toEqual({ ...nothing, requests: 1, kv: 1, parses: 1 })
    expect(await host.kvCounts()).toEqual({ ...noReads, get: 1 })
  })
})

describe('a GET from memory', () => {
  const path = cardPath('agent-000002')
  const variants: [string, string, RequestInit][] = [
    ['agent-card.json', path, {}],
    ['agent.json', path.replace('agent-card.json', 'agent.json'), {}],
    ['the card of the host name', '/.well-known/agent-card.json', {}],
    ['A2A-Version: 0.3', path, { headers: { 'A2A-Version': '0.3' } }],
    ['A2A-Version: 1.0', path, { headers: { 'A2A-Version': '1.0' } }],
    ['?dialect=gopherhole', `${path}?dialect=gopherhole`, {}],
    ['HEAD', path, { method: 'HEAD' }],
    ['Prefer: server-timing', path, { headers: { Prefer: 'server-timing' } }],
  ]

  it.each(variants)('reads no KV, parses no JSON and hashes nothing: %s', async (_, url, init) => {
    const get = async (more: HeadersInit = {}) => {
      const response = await fetch(host.origin + url, { ...init, headers: { ...init.headers, ...more } as HeadersInit })
      await response.arrayBuffer()
      return response
    }
    const etag = (await get()).headers.get('ETag') ?? ''
    await host.resetCounts()
    for (let time = 0; time < 50; time++) expect((await get()).status).toBe(200)
    for (let time = 0; time < 50; time++) expect((await get({ 'If-None-Match': etag })).status).toBe(304)
    expect(await host.hostCounts()).toEqual({ requests: 100, ...nothing })
    expect(await host.kvCounts()).toEqual(noReads)
  })
})

describe('a remote card', () => {
  const path = cardPath('remote')
  beforeAll(async () => {
    await host.resetCounts()
    await register(host.port, 'remote', { upstream: { card: `${origin}/card` } })
    await host.untilPuts(1)
  })

  it('is served from memory without KV and the Registry', async () => {
    const etag = (await fetch(host.origin + path)).headers.get('ETag') ?? ''
    // An alarm of the Registry, a second after the registration, may fall into the first attempt.
    await vi.waitFor(async () => {
      await host.resetCounts()
      for (const [status, headers] of [
        [200, {}],
        [304, { 'If-None-Match': etag }],
      ] as const)
        for (let time = 0; time < 50; time++) {
          const response = await fetch(host.origin + path, { headers })
          await response.arrayBuffer()
          expect(response.status).toBe(status)
        }
      expect([await host.hostCounts(), await host.kvCounts()]).toEqual([{ requests: 100, ...nothing }, noReads])
    }, 10_000)
  })

  it('causes no operation of KV when a refresh finds it unchanged', async () => {
    const headers = { Authorization: `Bearer ${adminToken}` }
    const response = await fetch(`${host.origin}/agents/remote/refresh`, { method: 'POST', headers })
    expect([await response.json(), await host.kvCounts()]).toEqual([
      expect.objectContaining({ outcome: 'unchanged' }),
      noReads,
    ])
  })
})

describe('a hundred calls of one agent', () => {
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'message/send' },
    params: { message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Hi' }] } },
  })
  const answer = {
    ...{ jsonrpc: '2.0', id: 1 },
    result: { kind: 'message', messageId: 'n', role: 'agent', parts: [{ kind: 'text', text: 'Hello' }] },
  }

  it('read no KV, and send what they show to the Registry in one or two requests', async () => {
    upstream.respond(reply(200, json, JSON.stringify(answer)))
    await host.resetCounts()
    await register(host.port, 'called', {
      card: { ...quickCard('called'), url: `${origin}/a2a`, protocolVersion: '0.3.0' },
    })
    await host.untilPuts(1)
    await host.resetCounts()
    for (let time = 0; time < 100; time++) {
      const headers = { 'Content-Type': 'application/json' }
      const response = await fetch(`${host.origin}/agents/called/a2a`, { method: 'POST', headers, body })
      expect([response.status, await response.json()]).toEqual([200, answer])
    }
    await vi.waitFor(async () => expect((await host.hostCounts()).registry).toBeGreaterThan(0), 10_000)
    expect((await host.hostCounts()).registry).toBeLessThanOrEqual(2)
    expect(await host.kvCounts()).toEqual(noReads)
  })
})

describe('calls of an agent whose tasks are kept apart', () => {
  const task = { kind: 'task', id: 'task-1', contextId: 'context-1', status: { state: 'completed' } }
  const call = (method: string, params: object) =>
    fetch(`${host.origin}/agents/owned/a2a`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    }).then(response => response.json())
  const message = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }

  it('cost one request of a Durable Object for a new task, and none for later calls about it', async () => {
    upstream.respond(reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 1, result: task })))
    const card = { ...quickCard('owned'), url: `${origin}/a2a`, protocolVersion: '0.3.0' }
    await register(host.port, 'owned', { card, gate: { tasks: 'owner' } })
    await host.resetCounts()
    expect(await call('message/send', { message })).toMatchObject({ result: { id: 'task-1' } })
    expect((await host.hostCounts()).owners).toBe(1)
    for (let time = 0; time < 50; time++) {
      await call('tasks/get', { id: 'task-1' })
      await call('message/send', { message: { ...message, taskId: 'task-1', contextId: 'context-1' } })
    }
    expect((await host.hostCounts()).owners).toBe(1)
  })
})

describe('an id that is not in memory', () => {
  it('is read from KV once for 1,000 concurrent requests', async () => {
    await host.blockReads()
    const load = await Load.open(host.port, sameCard('agent-000003'), 1_000)
    const responses = load.requests(1_000)
    while ((await host.hostCounts()).requests < 1_000) await new Promise(setImmediate)
    await host.releaseReads()
    expect((await responses).responses).toBe(1_000)
    load.close()
    expect(await host.kvCounts()).toEqual({ ...noReads, get: 1 })
  })

  it('is read once even when the first client disconnects', async () => {
    await host.blockReads()
    const url = host.origin + cardPath('agent-000004')
    const abort = new AbortController()
    const first = fetch(url, { signal: abort.signal })
    while ((await host.hostCounts()).requests < 1) await new Promise(setImmediate)
    abort.abort()
    await expect(first).rejects.toThrow('abort')
    const second = fetch(url)
    while ((await host.hostCounts()).requests < 2) await new Promise(setImmediate)
    await host.releaseReads()
    expect((await second).status).toBe(200)
    expect(await host.kvCounts()).toEqual({ ...noReads, get: 1 })
  })
})

describe('an unknown id', () => {
  it('is looked up in KV once while its absence is cached', async () => {
    for (let time = 0; time < 100; time++) expect((await fetch(host.origin + cardPath('nobody'))).status).toBe(404)
    expect(await host.kvCounts()).toEqual({ ...noReads, get: 1 })
  })
})

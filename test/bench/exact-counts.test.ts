import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { pathOf, sameCard } from '../../bench/card-requests.ts'
import { quickCard } from '../../bench/cards.ts'
import { adminToken, register } from '../../bench/host.ts'
import { Load } from '../../bench/load.ts'
import { startCountingHost } from './counting-host.ts'

let host: Awaited<ReturnType<typeof startCountingHost>>
let elsewhere: string
const upstream = createServer((_, response) =>
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(quickCard('elsewhere'))),
)

beforeAll(async () => {
  await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve))
  elsewhere = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  host = await startCountingHost(elsewhere)
  await register(host.port, 'agent-000000', { ...quickCard('agent-000000') })
  // Its card, its being the root, and what changed lately.
  await host.untilPuts(3)
})
afterAll(async () => {
  upstream.close()
  await host?.stop()
})
beforeEach(() => host.forgetCounts())

const nothing = { kv: 0, parses: 0, hashes: 0, registry: 0 }
const noReads = { get: 0, put: 0, delete: 0 }

describe('what is counted', () => {
  it('sees the work of a registration', async () => {
    await register(host.port, 'seen', quickCard('seen'))
    const { parses, hashes, registry } = await host.hostCounts()
    expect([parses > 0, hashes > 0, registry > 0]).toEqual([true, true, true])
    // Its card, and what changed lately.
    await host.untilPuts(2)
  })

  it('sees the work of a cold GET', async () => {
    await fetch(host.origin + pathOf('agent-000001'))
    expect(await host.hostCounts()).toEqual({ requests: 1, kv: 1, parses: 1, hashes: 0, registry: 0 })
    expect(await host.kvCounts()).toEqual({ ...noReads, get: 1 })
  })
})

describe('a warm GET', () => {
  const path = pathOf('agent-000002')
  const asked: [string, string, RequestInit][] = [
    ['agent-card.json', path, {}],
    ['agent.json', path.replace('agent-card.json', 'agent.json'), {}],
    ['the card of the host name', '/.well-known/agent-card.json', {}],
    ['A2A-Version: 0.3', path, { headers: { 'A2A-Version': '0.3' } }],
    ['A2A-Version: 1.0', path, { headers: { 'A2A-Version': '1.0' } }],
    ['?dialect=gopherhole', `${path}?dialect=gopherhole`, {}],
    ['HEAD', path, { method: 'HEAD' }],
  ]

  it.each(asked)('reads no KV, parses no JSON and hashes nothing: %s', async (_, url, init) => {
    const status = async (more: HeadersInit = {}) => {
      const response = await fetch(host.origin + url, { ...init, headers: { ...init.headers, ...more } as HeadersInit })
      await response.arrayBuffer()
      return response
    }
    const etag = (await status()).headers.get('ETag') ?? ''
    await host.forgetCounts()
    for (let time = 0; time < 50; time++) expect((await status()).status).toBe(200)
    for (let time = 0; time < 50; time++) expect((await status({ 'If-None-Match': etag })).status).toBe(304)
    expect(await host.hostCounts()).toEqual({ requests: 100, ...nothing })
    expect(await host.kvCounts()).toEqual(noReads)
  })
})

describe('a card from elsewhere', () => {
  const path = pathOf('elsewhere')
  beforeAll(async () => {
    await host.forgetCounts()
    await register(host.port, 'elsewhere', { upstream: { card: `${elsewhere}/card` } })
    await host.untilPuts(2)
  })

  it('costs a warm GET no read of KV, nor of the Registry', async () => {
    const etag = (await fetch(host.origin + path)).headers.get('ETag') ?? ''
    await host.forgetCounts()
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
  })

  it('costs KV nothing to be found unchanged', async () => {
    const headers = { Authorization: `Bearer ${adminToken}` }
    const response = await fetch(`${host.origin}/agents/elsewhere/refresh`, { method: 'POST', headers })
    expect([await response.json(), await host.kvCounts()]).toEqual([
      expect.objectContaining({ outcome: 'unchanged' }),
      noReads,
    ])
  })
})

describe('a cold id', () => {
  it('is read from KV once for 1,000 requests at the same time', async () => {
    await host.holdReads()
    const load = await Load.open(host.port, sameCard('agent-000003'), 1_000)
    const answered = load.requests(1_000)
    while ((await host.hostCounts()).requests < 1_000) await new Promise(setImmediate)
    await host.releaseReads()
    expect((await answered).responses).toBe(1_000)
    load.close()
    expect(await host.kvCounts()).toEqual({ ...noReads, get: 1 })
  })

  it('is read once even when the client that came first leaves', async () => {
    await host.holdReads()
    const url = host.origin + pathOf('agent-000004')
    const leaving = new AbortController()
    const first = fetch(url, { signal: leaving.signal })
    while ((await host.hostCounts()).requests < 1) await new Promise(setImmediate)
    leaving.abort()
    await expect(first).rejects.toThrow('abort')
    const second = fetch(url)
    while ((await host.hostCounts()).requests < 2) await new Promise(setImmediate)
    await host.releaseReads()
    expect((await second).status).toBe(200)
    expect(await host.kvCounts()).toEqual({ ...noReads, get: 1 })
  })
})

describe('an unknown id', () => {
  it('is asked of KV once while its absence is remembered', async () => {
    for (let time = 0; time < 100; time++) expect((await fetch(host.origin + pathOf('nobody'))).status).toBe(404)
    expect(await host.kvCounts()).toEqual({ ...noReads, get: 1 })
  })
})

import { beforeAll, expect, it, vi } from 'vitest'
import type { Json } from '../../src/json/json.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'

let host: NodeHost
/** The keys under which writes were counted since the last request. */
const counted: string[] = []
let isExceeded = false

beforeAll(async () => {
  vi.spyOn(console, 'info').mockReturnValue()
  host = await startNodeHost()
  await host.put('a', minimalCard)
  const limit = async ({ key }: { key: string }) => {
    counted.push(key)
    return { success: !isExceeded }
  }
  Object.assign(host.env, { WRITE_LIMIT: { limit } })
})

const send = (method: string, path: string, body?: Json | string, type = 'application/json') =>
  host.fetch(path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': type },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

const ndjson = 'application/x-ndjson'
const batch = (lines: number) =>
  Array.from({ length: lines }, (_, index) => JSON.stringify({ id: `b${index}`, manifest: {} })).join('\n')

type Row = [writes: number, method: string, path: string, body?: Json | string, type?: string]

const rows: Row[] = [
  [1, 'PUT', '/agents/a', minimalCard],
  [1, 'POST', '/agents/a/rollback', { seq: 1 }],
  [1, 'POST', '/agents/a/refresh'],
  [1, 'POST', '/agents/none/check', {}],
  [1, 'POST', '/rpc', { jsonrpc: '2.0', id: 1, method: 'agents/refreshCard', params: { id: 'a' } }],
  [1, 'POST', '/agents:batch', batch(1), ndjson],
  [1, 'POST', '/agents:batch', batch(25), ndjson],
  [2, 'POST', '/agents:batch', batch(26), ndjson],
  [20, 'POST', '/agents:batch', batch(500), ndjson],
  [1, 'POST', '/agents:batch', batch(501), ndjson],
  [1, 'POST', '/tokens', { scopes: ['read'] }],
  [1, 'DELETE', '/tokens/aaaaaaaaaaaa'],
  [1, 'POST', '/import', '{}\n'],
  [0, 'GET', '/agents/a/manifest'],
  [0, 'GET', '/agents/a/revisions'],
  [0, 'GET', '/agents/a/source'],
  [0, 'GET', '/tokens'],
  [1, 'DELETE', '/agents/a'],
]

it('counts each write of a token, and 25 started lines of a batch as one', async () => {
  const counts: Row[] = []
  for (const [, method, path, ...rest] of rows) {
    await (await send(method, path, ...rest)).text()
    expect(counted.every(key => key === 'admin')).toBe(true)
    counts.push([counted.splice(0).length, method, path, ...rest])
  }
  expect(counts).toEqual(rows)
})

it('refuses writes past the limit with 429, before the Registry is asked for anything', async () => {
  await host.put('a', minimalCard)
  isExceeded = true
  const { REGISTRY } = host.env
  const used: string[] = []
  const getByName = (name: string) => {
    used.push(name)
    return REGISTRY.getByName(name)
  }
  Object.assign(host.env, { REGISTRY: { getByName } })
  for (const [writes, method, path, ...rest] of rows) {
    const response = await send(method, path, ...rest)
    const isRefused = (await response.text()).includes('"too-many-requests"')
    const retryAfter = response.headers.get('Retry-After')
    expect([method, path, isRefused]).toEqual([method, path, writes > 0])
    // SuperX has its errors in responses with 200, and looks the agent up first.
    if (writes > 0 && path !== '/rpc')
      expect([method, path, response.status, retryAfter, used.splice(0)]).toEqual([method, path, 429, '60', []])
    used.splice(0)
  }
})

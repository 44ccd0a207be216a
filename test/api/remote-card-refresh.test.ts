import { beforeEach, expect, it } from 'vitest'
import { serveRemoteCard } from '../../src/api/card-endpoints.ts'
import { userAgent } from '../../src/http/headers.ts'
import type { RemoteDocument } from '../../src/registry/edge/document-cache.ts'
import { startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'

/** The ids of the agents whose refresh was requested, in order. */
let refreshes: string[]
beforeEach(() => {
  refreshes = []
})

const refresh = async () => ({ result: { outcome: 'unchanged' } })
const getByName = (id: string) => {
  refreshes.push(id)
  return { refresh }
}
const env = { REMOTE_CARDS: { getByName } } as unknown as Env
const ctx = { waitUntil: () => undefined } as unknown as ExecutionContext
const request = new Request('https://host.example/agents/a')
const overdue = { checked: 0, ttl: 300, staleIfError: 3600 }
const card = { etag: '"e"', modified: '', body: new Uint8Array() }

it.each<[string, RemoteDocument]>([
  ['served', { ...card, source: overdue }],
  ['expired', { ...card, source: { ...overdue, failing: 504 } }],
  ['missing', { source: { ...overdue, failing: 502 } }],
])('refreshes an overdue remote card that is %s', (state, document) => {
  const serve = () => serveRemoteCard(`due-${state}`, document, { request, env, ctx })
  if (state === 'served') expect(serve()).toBe(document)
  else expect(serve).toThrow('fetched from an upstream')
  expect(refreshes).toEqual([`due-${state}`])
})

it('does not refresh a card for another Calling Card host, so that two hosts cannot refresh each other endlessly', () => {
  const fromHost = new Request('https://host.example/agents/a', { headers: { 'User-Agent': userAgent() } })
  serveRemoteCard('chained', { ...card, source: overdue }, { request: fromHost, env, ctx })
  expect(refreshes).toEqual([])
})

it('answers a refresh with 409 and Retry-After if the agent changes at the same time', async () => {
  const host = await startNodeHost()
  const conflict = async () => ({ result: { outcome: 'conflict' }, state: { publishedHealth: {} } })
  Object.assign(host.env, { REMOTE_CARDS: { getByName: () => ({ refresh: conflict }) } })
  const headers = { Authorization: `Bearer ${token}` }
  const response = await host.fetch('/agents/a/refresh', { method: 'POST', headers })
  expect([response.status, response.headers.get('Retry-After')]).toEqual([409, '1'])
})

it('answers a failed refresh with the status of its code, whatever readers of the card get', async () => {
  const host = await startNodeHost()
  const rows = [
    [503, 'unreachable', 502],
    [503, 'timeout', 504],
    [503, 'not-ready', 503],
    [502, 'unverified', 502],
  ] as const
  for (const [status, code, expected] of rows) {
    const failed = async () => ({
      result: { outcome: 'failed', failure: { status, code, message: 'It failed.' } },
      state: { publishedHealth: {} },
    })
    Object.assign(host.env, { REMOTE_CARDS: { getByName: () => ({ refresh: failed }) } })
    const headers = { Authorization: `Bearer ${token}` }
    const response = await host.fetch('/agents/a/refresh', { method: 'POST', headers })
    expect(await response.json()).toMatchObject({ status: expected, code: `upstream-${code}` })
    expect(response.status).toBe(expected)
  }
})

import { beforeEach, expect, it } from 'vitest'
import { serveRemoteCard } from '../../src/api/cards.ts'
import { userAgent } from '../../src/http/headers.ts'
import type { RemoteDocument } from '../../src/registry/edge/cards.ts'

/** The refreshes that were requested. */
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
const due = { checked: 0, ttl: 300, staleIfError: 3600 }
const card = { etag: '"e"', modified: '', body: new Uint8Array() }

it.each<[string, RemoteDocument]>([
  ['served', { ...card, source: due }],
  ['expired', { ...card, source: { ...due, failing: 504 } }],
  ['missing', { source: { ...due, failing: 502 } }],
])('a GET of a remote card that is due has it refreshed: %s', (what, document) => {
  const serve = () => serveRemoteCard(`due-${what}`, document, { request, env, ctx })
  if (what === 'served') expect(serve()).toBe(document)
  else expect(serve).toThrow('fetched from an upstream')
  expect(refreshes).toEqual([`due-${what}`])
})

it('a GET of a fresh remote card has nothing refreshed', () => {
  const source = { ...due, checked: Date.now() }
  serveRemoteCard('fresh', { ...card, source }, { request, env, ctx })
  expect(refreshes).toEqual([])
})

it('a GET by another Calling Card host has nothing refreshed, so that two hosts cannot do so for ever', () => {
  const fromHost = new Request('https://host.example/agents/a', { headers: { 'User-Agent': userAgent() } })
  serveRemoteCard('chained', { ...card, source: due }, { request: fromHost, env, ctx })
  expect(refreshes).toEqual([])
})

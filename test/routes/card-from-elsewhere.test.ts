import { afterAll, beforeEach, expect, it, vi } from 'vitest'
import { serveRemoteCard } from '../../src/api/cards.ts'
import { userAgent } from '../../src/http/headers.ts'
import type { RemoteDocument } from '../../src/registry/edge/cards.ts'
import { revalidate } from '../../src/sources/revalidate.ts'

vi.mock('../../src/sources/revalidate.ts')
beforeEach(() => vi.clearAllMocks())
afterAll(() => void vi.doUnmock('../../src/sources/refresh-stale.ts'))

const env = {} as Env
const ctx = {} as ExecutionContext
const request = new Request('https://host.example/agents/a')
const well = { checked: Date.now(), ttl: 300, staleIfError: 3600 }
const card = { etag: '"e"', modified: '', body: new Uint8Array() }

it.each<[string, RemoteDocument]>([
  ['that is served', { ...card, source: well }],
  ['that is too old to be', { ...card, source: { ...well, checked: 0, failing: 504 } }],
  ['that never came', { source: { ...well, checked: 0, failing: 502 } }],
])('each GET of a card %s has it looked at whether it is to be read again', (_, found) => {
  try {
    serveRemoteCard('a', found, { request, env, ctx })
  } catch {
    // What is told then is for other tests.
  }
  expect(vi.mocked(revalidate).mock.calls).toEqual([['a', found.source, env, ctx]])
})

it('a GET by another host like this one does not have the card fetched again: two hosts could do so for ever', () => {
  const fromHost = new Request('https://host.example/agents/a', { headers: { 'User-Agent': userAgent() } })
  serveRemoteCard('a', { ...card, source: { ...well, checked: 0 } }, { request: fromHost, env, ctx })
  expect(vi.mocked(revalidate)).not.toHaveBeenCalled()
})

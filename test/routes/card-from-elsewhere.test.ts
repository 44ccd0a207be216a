import { expect, it, vi } from 'vitest'
import { serveRemoteCard } from '../../src/api/cards.ts'
import { userAgent } from '../../src/http/headers.ts'
import type { RemoteDocument } from '../../src/registry/edge/cards.ts'

const long = { checked: Date.now() - 400_000, ttl: 300, staleIfError: 3600 }
const card = { etag: '"e"', modified: '', body: new Uint8Array() }
const ctx = { waitUntil: () => undefined } as unknown as ExecutionContext

/** Serves a card, and returns the agents whose objects were asked for a refresh. */
const refreshedBy = (id: string, found: RemoteDocument, headers: Record<string, string> = {}): string[] => {
  const refreshed: string[] = []
  const refresh = async (name: string) => {
    refreshed.push(name)
    return { result: { outcome: 'unchanged' } }
  }
  const env = { REMOTE_CARDS: { getByName: () => ({ refresh }) } } as unknown as Env
  try {
    serveRemoteCard(id, found, { request: new Request('https://host.example/', { headers }), env, ctx })
  } catch {
    // Other tests look at the response.
  }
  return refreshed
}

it.each<[string, RemoteDocument]>([
  ['old', { ...card, source: long }],
  ['expired', { ...card, source: { ...long, checked: 0, failing: 504 } }],
  ['missing', { source: { ...long, checked: 0, failing: 502 } }],
])('a reader of a remote card that is %s has it refreshed', (id, found) => {
  vi.spyOn(console, 'error').mockReturnValue()
  expect(refreshedBy(`refreshed-${id}`, found)).toEqual([`refreshed-${id}`])
})

it('a reader of a fresh remote card does not have it refreshed', () => {
  expect(refreshedBy('refreshed-fresh', { ...card, source: { ...long, checked: Date.now() } })).toEqual([])
})

it('another host like this one does not have a card refreshed: two hosts could do so for ever', () => {
  expect(refreshedBy('refreshed-host', { ...card, source: long }, { 'User-Agent': userAgent() })).toEqual([])
})

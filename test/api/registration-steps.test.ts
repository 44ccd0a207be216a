import { afterEach, expect, it, vi } from 'vitest'
import { compile } from '../../src/card/compile/index.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { parseDocument } from '../support/cards/compile.ts'
import { startNodeHost } from '../support/node-host.ts'

afterEach(() => void vi.restoreAllMocks())

const text = 'Version 2 of the notes'
/** Each search for secrets looks for tokens in a text, and for credentials of headers. */
const MATCHES_PER_SEARCH = 2

/** Registers a manifest, and returns how often the text in it was searched for secrets. */
const countSearches = async (manifest: JsonObject, answer: JsonObject = {}): Promise<number> => {
  const host = await startNodeHost({ answer })
  const { matchAll } = String.prototype
  let matches = 0
  const spy = vi.spyOn(String.prototype, 'matchAll').mockImplementation(function (this: string, pattern) {
    if (String(this) === text) matches++
    return matchAll.call(this, pattern)
  })
  await host.put('a', manifest)
  spy.mockRestore()
  return matches / MATCHES_PER_SEARCH
}

it('searches a document for secrets once: the card, an overlay, and a card that is fetched', async () => {
  const card = { ...minimalCard, 'x-note': text }
  expect(await countSearches(card)).toBe(1)
  expect(await countSearches({ card, route: 'gateway', tiers: { gold: { description: 'More' } } })).toBe(1)
  expect(await countSearches({ card: minimalCard, extended: { 'x-note': text }, tiers: { gold: {} } })).toBe(1)
  const upstream = { card: 'https://agent.example/card.json', service: 'AGENT' }
  expect(await countSearches({ upstream, route: 'gateway' }, card)).toBe(1)
})

it('reads nothing of a document after it was parsed', () => {
  for (const document of [
    minimalCard,
    { card: minimalCard, extended: { description: 'More' }, hosts: ['a.example'] },
  ]) {
    const { proxy, revoke } = Proxy.revocable<JsonObject>(document, {})
    const parsed = parseDocument(proxy)
    // The card of a bare card is the document itself.
    if ('card' in document) revoke()
    expect(compile(parsed)).toHaveProperty('compiled')
  }
})

import { describe, expect, it } from 'vitest'
import { readManifest } from '../../src/card/manifest/manifest.ts'
import { getSource, type Source } from '../../src/card/manifest/upstream.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { reconcile, type Sourced } from '../../src/sources/reconcile.ts'

const url = 'https://a.example.com/card.json'
const skill = (id: string) => ({ id, name: id, description: 'D', tags: ['t'] })
const card = (host: string, ...skills: JsonObject[]): JsonObject => ({
  name: 'A',
  description: 'B',
  url: `https://${host}/a2a`,
  protocolVersion: '0.3.0',
  skills: skills.length > 0 ? skills : [skill('s')],
})
const sourceIn = (document: JsonObject): Source => {
  const read = readManifest(document)
  if ('errors' in read) throw new Error(JSON.stringify(read.errors))
  return getSource(read.manifest.upstream) as Source
}

/** What becomes of a card that comes after another, by a manifest. */
const settled = (document: JsonObject, before: JsonObject, after: JsonObject, more: Partial<Sourced> = {}) => {
  const source = sourceIn(document)
  const known = { source, by: 'manifest', card: JSON.stringify(before) } as const
  const registration = { id: 'a', requestOrigin: 'https://h.example' }
  return reconcile({ document, registration, source, known, by: 'manifest', ...more }, { card: after, validators: {} })
}

const pinned = { upstream: { card: url, pin: true } }
/** With a skill of the manifest's own, the card that was there is larger than a card may be. */
const unmade = { ...pinned, card: { skills: [skill('mine')] } }
const largest = card('a.example.com', ...Array.from({ length: 500 }, (_, n) => skill(`s${n}`)))
const evil = card('evil.example.com')

describe('a pinned card', () => {
  it('stays, where the next one names another host', async () => {
    const came = await settled(pinned, card('a.example.com'), evil)
    expect(came).toMatchObject({ record: { held: { widens: [{ pointer: '/supportedInterfaces/0/url' }] } } })
  })

  it('stays, where it can be made no more and so not be compared: a refresh changes nothing', async () => {
    const came = await settled(unmade, largest, evil, { by: 'fetch' })
    expect(came).toMatchObject({
      record: {
        card: JSON.stringify(largest),
        held: { card: JSON.stringify(evil), widens: [{ pointer: '', message: expect.stringContaining('compared') }] },
      },
      compiled: undefined,
    })
  })

  it('refuses a manifest with which it can be made no more, and says what to do', async () => {
    const came = await settled(unmade, largest, evil)
    expect(came).toMatchObject({
      errors: [{ pointer: '/upstream', message: expect.stringContaining('accept') }, { pointer: '/card/skills' }],
    })
  })

  it('gives way to one that its owner has accepted, though they cannot be compared', async () => {
    const came = await settled(unmade, largest, evil, { by: 'fetch', accepted: true })
    expect(came).toMatchObject({ record: { card: JSON.stringify(evil) }, compiled: { card: {} } })
  })
})

describe('a card is pinned', () => {
  it.each<[string, JsonObject, boolean]>([
    ['where its manifest says so', { pin: true }, true],
    ['not where it does not', {}, false],
    ['where a secret of the host is sent along', { secret: 'WEATHER_TOKEN' }, true],
    ['where a binding of the host is called', { service: 'WEATHER' }, true],
    ['not where its manifest says so, whatever is used', { secret: 'WEATHER_TOKEN', pin: false }, false],
  ])('%s', (_, upstream, expected) => {
    expect(sourceIn({ upstream: { card: url, ...upstream } }).pin).toBe(expected)
  })
})

import { describe, expect, it } from 'vitest'
import { type Manifest, readManifest } from '../../src/card/manifest/manifest.ts'
import { getSource, type Source } from '../../src/card/manifest/upstream.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { type RemoteAgent, reconcile } from '../../src/sources/reconcile.ts'

const url = 'https://a.example.com/card.json'
const skill = (id: string) => ({ id, name: id, description: 'D', tags: ['t'] })
const card = (host: string, ...skills: JsonObject[]): JsonObject => ({
  name: 'A',
  description: 'B',
  url: `https://${host}/a2a`,
  protocolVersion: '0.3.0',
  skills: skills.length > 0 ? skills : [skill('s')],
})
const manifestIn = (document: JsonObject): Manifest => {
  const read = readManifest(document)
  if ('errors' in read) throw new Error(JSON.stringify(read.errors))
  return read.manifest
}
const sourceIn = (document: JsonObject): Source => getSource(manifestIn(document).upstream) as Source

/** What becomes of a card that comes after another, by a manifest. */
const settled = (document: JsonObject, before: JsonObject, after: JsonObject, more: Partial<RemoteAgent> = {}) => {
  const source = sourceIn(document)
  const known = { source, by: 'manifest', card: JSON.stringify(before) } as const
  const origins = { requestOrigin: 'https://h.example' }
  const agent = { id: 'a', document, manifest: manifestIn(document), origins, source, known, by: 'manifest' } as const
  return reconcile({ ...agent, ...more }, { card: after, validators: {} })
}

const pinned = { upstream: { card: url, pin: true } }
/** With a skill of the manifest's own, the card that was there is larger than a card may be. */
const unmade = { ...pinned, card: { skills: [skill('mine')] } }
const largest = card('a.example.com', ...Array.from({ length: 500 }, (_, n) => skill(`s${n}`)))
const evil = card('evil.example.com')

describe('a pinned card', () => {
  it('stays, where the next one names another host', async () => {
    const came = await settled(pinned, card('a.example.com'), evil)
    expect(came).toMatchObject({ record: { pending: { widens: [{ pointer: '/supportedInterfaces/0/url' }] } } })
  })

  it('stays, where it can be made no more and so not be compared: a refresh changes nothing', async () => {
    const came = await settled(unmade, largest, evil, { by: 'fetch' })
    expect(came).toMatchObject({
      record: {
        card: JSON.stringify(largest),
        pending: {
          card: JSON.stringify(evil),
          widens: [{ pointer: '', message: expect.stringContaining('compared') }],
        },
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
    const came = await settled(unmade, largest, evil, { by: 'fetch', isAccepted: true })
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

describe('an error', () => {
  const owners = { upstream: { card: url }, card: { skills: [{ id: 's', name: 7 }] } }
  const issuer = { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' }

  it.each<[string, JsonObject]>([
    ['in what the manifest adds to the card', owners],
    [
      'in what it adds, where it also has `jwt`',
      {
        ...{ ...owners, jwt: { audience: 'a', scope: 'read' } },
        card: { ...owners.card, securitySchemes: { oidc: issuer } },
      },
    ],
    ['in `jwt` itself', { upstream: { card: url }, jwt: { audience: 'a', scope: 'read' } }],
  ])('is the owner’s: %s', async (_, document) => {
    expect(await settled(document, {}, card('a.example.com'), { known: undefined })).toMatchObject({
      errors: [expect.anything()],
    })
  })

  it('is the upstream’s, where the fetched card is wrong by itself', async () => {
    const jwt = { audience: 'a', scope: 'read' }
    const document = { upstream: { card: url }, jwt, card: { securitySchemes: { oidc: issuer } } }
    expect(await settled(document, {}, { name: 7 }, { known: undefined })).toMatchObject({
      record: { failure: { code: 'invalid-card' } },
    })
  })
})

describe('a card whose members come in another order', () => {
  const reversed = (value: JsonObject): JsonObject => Object.fromEntries(Object.entries(value).toReversed())

  it('is the one before', async () => {
    const before = card('a.example.com')
    const after = reversed(before)
    expect(JSON.stringify(after)).not.toBe(JSON.stringify(before))
    expect(await settled({ upstream: { card: url } }, before, after)).toMatchObject({
      record: { card: JSON.stringify(before), drift: [] },
    })
  })

  it('waits under the same entity tag', async () => {
    const before = card('a.example.com')
    const first = await settled(pinned, before, evil)
    if (!('record' in first)) throw new Error('The manifest is invalid.')
    const again = await settled(pinned, before, reversed(evil), { known: first.record })
    expect(again).toMatchObject({ record: { pending: { etag: first.record.pending?.etag } } })
  })
})

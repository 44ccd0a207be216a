import { describe, expect, it } from 'vitest'
import type { Source } from '../../src/card/manifest/upstream.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { type RemoteAgent, reconcile } from '../../src/sources/reconcile.ts'
import { parseDocument } from '../support/cards/compile.ts'

const url = 'https://a.example.com/card.json'
const skill = (id: string) => ({ id, name: id, description: 'D', tags: ['t'] })
const card = (host: string, ...skills: JsonObject[]): JsonObject => ({
  name: 'A',
  description: 'B',
  url: `https://${host}/a2a`,
  protocolVersion: '0.3.0',
  skills: skills.length > 0 ? skills : [skill('s')],
})
const parse = (document: JsonObject) => parseDocument(document, { id: 'a', requestOrigin: 'https://h.example' })
const sourceOf = (document: JsonObject): Source => parse(document).source as Source

/** Reconciles the card `after` with the known card `before`, for an agent with this manifest. */
const reconcileCards = (
  document: JsonObject,
  before: JsonObject,
  after: JsonObject,
  more: Partial<RemoteAgent> = {},
) => {
  const source = sourceOf(document)
  const known = { source, by: 'manifest', card: JSON.stringify(before) } as const
  const agent = { parsed: parse(document), source, known } as const
  return reconcile({ ...agent, by: 'manifest', ...more }, { card: after, validators: {} })
}

const pinned = { upstream: { card: url, pin: true } }
/** Adds a skill to the card, so that the largest card does not compile any more. */
const addingSkill = { ...pinned, card: { skills: [skill('mine')] } }
const largest = card('a.example.com', ...Array.from({ length: 500 }, (_, n) => skill(`s${n}`)))
const evil = card('evil.example.com')

describe('a pinned card', () => {
  it('is kept when the fetched card names another host', async () => {
    const result = await reconcileCards(pinned, card('a.example.com'), evil)
    expect(result).toMatchObject({ record: { pending: { widens: [{ pointer: '/supportedInterfaces/0/url' }] } } })
  })

  it('is kept when it no longer compiles and so cannot be compared', async () => {
    const result = await reconcileCards(addingSkill, largest, evil, { by: 'fetch' })
    expect(result).toMatchObject({
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

  it('rejects a new manifest with which it no longer compiles, and names the way out', async () => {
    const result = await reconcileCards(addingSkill, largest, evil)
    expect(result).toMatchObject({
      errors: [{ pointer: '/upstream', message: expect.stringContaining('accept') }, { pointer: '/card/skills' }],
    })
  })

  it('is replaced by a card that its owner has accepted, even when they cannot be compared', async () => {
    const result = await reconcileCards(addingSkill, largest, evil, { by: 'fetch', isAccepted: true })
    expect(result).toMatchObject({ record: { card: JSON.stringify(evil) }, compiled: { card: {} } })
  })
})

it('pins a card when its manifest says so, or by default when it is fetched with a secret or a binding', () => {
  for (const [upstream, expected] of [
    [{ pin: true }, true],
    [{}, false],
    [{ secret: 'WEATHER_TOKEN' }, true],
    [{ service: 'WEATHER' }, true],
    [{ secret: 'WEATHER_TOKEN', pin: false }, false],
  ] as const)
    expect([upstream, sourceOf({ upstream: { card: url, ...upstream } }).pin]).toEqual([upstream, expected])
})

describe('an error', () => {
  const oidc = { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' }
  const securitySchemes = { oidc }
  const jwt = { audience: 'a', scope: 'read' }

  it('is attributed to the manifest where its card or its `jwt` is invalid', async () => {
    const skills = [{ id: 's', name: 7 }]
    for (const more of [{ card: { skills } }, { jwt, card: { skills, securitySchemes } }, { jwt }]) {
      const document = { upstream: { card: url }, ...more }
      const result = await reconcileCards(document, {}, card('a.example.com'), { known: undefined })
      expect(result).toMatchObject({ errors: [expect.anything()] })
    }
  })

  it('is attributed to the upstream when the fetched card itself is invalid', async () => {
    const document = { upstream: { card: url }, jwt, card: { securitySchemes } }
    const result = await reconcileCards(document, {}, { name: 7 }, { known: undefined })
    expect(result).toMatchObject({ record: { failure: { code: 'invalid-card' } } })
  })
})

describe('a fetched card with a secret', () => {
  const key = `sk-proj-${'aB3dE6gH9jK2mN5pQ8sT'}`
  const before = card('a.example.com')
  const after = { ...before, description: `Call me with ${key}` }
  const unpinned = { upstream: { card: url } }

  it.each(['manifest', 'fetch'] as const)('is invalid, and the one before stays, after a change by %s', async by => {
    const result = await reconcileCards(unpinned, before, after, { by })
    expect(result).toMatchObject({
      record: {
        card: JSON.stringify(before),
        failure: { status: 502, code: 'invalid-card', errors: [{ pointer: '/description' }] },
      },
      compiled: { card: { description: before.description } },
    })
    expect(JSON.stringify(result)).not.toContain(key)
  })

  it('is invalid although its owner accepts what it widens', async () => {
    const result = await reconcileCards(pinned, before, { ...evil, 'x-key': key }, { by: 'fetch', isAccepted: true })
    expect(result).toMatchObject({ record: { failure: { errors: [{ pointer: '/x-key' }] } } })
  })

  it('is never pending', async () => {
    const { record } = (await reconcileCards(pinned, before, { ...evil, 'x-key': key })) as { record: object }
    expect(record).not.toHaveProperty('pending')
  })

  it('is served where the manifest allows the place, or overrides it', async () => {
    const allowed = await reconcileCards({ ...unpinned, allowSecrets: ['/description'] }, before, after)
    expect(allowed).toMatchObject({ record: { card: JSON.stringify(after) } })
    expect('record' in allowed && JSON.stringify(allowed.record.drift)).not.toContain(key)
    const overridden = await reconcileCards({ ...unpinned, card: { description: 'Mine' } }, before, after)
    expect(overridden).toMatchObject({ record: { card: JSON.stringify(after) } })
    expect('record' in overridden && JSON.stringify(overridden.compiled?.documents)).not.toContain(key)
  })

  it('does not appear in what a pending card widens', async () => {
    const address = `https://evil.example.com/a2a?key=${key}`
    const result = await reconcileCards({ ...pinned, allowSecrets: ['/url'] }, before, { ...before, url: address })
    expect(result).toMatchObject({
      record: { pending: { widens: [{ message: expect.stringMatching(/new address/) }] } },
    })
    expect('record' in result && JSON.stringify(result.record.pending?.widens)).not.toContain(key)
  })
})

describe('a card with its members in another order', () => {
  const reverseMembers = (value: JsonObject): JsonObject => Object.fromEntries(Object.entries(value).toReversed())

  it('is the same card', async () => {
    const before = card('a.example.com')
    const after = reverseMembers(before)
    expect(JSON.stringify(after)).not.toBe(JSON.stringify(before))
    expect(await reconcileCards({ upstream: { card: url } }, before, after)).toMatchObject({
      record: { card: JSON.stringify(before), drift: [] },
    })
  })

  it('is pending under the same entity tag', async () => {
    const before = card('a.example.com')
    const first = await reconcileCards(pinned, before, evil)
    if (!('record' in first)) throw new Error('The manifest is invalid.')
    const again = await reconcileCards(pinned, before, reverseMembers(evil), { known: first.record })
    expect(again).toMatchObject({ record: { pending: { etag: first.record.pending?.etag } } })
  })
})

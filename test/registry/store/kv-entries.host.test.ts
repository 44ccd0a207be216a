import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { Json } from '../../../src/json/json.ts'
import { decodeEnvelope } from '../../../src/registry/kv-format.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../../support/host.ts'

let host: OwnHost
let kv: KVNamespace
beforeAll(async () => {
  host = await startHost()
  kv = (await host.env()).CARDS
})
afterAll(() => host.close())

const bearer = { Authorization: `Bearer ${token}` }
const put = async (id: string, document: Json) => {
  const response = await host.put(id, document)
  expect(response.ok).toBe(true)
  return (await response.json()) as { seq: number; changed: boolean; etags: Record<string, string> }
}
/** Reads the entry of a key: the names of its documents, their texts, and its seq. */
const readEntry = async (key: string) => {
  const { value, metadata } = await kv.getWithMetadata<{ seq: number }>(key, 'arrayBuffer')
  const { representations = {} } = value ? decodeEnvelope(value) : {}
  const text = Object.fromEntries(
    Object.entries(representations).map(([name, { bytes }]) => [name, new TextDecoder().decode(bytes)]),
  )
  return { text, names: Object.keys(text).sort(), seq: metadata?.seq }
}
const expiry = async (key: string) => (await kv.list({ prefix: key })).keys.find(({ name }) => name === key)?.expiration
const everyName = [...representationNames, 'profile'].sort()

describe('card:{id}', () => {
  it('contains every representation and the call profile', async () => {
    await put('whole', { card: minimalCard, upstream: { url: 'https://upstream.example/a2a', secret: 'UPSTREAM_KEY' } })
    const { names, text } = await readEntry('card:whole')
    expect(names).toEqual(everyName)
    expect(JSON.parse(text.profile ?? '')).toMatchObject({
      visibility: 'public',
      targets: [{ url: 'https://upstream.example/a2a' }],
      secret: 'UPSTREAM_KEY',
    })
  })

  it('is written again when only the profile changes', async () => {
    await put('rerouted', { card: minimalCard })
    expect(await put('rerouted', { card: minimalCard, route: 'closed' })).toMatchObject({ seq: 2, changed: true })
    expect(JSON.parse((await readEntry('card:rerouted')).text.profile ?? '')).toMatchObject({ route: 'closed' })
  })

  it('of an internal agent contains only the profile and never expires: the card is read from the Registry', async () => {
    await put('inner', { card: minimalCard, visibility: 'internal' })
    const { names, seq } = await readEntry('card:inner')
    expect([names, seq, await expiry('card:inner')]).toEqual([['profile'], 1, undefined])
    expect((await host.fetch('/agents/inner')).status).toBe(404)
    expect((await host.fetch('/agents/inner', { headers: bearer })).status).toBe(200)
  })

  it('of a public agent loses its card when the agent becomes internal', async () => {
    await put('hidden', { card: minimalCard })
    await put('hidden', { card: minimalCard, visibility: 'internal' })
    expect(await readEntry('card:hidden')).toMatchObject({ names: ['profile'], seq: 2 })
  })

  it('of a removed agent is empty and expires after a month', async () => {
    await put('removed-agent', { card: minimalCard, visibility: 'internal' })
    await host.fetch('/agents/removed-agent', { method: 'DELETE', headers: bearer })
    expect(await readEntry('card:removed-agent')).toMatchObject({ names: [], seq: 2 })
    expect((await expiry('card:removed-agent')) ?? 0).toBeGreaterThan(Date.now() / 1000 + 29 * 86_400)
  })
})

describe('the call profile', () => {
  it('cannot be requested by a client, listed among the entity tags, or named in a precondition', async () => {
    const { etags } = await put('private', { card: minimalCard, upstream: { secret: 'UPSTREAM_KEY' } })
    expect(etags).not.toHaveProperty('profile')
    for (const path of ['?dialect=profile', '?A2A-Version=profile', '/profile', '/.well-known/profile']) {
      const response = await host.fetch(`/agents/private${path}`, { headers: bearer })
      expect(await response.text()).not.toContain('UPSTREAM_KEY')
    }
    const value = await kv.get('card:private', 'arrayBuffer')
    const etag = (value && decodeEnvelope(value).representations.profile?.etag) ?? ''
    expect((await host.put('private', minimalCard, { 'If-Match': etag })).status).toBe(412)
  })
})

describe('extended:{id}:{tier}', () => {
  const skill = (id: string) => ({ id, name: id, description: `Does ${id}`, tags: ['x'] })
  const manifest = {
    card: minimalCard,
    extended: { skills: [skill('for-tokens')] },
    tiers: { silver: { skills: [skill('for-silver')] }, gold: { skills: [skill('for-gold')] } },
  }
  const overlaySkills = ['for-tokens', 'for-silver', 'for-gold']
  /** Returns which skills of the overlays each document of an entry contains. */
  const skillsIn = async (key: string) => {
    const { text } = await readEntry(key)
    return Object.values(text).map(document => overlaySkills.filter(skill => document.includes(skill)))
  }

  it.each([
    ['base', ['for-tokens']],
    ['silver', ['for-tokens', 'for-silver']],
    ['gold', ['for-tokens', 'for-gold']],
  ])('contains every representation of the card of tier %s, and nothing of another tier', async (tier, expected) => {
    await put('tiered', manifest)
    const key = `extended:tiered:${tier}`
    expect([(await readEntry(key)).names, new Set((await skillsIn(key)).map(String))]).toEqual([
      [...representationNames].sort(),
      new Set([String(expected)]),
    ])
  })

  it('is the only entry with the content of overlays: card:{id} and the lists have none', async () => {
    await put('tiered', manifest)
    expect((await skillsIn('card:tiered')).flat()).toEqual([])
    expect(JSON.parse((await readEntry('card:tiered')).text.profile ?? '')).toMatchObject({
      extendedAgentCard: true,
      tiers: ['base', 'silver', 'gold'],
    })
    const lists = await Promise.all(['/agents', '/agents/tiered'].map(async path => (await host.fetch(path)).text()))
    expect(overlaySkills.filter(skill => lists.join().includes(skill))).toEqual([])
  })

  it('exists for an internal agent too', async () => {
    await put('inner-tiers', { ...manifest, visibility: 'internal' })
    expect([(await readEntry('card:inner-tiers')).names, await skillsIn('extended:inner-tiers:gold')]).toEqual([
      ['profile'],
      representationNames.map(() => ['for-tokens', 'for-gold']),
    ])
  })

  it('of a removed tier is empty and expires after a month; the other tiers are written with the new seq', async () => {
    await put('fewer', manifest)
    const { tiers: _, ...rest } = manifest
    await put('fewer', { ...rest, tiers: { gold: {} } })
    expect(await readEntry('extended:fewer:silver')).toMatchObject({ names: [], seq: 2 })
    expect((await readEntry('extended:fewer:gold')).seq).toBe(2)
    expect((await expiry('extended:fewer:silver')) ?? 0).toBeGreaterThan(Date.now() / 1000 + 29 * 86_400)
  })

  it('of a removed agent is empty', async () => {
    await put('removed', manifest)
    await host.fetch('/agents/removed', { method: 'DELETE', headers: bearer })
    for (const tier of ['base', 'silver', 'gold'])
      expect(await readEntry(`extended:removed:${tier}`)).toMatchObject({ names: [], seq: 2 })
  })

  it('is not written again when the same manifest is registered', async () => {
    await put('same', manifest)
    expect(await put('same', manifest)).toMatchObject({ seq: 1, changed: false })
  })

  it('does not exist for an agent without overlays', async () => {
    await put('plain', { card: minimalCard })
    expect((await kv.list({ prefix: 'extended:plain:' })).keys).toEqual([])
  })
})

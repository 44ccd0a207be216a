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
/** What KV has under a key: the names of the documents, and their text. */
const stored = async (key: string) => {
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
  it('holds every representation, and the call profile beside them', async () => {
    await put('whole', { card: minimalCard, upstream: { url: 'https://upstream.example/a2a', secret: 'UPSTREAM_KEY' } })
    const { names, text } = await stored('card:whole')
    expect(names).toEqual(everyName)
    expect(JSON.parse(text.profile ?? '')).toMatchObject({
      visibility: 'public',
      targets: [{ url: 'https://upstream.example/a2a' }],
      secret: 'UPSTREAM_KEY',
    })
  })

  it('is written anew where only the profile changes', async () => {
    await put('rerouted', { card: minimalCard })
    expect(await put('rerouted', { card: minimalCard, route: 'closed' })).toMatchObject({ seq: 2, changed: true })
    expect(JSON.parse((await stored('card:rerouted')).text.profile ?? '')).toMatchObject({ route: 'closed' })
  })

  it('of an internal agent is its profile alone, for good: the card is with the Registry only', async () => {
    await put('inner', { card: minimalCard, visibility: 'internal' })
    const { names, seq } = await stored('card:inner')
    expect([names, seq, await expiry('card:inner')]).toEqual([['profile'], 1, undefined])
    expect((await host.fetch('/agents/inner')).status).toBe(404)
    expect((await host.fetch('/agents/inner', { headers: bearer })).status).toBe(200)
  })

  it('of a public agent that becomes internal loses its card', async () => {
    await put('hidden', { card: minimalCard })
    await put('hidden', { card: minimalCard, visibility: 'internal' })
    expect(await stored('card:hidden')).toMatchObject({ names: ['profile'], seq: 2 })
  })

  it('of an agent that is gone says so, for a month', async () => {
    await put('gone', { card: minimalCard, visibility: 'internal' })
    await host.fetch('/agents/gone', { method: 'DELETE', headers: bearer })
    expect(await stored('card:gone')).toMatchObject({ names: [], seq: 2 })
    expect((await expiry('card:gone')) ?? 0).toBeGreaterThan(Date.now() / 1000 + 29 * 86_400)
  })
})

describe('the call profile', () => {
  it('is nothing that a client can ask for, be told of, or name in a condition', async () => {
    const { etags } = await put('private', { card: minimalCard, upstream: { secret: 'UPSTREAM_KEY' } })
    expect(etags).not.toHaveProperty('profile')
    for (const ask of ['?dialect=profile', '?A2A-Version=profile', '/profile', '/.well-known/profile']) {
      const response = await host.fetch(`/agents/private${ask}`, { headers: bearer })
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
  const marks = ['for-tokens', 'for-silver', 'for-gold']
  const told = async (key: string) => {
    const { text } = await stored(key)
    return Object.values(text).map(document => marks.filter(mark => document.includes(mark)))
  }

  it.each([
    ['base', ['for-tokens']],
    ['silver', ['for-tokens', 'for-silver']],
    ['gold', ['for-tokens', 'for-gold']],
  ])('%s holds its own card in every representation, and nothing of another tier', async (tier, expected) => {
    await put('tiered', manifest)
    const key = `extended:tiered:${tier}`
    expect([(await stored(key)).names, new Set((await told(key)).map(String))]).toEqual([
      [...representationNames].sort(),
      new Set([String(expected)]),
    ])
  })

  it('is all that has what only overlays say: card:{id} has nothing of it, nor has any list', async () => {
    await put('tiered', manifest)
    expect((await told('card:tiered')).flat()).toEqual([])
    expect(JSON.parse((await stored('card:tiered')).text.profile ?? '')).toMatchObject({
      extendedAgentCard: true,
      tiers: ['base', 'silver', 'gold'],
    })
    const lists = await Promise.all(['/agents', '/agents/tiered'].map(async path => (await host.fetch(path)).text()))
    expect(marks.filter(mark => lists.join().includes(mark))).toEqual([])
  })

  it('of an internal agent is there too', async () => {
    await put('inner-tiers', { ...manifest, visibility: 'internal' })
    expect([(await stored('card:inner-tiers')).names, await told('extended:inner-tiers:gold')]).toEqual([
      ['profile'],
      representationNames.map(() => ['for-tokens', 'for-gold']),
    ])
  })

  it('of a tier that is taken away says so, with the new seq; the others are written with it too', async () => {
    await put('fewer', manifest)
    const { tiers: _, ...rest } = manifest
    await put('fewer', { ...rest, tiers: { gold: {} } })
    expect(await stored('extended:fewer:silver')).toMatchObject({ names: [], seq: 2 })
    expect((await stored('extended:fewer:gold')).seq).toBe(2)
    expect((await expiry('extended:fewer:silver')) ?? 0).toBeGreaterThan(Date.now() / 1000 + 29 * 86_400)
  })

  it('of an agent that is removed says so', async () => {
    await put('removed', manifest)
    await host.fetch('/agents/removed', { method: 'DELETE', headers: bearer })
    for (const tier of ['base', 'silver', 'gold'])
      expect(await stored(`extended:removed:${tier}`)).toMatchObject({ names: [], seq: 2 })
  })

  it('is nothing new where the same is registered again', async () => {
    await put('same', manifest)
    expect(await put('same', manifest)).toMatchObject({ seq: 1, changed: false })
  })

  it('is not there for an agent without overlays', async () => {
    await put('plain', { card: minimalCard })
    expect((await kv.list({ prefix: 'extended:plain:' })).keys).toEqual([])
  })
})

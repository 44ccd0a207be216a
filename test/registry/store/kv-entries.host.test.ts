import { beforeAll, describe, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import { decodeEnvelope } from '../../../src/registry/kv-format.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { sharedHost, token } from '../../support/host.ts'

const host = sharedHost()
let kv: KVNamespace
beforeAll(async () => {
  kv = (await host.env()).CARDS
})

const bearer = { Authorization: `Bearer ${token}` }
const put = async (id: string, document: object = {}) => {
  const response = await host.put(id, { card: minimalCard, ...document })
  expect(response.ok).toBe(true)
  return (await response.json()) as { seq: number; changed: boolean; etags: Record<string, string> }
}
const remove = (id: string) => host.fetch(`/agents/${id}`, { method: 'DELETE', headers: bearer })
/** Reads the entry of a key: the names of its documents, their texts, and its seq. */
const readEntry = async (key: string) => {
  const { value, metadata } = await kv.getWithMetadata<{ seq: number }>(key, 'arrayBuffer')
  const { representations = {} } = value ? decodeEnvelope(value) : {}
  const text = Object.fromEntries(
    Object.entries(representations).map(([name, { bytes }]) => [name, new TextDecoder().decode(bytes)]),
  )
  return { text, names: Object.keys(text).sort(), seq: metadata?.seq }
}
const _readProfile = async (id: string) => JSON.parse((await readEntry(`card:${id}`)).text.profile ?? '')
/** Returns the days until a key expires; undefined for never. */
const daysLeft = async (key: string) => {
  const expiration = (await kv.list({ prefix: key })).keys.find(({ name }) => name === key)?.expiration
  return expiration && Math.round((expiration - Date.now() / 1000) / 86_400)
}

describe('card:{id}', () => {
  it('of an internal agent contains only the profile and never expires: the card is read from the Registry', async () => {
    await put('kv-inner')
    await put('kv-inner', { visibility: 'internal' })
    expect(await readEntry('card:kv-inner')).toMatchObject({ names: ['profile'], seq: 2 })
    expect(await daysLeft('card:kv-inner')).toBeUndefined()
    expect((await host.fetch('/agents/kv-inner')).status).toBe(404)
    expect((await host.fetch('/agents/kv-inner', { headers: bearer })).status).toBe(200)
  })
})

describe('the call profile', () => {
  it('cannot be requested by a client, listed among the entity tags, or named in a precondition', async () => {
    const { etags } = await put('kv-private', { upstream: { secret: 'UPSTREAM_KEY' } })
    expect(etags).not.toHaveProperty('profile')
    for (const path of ['?dialect=profile', '?A2A-Version=profile', '/profile', '/.well-known/profile']) {
      const response = await host.fetch(`/agents/kv-private${path}`, { headers: bearer })
      expect(await response.text()).not.toContain('UPSTREAM_KEY')
    }
    const value = await kv.get('card:kv-private', 'arrayBuffer')
    const etag = (value && decodeEnvelope(value).representations.profile?.etag) ?? ''
    expect(etag).not.toBe('')
    expect((await host.put('kv-private', minimalCard, { 'If-Match': etag })).status).toBe(412)
  })
})

describe('extended:{id}:{tier}', () => {
  it('of a removed tier or agent is empty and expires after a month; the other tiers have the new seq', async () => {
    const extended = { description: 'for-tokens' }
    await put('kv-fewer', { extended, tiers: { silver: { description: 'for-silver' }, gold: {} } })
    const { text, names } = await readEntry('extended:kv-fewer:silver')
    expect([names, Object.values(text).filter(document => !document.includes('for-silver'))]).toEqual([
      [...representationNames].sort(),
      [],
    ])
    await put('kv-fewer', { extended, tiers: { gold: {} } })
    expect(await readEntry('extended:kv-fewer:silver')).toMatchObject({ names: [], seq: 2 })
    expect(await daysLeft('extended:kv-fewer:silver')).toBe(30)
    expect(await readEntry('extended:kv-fewer:gold')).toMatchObject({ names: [...representationNames].sort(), seq: 2 })
    await remove('kv-fewer')
    for (const tier of ['base', 'gold'])
      expect(await readEntry(`extended:kv-fewer:${tier}`), tier).toMatchObject({ names: [], seq: 3 })
  })
})

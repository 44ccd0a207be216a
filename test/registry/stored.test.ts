import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../src/card/json.ts'
import { representationNames } from '../../src/card/representations.ts'
import { decodeEnvelope } from '../../src/registry/envelope.ts'
import { minimalCard } from '../cards.ts'
import { type Host, startHost, token } from '../host.ts'

let host: Host
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

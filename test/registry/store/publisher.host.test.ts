import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost({}, { faults: true })
})
afterAll(() => host.close())

/** The methods of the faulty Registry in support/workers/faults.ts. */
type FaultyRegistry = {
  fail: (times: number) => Promise<void>
  writes: () => Promise<string[]>
  retry: () => Promise<void>
  purged: () => Promise<string[]>
  maxConcurrentWrites: () => Promise<number>
}
const registry = async () => (await host.env()).REGISTRY.getByName('default') as unknown as FaultyRegistry
const parseReceipt = async (response: Response) =>
  (await response.json()) as { seq: number; published: boolean; changed: boolean }
const readCardEntry = async (id: string) => (await host.env()).CARDS.getWithMetadata<{ seq: number }>(`card:${id}`)

describe('a failed write to KV', () => {
  it('is reported in the response and retried, while the card is stored and served where it was registered', async () => {
    // The registration fails, and so do the first two alarms: recovery takes more than one retry.
    await (await registry()).fail(4)
    const response = await host.put('heals', { card: minimalCard, hosts: ['heals.example.com'] })
    expect([response.status, await parseReceipt(response)]).toMatchObject([201, { seq: 1, published: false }])
    expect((await host.fetch('/agents/heals')).status).toBe(200)
    await vi.waitFor(async () => expect((await readCardEntry('heals')).metadata).toMatchObject({ seq: 1 }), 15_000)
    await vi.waitFor(
      async () => expect(await (await host.env()).CARDS.get('host:heals.example.com')).toBe('heals'),
      15_000,
    )
  })

  it('of an extended card is retried too', async () => {
    const put = (extended: Json) => host.put('extended', { card: minimalCard, extended })
    await put({ name: 'One' })
    // Once for each of the two keys of the agent.
    await (await registry()).fail(2)
    expect(await parseReceipt(await put({ name: 'Two' }))).toMatchObject({ seq: 2, published: false })
    const key = 'extended:extended:base'
    await vi.waitFor(async () => {
      const { value, metadata } = await (await host.env()).CARDS.getWithMetadata<{ seq: number }>(key)
      expect([metadata, value]).toEqual([{ seq: 2 }, expect.stringContaining('"Two"')])
    }, 15_000)
  })

  it('is retried with the newest revision, never with an older one', async () => {
    await host.put('newest', minimalCard)
    await (await registry()).fail(1)
    expect(await parseReceipt(await host.put('newest', { ...minimalCard, name: 'Two' }))).toMatchObject({
      published: false,
    })
    expect(await parseReceipt(await host.put('newest', { ...minimalCard, name: 'Three' }))).toMatchObject({
      seq: 3,
      published: true,
    })
    await (await registry()).retry()
    expect((await readCardEntry('newest')).metadata).toMatchObject({ seq: 3 })
  })

  it('is retried when the same manifest is registered again', async () => {
    await (await registry()).fail(1)
    await host.put('again', minimalCard)
    expect(await parseReceipt(await host.put('again', minimalCard))).toMatchObject({
      seq: 1,
      changed: false,
      published: true,
    })
  })

  it('does not bring back an agent that has been deleted since', async () => {
    await host.put('deleted', minimalCard)
    await (await registry()).fail(1)
    await host.fetch('/agents/deleted', { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
    expect((await host.fetch('/agents/deleted')).status).toBe(404)
    await (await registry()).retry()
    expect(await readCardEntry('deleted')).toMatchObject({
      value: expect.not.stringContaining('My Agent'),
      metadata: { seq: 2 },
    })
  })
})

describe('publication', () => {
  /** Returns the keys that a registration writes. */
  const writesOf = async (register: () => Promise<unknown>) => {
    const before = (await (await registry()).writes()).length
    await register()
    return (await (await registry()).writes()).slice(before)
  }

  it('writes nothing for a registration that changes nothing', async () => {
    await host.put('quiet', minimalCard)
    expect(await writesOf(() => host.put('quiet', minimalCard))).toEqual([])
  })

  it('writes a host name only when its owner changes', async () => {
    await host.put('hosted', { card: minimalCard, hosts: ['one.example.com', 'two.example.com'] })
    const card = { ...minimalCard, name: 'Renamed' }
    const written = await writesOf(() => host.put('hosted', { card, hosts: ['one.example.com', 'three.example.com'] }))
    expect(written.toSorted()).toEqual(['card:hosted', 'host:three.example.com', 'host:two.example.com'])
  })

  it('never writes one key twice at the same time', async () => {
    await host.put('serial', minimalCard)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => host.put('serial', { ...minimalCard, name: `${index}` })),
    )
    expect(await (await registry()).maxConcurrentWrites()).toBe(1)
  })

  it('ends with the newest of many concurrent writes', async () => {
    await host.put('busy', minimalCard)
    const names = Array.from({ length: 20 }, (_, index) => `Name ${index}`)
    await Promise.all(names.map(name => host.put('busy', { ...minimalCard, name })))
    const { value, metadata } = await readCardEntry('busy')
    const card = await (await host.fetch('/agents/busy')).json()
    expect(metadata).toMatchObject({ seq: 21 })
    expect(value).toContain(JSON.stringify((card as { name: string }).name))
  })
})

describe('the cache of agent lists', () => {
  it('is purged by its tag after every write', async () => {
    const purges = async () => (await (await registry()).purged()).filter(tag => tag === 'agents').length
    const before = await purges()
    await host.put('purged', minimalCard)
    await vi.waitFor(async () => expect(await purges()).toBe(before + 1))
    await host.fetch('/agents/purged', { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
    await vi.waitFor(async () => expect(await purges()).toBe(before + 2))
  })
})

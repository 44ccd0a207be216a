import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost({}, { faults: true })
})
afterAll(() => host.close())

type Faulty = {
  fail: (times: number) => Promise<void>
  writes: () => Promise<string[]>
  retry: () => Promise<void>
  purged: () => Promise<string[]>
  mostAtOnce: () => Promise<number>
}
const registry = async () => (await host.env()).REGISTRY.getByName('default') as unknown as Faulty
const receipt = async (response: Response) =>
  (await response.json()) as { seq: number; published: boolean; changed: boolean }
const stored = async (id: string) => (await host.env()).CARDS.getWithMetadata<{ seq: number }>(`card:${id}`)

describe('a KV that does not take a write', () => {
  it('makes the answer say so; the card is kept, served where it was written, and published by itself', async () => {
    // The registration fails, and the first two alarms: healing takes more than one retry.
    await (await registry()).fail(4)
    const response = await host.put('heals', { card: minimalCard, hosts: ['heals.example.com'] })
    expect([response.status, await receipt(response)]).toMatchObject([201, { seq: 1, published: false }])
    expect((await host.fetch('/agents/heals')).status).toBe(200)
    await vi.waitFor(async () => expect((await stored('heals')).metadata).toMatchObject({ seq: 1 }), 15_000)
    await vi.waitFor(
      async () => expect(await (await host.env()).CARDS.get('host:heals.example.com')).toBe('heals'),
      15_000,
    )
  })

  it('heals an extended card by itself too', async () => {
    const put = (extended: Json) => host.put('extended', { card: minimalCard, extended })
    await put({ name: 'One' })
    // Both keys of the agent, each once.
    await (await registry()).fail(2)
    expect(await receipt(await put({ name: 'Two' }))).toMatchObject({ seq: 2, published: false })
    const key = 'extended:extended:base'
    await vi.waitFor(async () => {
      const { value, metadata } = await (await host.env()).CARDS.getWithMetadata<{ seq: number }>(key)
      expect([metadata, value]).toEqual([{ seq: 2 }, expect.stringContaining('"Two"')])
    }, 15_000)
  })

  it('never makes an older revision replace a newer one: what is published late is the newest', async () => {
    await host.put('newest', minimalCard)
    await (await registry()).fail(1)
    expect(await receipt(await host.put('newest', { ...minimalCard, name: 'Two' }))).toMatchObject({ published: false })
    expect(await receipt(await host.put('newest', { ...minimalCard, name: 'Three' }))).toMatchObject({
      seq: 3,
      published: true,
    })
    await (await registry()).retry()
    expect((await stored('newest')).metadata).toMatchObject({ seq: 3 })
  })

  it('tries again when the same is registered once more', async () => {
    await (await registry()).fail(1)
    await host.put('again', minimalCard)
    expect(await receipt(await host.put('again', minimalCard))).toMatchObject({
      seq: 1,
      changed: false,
      published: true,
    })
  })

  it('does not bring back what was deleted meanwhile', async () => {
    await host.put('deleted', minimalCard)
    await (await registry()).fail(1)
    await host.fetch('/agents/deleted', { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
    expect((await host.fetch('/agents/deleted')).status).toBe(404)
    await (await registry()).retry()
    expect(await stored('deleted')).toMatchObject({
      value: expect.not.stringContaining('My Agent'),
      metadata: { seq: 2 },
    })
  })
})

describe('publication', () => {
  /** Returns the keys that a registration writes. What changed lately is written by an alarm, at any time. */
  const writesOf = async (registering: () => Promise<unknown>) => {
    const before = (await (await registry()).writes()).length
    await registering()
    const after = await (await registry()).writes()
    return after.slice(before).filter(key => key !== 'changes:agents')
  }

  it('writes nothing for a registration that changes nothing', async () => {
    await host.put('quiet', minimalCard)
    expect(await writesOf(() => host.put('quiet', minimalCard))).toEqual([])
  })

  it('writes a host name only when its holder changes', async () => {
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
    expect(await (await registry()).mostAtOnce()).toBe(1)
  })

  it('ends on the newest of many writes at once', async () => {
    await host.put('busy', minimalCard)
    const names = Array.from({ length: 20 }, (_, index) => `Name ${index}`)
    await Promise.all(names.map(name => host.put('busy', { ...minimalCard, name })))
    const { value, metadata } = await stored('busy')
    const card = await (await host.fetch('/agents/busy')).json()
    expect(metadata).toMatchObject({ seq: 21 })
    expect(value).toContain(JSON.stringify((card as { name: string }).name))
  })
})

describe('the cache in front of lists', () => {
  it('is purged by its tag with every write', async () => {
    const purges = async () => (await (await registry()).purged()).filter(tag => tag === 'agents').length
    const before = await purges()
    await host.put('purged', minimalCard)
    await vi.waitFor(async () => expect(await purges()).toBe(before + 1))
    await host.fetch('/agents/purged', { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
    await vi.waitFor(async () => expect(await purges()).toBe(before + 2))
  })
})

import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { minimalCard } from '../../support/cards/cards.ts'
import { sharedHost, token } from '../../support/host.ts'

/** The methods of the faulty Registry in support/workers/faults.ts. */
type FaultyRegistry = {
  fail: (times: number) => Promise<void>
  writes: () => Promise<string[]>
  retry: () => Promise<void>
  purged: () => Promise<string[]>
  maxConcurrentWrites: () => Promise<number>
}
const host = sharedHost('faults')
let registry: FaultyRegistry
let kv: KVNamespace
beforeAll(async () => {
  const env = await host.env()
  registry = env.REGISTRY.getByName('default') as unknown as FaultyRegistry
  kv = env.CARDS
})
beforeEach(() => registry.fail(0))

/** Registers an agent while so many of the next writes to KV fail. */
const put = async (id: string, document: object = {}, failures = 0) => {
  if (failures > 0) await registry.fail(failures)
  const response = await host.put(id, { card: minimalCard, ...document })
  return (await response.json()) as { seq: number; published: boolean; changed: boolean }
}
const named = (name: string) => ({ card: { ...minimalCard, name } })
const remove = (id: string) =>
  host.fetch(`/agents/${id}`, { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
const readEntry = (key: string) => kv.getWithMetadata<{ seq: number }>(key)

describe('a failed write to KV', () => {
  it('is reported in the response, and retried by the alarm, while the card is served where it was registered', async () => {
    expect(await put('heals', { hosts: ['heals.example.com'] }, 2)).toMatchObject({ seq: 1, published: false })
    expect((await host.fetch('/agents/heals')).status).toBe(200)
    await vi.waitFor(async () => {
      expect((await readEntry('card:heals')).metadata).toMatchObject({ seq: 1 })
      expect((await readEntry('host:heals.example.com')).value).toBe('heals')
    }, 15_000)
  })

  it('is retried when the same manifest is registered again', async () => {
    expect(await put('again', {}, 1)).toMatchObject({ published: false })
    expect(await put('again')).toMatchObject({ seq: 1, changed: false, published: true })
  })

  it('does not bring back an agent that has been deleted since', async () => {
    await put('deleted')
    await registry.fail(1)
    await remove('deleted')
    expect((await host.fetch('/agents/deleted')).status).toBe(404)
    await registry.retry()
    const { value, metadata } = await readEntry('card:deleted')
    expect([value?.includes('My Agent'), metadata]).toMatchObject([false, { seq: 2 }])
  })
})

describe('publication', () => {
  /** Returns the keys that a registration writes. */
  const writesOf = async (register: () => Promise<unknown>) => {
    const before = (await registry.writes()).length
    await register()
    return (await registry.writes()).slice(before).toSorted()
  }

  it('writes nothing for a registration that changes nothing, and a host name only when its owner changes', async () => {
    const hosts = ['one.faults.example', 'two.faults.example']
    await put('hosted', { hosts })
    expect(await writesOf(() => put('hosted', { hosts }))).toEqual([])
    const changed = { ...named('Renamed'), hosts: ['one.faults.example', 'three.faults.example'] }
    expect(await writesOf(() => put('hosted', changed))).toEqual([
      ...['card:hosted', 'host:three.faults.example', 'host:two.faults.example'],
    ])
  })

  it('ends with the newest of many concurrent writes, and never writes one key twice at the same time', async () => {
    await put('busy')
    await Promise.all(Array.from({ length: 20 }, (_, index) => put('busy', named(`Name ${index}`))))
    expect(await registry.maxConcurrentWrites()).toBe(1)
    const { value, metadata } = await readEntry('card:busy')
    const { name } = (await (await host.fetch('/agents/busy')).json()) as { name: string }
    expect(metadata).toMatchObject({ seq: 21 })
    expect(value).toContain(JSON.stringify(name))
  })
})

describe('the cache of agent lists', () => {
  it('is purged by its tag after every write', async () => {
    const purges = async () => (await registry.purged()).filter(tag => tag === 'agents').length
    const before = await purges()
    await put('purged')
    await vi.waitFor(async () => expect(await purges()).toBe(before + 1))
    await remove('purged')
    await vi.waitFor(async () => expect(await purges()).toBe(before + 2))
  })
})

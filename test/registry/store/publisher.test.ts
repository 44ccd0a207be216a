import { beforeEach, expect, it, vi } from 'vitest'
import { Catalog } from '../../../src/api/catalogs/start.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../../support/node-host.ts'
import { token } from '../../support/runtime.ts'

let host: NodeHost
/** The keys that were written to KV, how many of the next writes fail, and the most writes at the same time. */
let kv: { writes: string[]; failures: number; current: number; max: number }
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.spyOn(console, 'error').mockReturnValue()
  host = await startNodeHost()
  kv = { writes: [], failures: 0, current: 0, max: 0 }
  const write = host.env.CARDS.put.bind(host.env.CARDS) as (...args: unknown[]) => Promise<void>
  const put = async (key: string, ...rest: unknown[]) => {
    kv.writes.push(key)
    if (kv.failures-- > 0) throw new Error('KV failed')
    kv.max = Math.max(kv.max, ++kv.current)
    await new Promise(resolve => setImmediate(resolve))
    await write(key, ...rest)
    kv.current--
  }
  Object.assign(host.env.CARDS, { put })
})
const named = (name: string) => ({ card: { ...minimalCard, name } })

it('reports a failed write to KV, and serves the card where it was registered until it is published', async () => {
  kv.failures = 2
  const manifest = { card: minimalCard, hosts: ['heals.example.com'] }
  expect(await host.put('heals', manifest)).toMatchObject({ seq: 1, published: false })
  expect((await host.fetch('/agents/heals')).status).toBe(200)
  vi.setSystemTime(Date.now() + 2000)
  await host.ringAlarm()
  expect((await host.env.CARDS.getWithMetadata('card:heals')).metadata).toMatchObject({ seq: 1 })
  expect((await host.env.CARDS.getWithMetadata('host:heals.example.com')).value).toBe('heals')
})

it('writes nothing for a registration that changes nothing, and a host name only when its owner changes', async () => {
  const hosts = ['one.example.com', 'two.example.com']
  await host.put('hosted', { ...named('First'), hosts })
  kv.writes = []
  await host.put('hosted', { ...named('First'), hosts })
  expect(kv.writes).toEqual([])
  await host.put('hosted', { ...named('Renamed'), hosts: ['one.example.com', 'three.example.com'] })
  expect(kv.writes.toSorted()).toEqual(['card:hosted', 'host:three.example.com', 'host:two.example.com'])
})

it('ends with the newest of many concurrent writes, and never writes one key twice at the same time', async () => {
  await host.put('busy', named('First'))
  kv.max = 0
  await Promise.all(Array.from({ length: 20 }, (_, index) => host.put('busy', named(`Name ${index}`))))
  const { value, metadata } = await host.env.CARDS.getWithMetadata('card:busy')
  const { name } = (await (await host.fetch('/agents/busy')).json()) as { name: string }
  expect([kv.max, metadata]).toMatchObject([1, { seq: 21 }])
  expect(Buffer.from(value as never).toString()).toContain(JSON.stringify(name))
})

it('purges the cached lists after every write', async () => {
  const purge = vi.spyOn(Catalog.prototype, 'purge')
  await host.put('purged', minimalCard)
  expect(purge).toHaveBeenCalledTimes(1)
  await host.fetch('/agents/purged', { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
  expect(purge).toHaveBeenCalledTimes(2)
})

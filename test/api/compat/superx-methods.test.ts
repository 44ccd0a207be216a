import { beforeEach, describe, expect, it } from 'vitest'
import { readCard } from '../../../src/api/cards.ts'
import { listAgents } from '../../../src/api/compat/superx-methods.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { cardKey, encodeEnvelope } from '../../../src/registry/kv-format.ts'

const MiB = 1024 * 1024

/** The values of KV; how many are read at once and in all; and the refreshes that were requested. */
const values = new Map<string, Uint8Array<ArrayBuffer>>()
let reads: { now: number; max: number; all: number }
let refreshes: string[]
/** The ids of one test's agents begin with this, so that no other test has them in memory. */
let prefix = 0
beforeEach(() => {
  values.clear()
  reads = { now: 0, max: 0, all: 0 }
  refreshes = []
  prefix++
})

const env = {
  CARDS: {
    get: async (key: string) => {
      reads.all++
      reads.max = Math.max(reads.max, ++reads.now)
      await new Promise(resolve => setImmediate(resolve))
      reads.now--
      return values.get(key)?.buffer ?? null
    },
  },
  REMOTE_CARDS: {
    getByName: (id: string) => ({
      refresh: async () => {
        refreshes.push(id)
        return { result: { outcome: 'unchanged' } }
      },
    }),
  },
} as unknown as Env

const idOf = (index: number): string => `page${prefix}-${index}`

/** Stores remote cards of some sizes, fetched so many seconds ago. Returns their ids. */
const storeCards = (sizes: readonly number[], age = 0): string[] =>
  sizes.map((size, index) => {
    const text = JSON.stringify({ name: idOf(index), pad: '' })
    const bytes = new TextEncoder().encode(text.replace('""', `"${'x'.repeat(Math.max(0, size - text.length))}"`))
    const source = { checked: Date.now() - age * 1000, ttl: 30, staleIfError: 3600 }
    const representations = { superx: { etag: '"e"', bytes: new Uint8Array(bytes) } }
    values.set(cardKey(idOf(index)), encodeEnvelope({ seq: 1, modified: '', representations, source }))
    return idOf(index)
  })

const listCards = async (ids: readonly string[]) => {
  const agents = ids.map(id => ({ id }))
  const { result } = (await listAgents({ includeCard: true }, contextOf(agents))) as { result: JsonObject }
  const listed = result.agents as JsonObject[]
  return { count: listed.length, hasCards: listed.every(({ card }) => card !== null), cursor: result.cursor }
}
const contextOf = (agents: object[] = []) => {
  const Catalog = () => ({ fetch: async () => Response.json({ agents, cursor: 'the-last' }) })
  const ctx = { waitUntil: () => undefined, exports: { Catalog } } as unknown as ExecutionContext
  const caller = { authenticated: false, reason: 'anonymous' } as const
  return { caller, request: new Request('https://host.example/rpc'), env, ctx }
}

describe('agents/list with includeCard', () => {
  it.each([
    ['4 MiB', [MiB, 2 * MiB, MiB], 3],
    ['as many as fit', [MiB, MiB, MiB, MiB, MiB, 9], 4],
    ['none after one that does not fit', [MiB, 4 * MiB, 9], 1],
    ['at least one', [5 * MiB, 9], 1],
  ])('returns %s of cards, and a cursor for the rest', async (_, sizes, count) => {
    const ids = storeCards(sizes)
    const cursor = count === sizes.length ? 'the-last' : idOf(count - 1)
    expect(await listCards(ids)).toEqual({ count, hasCards: true, cursor })
  })

  it('reads four cards at a time, and no more once one does not fit', async () => {
    await listCards(storeCards(Array.from({ length: 13 }, () => MiB)))
    expect([reads.max, reads.all]).toEqual([4, 8])
  })

  it('returns null for a card that is unavailable', async () => {
    expect(await listCards([...storeCards([9]), 'nobody'])).toEqual({ count: 2, hasCards: false, cursor: 'the-last' })
  })

  it('refreshes no remote card, however old', async () => {
    const ids = storeCards([9, 9], 3600)
    expect((await listCards(ids)).hasCards).toBe(true)
    expect(refreshes).toEqual([])
    await readCard(idOf(0), 'superx', contextOf())
    expect(refreshes).toEqual([idOf(0)])
  })
})

import { beforeEach, describe, expect, it, vi } from 'vitest'
import { loadCard } from '../../../src/api/card-endpoints.ts'
import { getAgent, listAgents } from '../../../src/api/compat/superx.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { encodeEnvelope, keyOf } from '../../../src/registry/kv-format.ts'
import { profileWith } from '../../support/calls.ts'

const MiB = 1024 * 1024

/** The values of KV, the number of reads (current, maximal and total), and the ids of the refreshed agents. */
const values = new Map<string, Uint8Array<ArrayBuffer>>()
let reads: { current: number; max: number; total: number }
let refreshes: string[]
/** Ids begin with the number of their test, so that no other test has them in the cache. */
let prefix = 0
beforeEach(() => {
  values.clear()
  reads = { current: 0, max: 0, total: 0 }
  refreshes = []
  prefix++
})

const env = {
  CARDS: {
    getWithMetadata: async (key: string) => {
      reads.total++
      reads.max = Math.max(reads.max, ++reads.current)
      await new Promise(resolve => setImmediate(resolve))
      reads.current--
      return { value: values.get(key)?.buffer ?? null, metadata: { seq: 1 } }
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

const makeId = (index: number): string => `page${prefix}-${index}`

/** Stores remote cards of the given sizes, fetched `age` seconds ago, and returns their ids. */
const storeCards = (sizes: readonly number[], age = 0): string[] =>
  sizes.map((size, index) => {
    const text = JSON.stringify({ name: makeId(index), pad: '' })
    const bytes = new TextEncoder().encode(text.replace('""', `"${'x'.repeat(Math.max(0, size - text.length))}"`))
    const source = { checked: Date.now() - age * 1000, ttl: 30, staleIfError: 3600 }
    const representations = { superx: { etag: '"e"', bytes: new Uint8Array(bytes) } }
    values.set(keyOf('card', makeId(index)), encodeEnvelope({ seq: 1, modified: '', representations, source }))
    return makeId(index)
  })

const listCards = async (ids: readonly string[]) => {
  const agents = ids.map(id => ({ id }))
  const { result } = (await listAgents({ includeCard: true }, makeContext(agents))) as { result: JsonObject }
  const listed = result.agents as JsonObject[]
  return { count: listed.length, hasCards: listed.every(({ card }) => card !== null), cursor: result.cursor }
}
const makeContext = (agents: object[] = []) => {
  const Catalog = () => ({ fetch: async () => Response.json({ agents, cursor: 'the-last' }) })
  const ctx = { waitUntil: () => undefined, exports: { Catalog } } as unknown as ExecutionContext
  const caller = { authenticated: false, reason: 'anonymous' } as const
  return { caller, request: new Request('https://host.example/rpc'), env, ctx }
}

describe('agents/list with includeCard', () => {
  it.each([
    ['cards up to 4 MiB', [MiB, 2 * MiB, MiB], 3],
    ['as many cards as fit', [MiB, MiB, MiB, MiB, MiB, 9], 4],
    ['no card after one that does not fit', [MiB, 4 * MiB, 9], 1],
    ['at least one card', [5 * MiB, 9], 1],
  ])('returns %s, with a cursor for the rest', async (_, sizes, count) => {
    const ids = storeCards(sizes)
    const cursor = count === sizes.length ? 'the-last' : makeId(count - 1)
    expect(await listCards(ids)).toEqual({ count, hasCards: true, cursor })
  })

  it('reads four cards at a time, and stops at one that does not fit', async () => {
    await listCards(storeCards(Array.from({ length: 13 }, () => MiB)))
    expect([reads.max, reads.total]).toEqual([4, 8])
  })

  it('refreshes no remote card, regardless of its age', async () => {
    const ids = storeCards([9, 9], 3600)
    expect((await listCards(ids)).hasCards).toBe(true)
    expect(refreshes).toEqual([])
    await loadCard(makeId(0), 'superx', makeContext())
    expect(refreshes).toEqual([makeId(0)])
  })
})

describe('agents/get', () => {
  it('finds no agent by a name of more than 200 characters, without looking it up', async () => {
    for (const named of ['a'.repeat(201), '\u0301\u0316'.repeat(256 * 1024)])
      expect(await getAgent({ id: named }, makeContext())).toEqual({ error: { kind: 'unknown-agent', agent: named } })
  })

  it('reports that KV is unavailable as the state of this host, not of the upstream', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const bytes = new Uint8Array(new TextEncoder().encode(JSON.stringify(profileWith())))
    const profile = encodeEnvelope({ seq: 1, modified: '', representations: { profile: { etag: '"p"', bytes } } })
    const found = { value: profile.buffer, metadata: { seq: 1 } }
    const get = vi.fn().mockResolvedValueOnce(found).mockRejectedValueOnce(new Error('KV GET failed: 503'))
    const REGISTRY = { getByName: () => ({ namedAgents: async (id: string) => ({ public: id, internal: [] }) }) }
    const context = { ...makeContext(), env: { CARDS: { getWithMetadata: get }, REGISTRY } as unknown as Env }
    expect(await getAgent({ id: makeId(0) }, context)).toMatchObject({
      agent: makeId(0),
      error: { code: 'unavailable' },
    })
  })
})

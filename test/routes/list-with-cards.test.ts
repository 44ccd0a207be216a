import { beforeEach, describe, expect, it, vi } from 'vitest'
import { readCard } from '../../src/api/cards.ts'
import { listForSuperx } from '../../src/api/compat/superx-methods.ts'
import type { Handler } from '../../src/http/handler.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { encodeEnvelope } from '../../src/registry/kv-format.ts'

const MiB = 1024 * 1024
/** Tests of one process share the cache of cards, so each has agents of its own. */
let test = 0
let underWay: number
let most: number
let read: number
let refresh: ReturnType<typeof vi.fn>
let stored: Map<string, Uint8Array<ArrayBuffer>>
let env: Env
beforeEach(() => {
  test++
  underWay = 0
  most = 0
  read = 0
  refresh = vi.fn(async () => ({ result: { outcome: 'unchanged' } }))
  stored = new Map()
  const get = async (key: string) => {
    read++
    most = Math.max(most, ++underWay)
    await new Promise(resolve => setImmediate(resolve))
    underWay--
    return stored.get(key)?.buffer ?? null
  }
  env = { CARDS: { get }, REMOTE_CARDS: { getByName: () => ({ refresh }) } } as unknown as Env
})

const agent = (index: number): string => `listed-${test}-${index}`

/** Stores agents whose cards are so long, which were fetched so many seconds ago. */
const store = (lengths: readonly number[], age = 0) => {
  for (const [index, length] of lengths.entries()) {
    const text = JSON.stringify({ name: agent(index), pad: '' })
    const padded = text.replace('""', `"${'x'.repeat(Math.max(0, length - text.length))}"`)
    const superx = { etag: '"e"', bytes: new Uint8Array(new TextEncoder().encode(padded)) }
    const source = { checked: Date.now() - age * 1000, ttl: 30, staleIfError: 3600 }
    stored.set(`card:${agent(index)}`, encodeEnvelope({ seq: 1, modified: '', representations: { superx }, source }))
  }
}
const ctx = {
  waitUntil: () => undefined,
  exports: {
    Catalog: () => ({
      fetch: async () => {
        const agents = [...stored.keys()].map(key => ({ id: key.slice('card:'.length) }))
        return Response.json({ agents, cursor: 'the-last' })
      },
    }),
  },
} as unknown as ExecutionContext
const request = new Request('https://host.example/rpc') as unknown as Parameters<Handler>[0]
const list = async () => {
  const came = await listForSuperx(
    { includeCard: true },
    { authenticated: false, reason: 'anonymous' },
    request,
    env,
    ctx,
  )
  const { agents, cursor } = (came as { result: { agents: JsonObject[]; cursor?: string } }).result
  return { ids: agents.map(({ id }) => id), hasCards: agents.every(({ card }) => card !== null), cursor }
}

describe('agents/list with includeCard', () => {
  it.each([
    ['4 MiB', [MiB, 2 * MiB, MiB], 3],
    ['as many as fit', [MiB, MiB, MiB, MiB, MiB, 9], 4],
    ['no more after one that does not fit', [MiB, 4 * MiB, 9], 1],
    ['one at the least', [5 * MiB, 9], 1],
  ])('holds %s of cards, and says where the rest begins', async (_, lengths, count) => {
    store(lengths)
    const ids = Array.from({ length: count }, (_, index) => agent(index))
    const cursor = count === lengths.length ? 'the-last' : ids.at(-1)
    expect(await list()).toEqual({ ids, hasCards: true, cursor })
  })

  it('reads four at a time, and not the next four once one has no room', async () => {
    store(Array.from({ length: 13 }, () => MiB))
    await list()
    expect([most, read]).toEqual([4, 8])
  })

  it('has no card read from its source again, however old', async () => {
    store([9, 9], 3600)
    expect((await list()).hasCards).toBe(true)
    expect(refresh).not.toHaveBeenCalled()
    await readCard(agent(0), 'superx', { request, env, ctx })
    expect(refresh).toHaveBeenCalledOnce()
  })
})

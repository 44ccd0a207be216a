import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { readCard } from '../../src/api/cards.ts'
import { listForSuperx } from '../../src/api/compat/superx-methods.ts'
import type { Handler } from '../../src/http/handler.ts'
import type { JsonObject } from '../../src/json/json.ts'
import type { RemoteDocument } from '../../src/registry/edge/cards.ts'
import { revalidate } from '../../src/sources/revalidate.ts'

const MiB = 1024 * 1024
/** What is held of each agent, by its id. */
const held = vi.hoisted(() => new Map<string, unknown>())
vi.mock('../../src/sources/revalidate.ts')
vi.mock('../../src/registry/edge/cards.ts', async importOriginal => ({
  ...(await importOriginal<object>()),
  getCachedDocument: () => undefined,
  readDocument: async (id: string) => {
    underWay.push(id)
    read++
    await new Promise(resolve => setImmediate(resolve))
    most = Math.max(most, underWay.length)
    underWay.splice(underWay.indexOf(id), 1)
    return held.get(id) ?? null
  },
}))

afterAll(() => {
  vi.doUnmock('../../src/sources/refresh-stale.ts')
  vi.doUnmock('../../src/registry/edge.ts')
})

let underWay: string[]
let most: number
let read: number
beforeEach(() => {
  vi.clearAllMocks()
  held.clear()
  underWay = []
  most = 0
  read = 0
})

/** Agents whose cards are so long, which came from their sources so many seconds ago. */
const keep = (lengths: readonly number[], age = 0) => {
  for (const [index, length] of lengths.entries()) {
    const text = JSON.stringify({ name: `agent-${index}`, pad: '' })
    const padded = text.replace('""', `"${'x'.repeat(Math.max(0, length - text.length))}"`)
    const body = new Uint8Array(new TextEncoder().encode(padded))
    const source = { checked: Date.now() - age * 1000, ttl: 30, staleIfError: 3600 }
    held.set(`agent-${index}`, { etag: '"e"', modified: '', body, source } satisfies RemoteDocument)
  }
}
const ctx = {
  exports: {
    Catalog: () => ({
      fetch: async () => Response.json({ agents: [...held.keys()].map(id => ({ id })), cursor: 'the-last' }),
    }),
  },
} as unknown as ExecutionContext
const asking = [new Request('https://host.example/rpc'), {} as Env, ctx] as unknown as Parameters<Handler>
const list = async () => {
  const came = await listForSuperx({ includeCard: true }, { authenticated: false, reason: 'anonymous' }, ...asking)
  const { agents, cursor } = (came as { result: { agents: JsonObject[]; cursor?: string } }).result
  return { ids: agents.map(({ id }) => id), hasCards: agents.every(({ card }) => card !== null), cursor }
}

describe('agents/list with includeCard', () => {
  it.each([
    ['4 MiB', [MiB, 2 * MiB, MiB], ['agent-0', 'agent-1', 'agent-2'], 'the-last'],
    ['as many as fit', [MiB, MiB, MiB, MiB, MiB, 9], ['agent-0', 'agent-1', 'agent-2', 'agent-3'], 'agent-3'],
    ['no more after one that does not fit', [MiB, 4 * MiB, 9], ['agent-0'], 'agent-0'],
    ['one at the least', [5 * MiB, 9], ['agent-0'], 'agent-0'],
  ])('holds %s of cards, and says where the rest begins', async (_, lengths, ids, cursor) => {
    keep(lengths)
    expect(await list()).toEqual({ ids, hasCards: true, cursor })
  })

  it('reads four at a time, and not the next four once one has no room', async () => {
    keep(Array.from({ length: 13 }, () => MiB))
    await list()
    expect([most, read]).toEqual([4, 8])
  })

  it('has no card read from its source again, however old', async () => {
    keep([9, 9], 3600)
    expect((await list()).hasCards).toBe(true)
    expect(vi.mocked(revalidate)).not.toHaveBeenCalled()
    await readCard('agent-0', 'superx', { request: asking[0], env: asking[1], ctx: asking[2] })
    expect(vi.mocked(revalidate)).toHaveBeenCalledOnce()
  })
})

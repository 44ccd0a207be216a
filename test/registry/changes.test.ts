import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { KvCache } from '../../src/registry/edge/kv-cache.ts'
import type { ChangesText } from '../../src/registry/kv-format.ts'

const now = Date.parse('2026-11-22T00:00:00Z')
const minute = 60_000
const ctx = { waitUntil: () => undefined } as unknown as ExecutionContext

// Each test is an isolate of its own.
let changes: typeof import('../../src/registry/edge/kv-cache.ts')
beforeEach(async () => {
  vi.useFakeTimers({ now })
  vi.resetModules()
  changes = await import('../../src/registry/edge/kv-cache.ts')
})
afterEach(() => {
  vi.useRealTimers()
})

const kvWith = (text: ChangesText | null) => {
  const get = vi.fn(async () => text)
  return { get, env: { CARDS: { get } } as unknown as Env }
}

describe('what an isolate knows to be unchanged', () => {
  it.each<[string, ChangesText | null, number, number | undefined]>([
    ['an agent that no change names', { since: now - 10 * minute, seqs: [] }, 1, now],
    ['one whose newest change is the one known', { since: now - 10 * minute, seqs: [['a', 1]] }, 1, now],
    ['one that has changed since', { since: now - 10 * minute, seqs: [['a', 2]] }, 1, undefined],
    ['one that was not there and is now', { since: now - 10 * minute, seqs: [['a', 1]] }, 0, undefined],
    ['any, where the changes go back too little', { since: now - 4 * minute, seqs: [] }, 1, undefined],
    ['any, where KV has no changes', null, 1, undefined],
  ])('%s', async (_, text, seq, expected) => {
    await changes.readChanges(kvWith(text).env, ctx)
    expect(changes.unchangedAt('a', seq, now)).toBe(expected)
  })

  it('nothing, before it has read the changes, and when they are old', async () => {
    const before = changes.unchangedAt('a', 1, now)
    await changes.readChanges(kvWith({ since: now - 10 * minute, seqs: [] }).env, ctx)
    vi.advanceTimersByTime(30_001)
    expect([before, changes.unchangedAt('a', 1, now)]).toEqual([undefined, undefined])
  })

  it('costs KV one read in half a minute', async () => {
    const { get, env } = kvWith({ since: 0, seqs: [] })
    for (let count = 0; count < 10; count++) await changes.readChanges(env, ctx)
    vi.advanceTimersByTime(30_001)
    await changes.readChanges(env, ctx)
    expect(get).toHaveBeenCalledTimes(2)
  })

  it('nothing while KV is away, which is no reason to fail', async () => {
    const get = async () => Promise.reject(new Error('KV is away'))
    await changes.readChanges({ CARDS: { get } } as unknown as Env, ctx)
    expect(changes.unchangedAt('a', 1, now)).toBeUndefined()
  })
})

describe('a memory that can be told what is unchanged', () => {
  it('keeps a value fresh for as long as it is, and asks again when it is not', () => {
    let unchanged = true
    const memory = new KvCache<string>(
      1000,
      () => 1,
      () => (unchanged ? Date.now() : undefined),
    )
    memory.put('a', { value: 'one', seq: 1 })
    const seen = [20_000, 20_000, 20_000].map(later => {
      vi.advanceTimersByTime(later)
      return memory.getFresh('a')
    })
    unchanged = false
    vi.advanceTimersByTime(30_001)
    expect([...seen, memory.getFresh('a')]).toEqual(['one', 'one', 'one', undefined])
  })
})

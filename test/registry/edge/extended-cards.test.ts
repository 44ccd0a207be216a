import { beforeEach, describe, expect, it, vi } from 'vitest'
import { executionContext, kvWith } from '../../support/kv.ts'

const ctx = executionContext
const envelope = (seq: number, text?: string) => ({
  seq,
  modified: 'Sat, 21 Nov 2026 00:00:00 GMT',
  representations: text === undefined ? {} : { '1.0': { etag: `"${text}"`, bytes: new Uint8Array(Buffer.from(text)) } },
})

let edge: typeof import('../../../src/registry/edge/cards.ts')
let cards: typeof import('../../../src/registry/edge/cards.ts')
beforeEach(async () => {
  vi.useFakeTimers()
  vi.resetModules()
  cards = await import('../../../src/registry/edge/cards.ts')
  edge = await import('../../../src/registry/edge/cards.ts')
})

const read = async (env: Env, tier: string) => {
  const served = await edge.readExtended({ id: 'a', tier, name: '1.0' }, env, ctx)
  return served && Buffer.from(served.body).toString()
}

describe('an extended card at the edge', () => {
  it('is that of the tier that is asked for, read from KV once while it is fresh', async () => {
    const { get, env } = kvWith({ 'extended:a:base': envelope(1, 'base'), 'extended:a:gold': envelope(1, 'gold') })
    const asked = ['base', 'gold', 'gold', 'silver', 'silver']
    const texts: (string | null)[] = []
    for (const tier of asked) texts.push(await read(env, tier))
    expect([texts, get.mock.calls.map(([key]) => key)]).toEqual([
      ['base', 'gold', 'gold', null, null],
      ['extended:a:base', 'extended:a:gold', 'extended:a:silver'],
    ])
  })

  it('is never what is held of the public card', async () => {
    const { env } = kvWith({ 'extended:a:base': envelope(1, 'private') })
    await read(env, 'base')
    edge.cacheExtended('a', 'base', envelope(2, 'private'))
    expect(cards.getCachedDocument('a', '1.0')).toBeUndefined()
  })

  it('follows a write at once, and no older revision that KV still answers', async () => {
    const { env } = kvWith({ 'extended:a:base': envelope(1, 'one') })
    await read(env, 'base')
    edge.cacheExtended('a', 'base', envelope(2, 'two'))
    vi.advanceTimersByTime(30_001)
    expect(await read(env, 'base')).toBe('two')
    edge.cacheExtended('a', 'base', envelope(3))
    expect(await read(env, 'base')).toBeNull()
  })
})

import { beforeEach, describe, expect, it, vi } from 'vitest'
import { compiled } from '../../support/cards/compile.ts'
import { executionContext, type KvValue, kvWith } from '../../support/kv.ts'

const ctx = executionContext
const card = { name: 'A', description: 'B', url: 'https://a.example/a2a' }
const { profile } = compiled(card)
const document = (value: object) => {
  const text = JSON.stringify(value)
  return { etag: `"${text}"`, bytes: new Uint8Array(Buffer.from(text)) }
}
const envelope = (seq: number, representations: object) => ({ seq, modified: '', representations })

let edge: typeof import('../../../src/registry/edge/cards.ts')
beforeEach(async () => {
  vi.useFakeTimers()
  vi.resetModules()
  edge = await import('../../../src/registry/edge/cards.ts')
})

describe('the call profile of an agent at the edge', () => {
  it('is read from KV and parsed once for all calls while it is fresh', async () => {
    const { get, env } = kvWith({ 'card:a': envelope(1, { '1.0': document(card), profile: document(profile) }) })
    const read = await edge.readProfile('a', env, ctx)
    expect(read).toEqual(profile)
    expect(await edge.readProfile('a', env, ctx)).toBe(read)
    expect(get).toHaveBeenCalledTimes(1)
  })

  it.each<[string, Record<string, KvValue>]>([
    ['that is not there', {}],
    ['that is gone', { 'card:a': envelope(2, {}) }],
  ])('is null for one %s, which costs KV one read', async (_, stored) => {
    const { get, env } = kvWith(stored)
    for (let count = 0; count < 10; count++) expect(await edge.readProfile('a', env, ctx)).toBeNull()
    expect(get).toHaveBeenCalledTimes(1)
  })

  it('follows a write at once, and no older revision that KV still answers', async () => {
    const { env } = kvWith({ 'card:a': envelope(1, { profile: document(profile) }) })
    await edge.readProfile('a', env, ctx)
    edge.cacheProfile('a', envelope(2, { profile: document({ ...profile, route: 'closed' }) }))
    vi.advanceTimersByTime(30_001)
    expect(await edge.readProfile('a', env, ctx)).toEqual({ ...profile, route: 'closed' })
    edge.cacheProfile('a', envelope(3, {}))
    expect(await edge.readProfile('a', env, ctx)).toBeNull()
  })
})

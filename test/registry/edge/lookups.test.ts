import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { TokenRecord } from '../../../src/registry/records.ts'
import { executionContext, kvWith } from '../../support/kv.ts'

const record = (expires: number | null = null): TokenRecord => ({
  id: 'abc',
  note: 'CI',
  scopes: ['read'],
  agents: ['*'],
  tiers: [],
  created: 0,
  expires,
})

const issued = (expires: number | null = null) =>
  kvWith({ 'token:h': { value: JSON.stringify(record(expires)), seq: 1 } })
const ctx = executionContext

let edge: typeof import('../../../src/registry/edge/lookups.ts')
beforeEach(async () => {
  vi.useFakeTimers()
  vi.resetModules()
  edge = await import('../../../src/registry/edge/lookups.ts')
})

describe('a token at the edge', () => {
  it('costs KV one read for a thousand requests at once, and none while it is fresh', async () => {
    const { getWithMetadata, env } = issued()
    const all = Promise.all(Array.from({ length: 1000 }, () => edge.readToken('h', env, ctx)))
    await vi.advanceTimersByTimeAsync(2)
    expect((await all).every(found => found?.id === 'abc')).toBe(true)
    expect(await edge.readToken('h', env, ctx)).toEqual(record())
    expect(getWithMetadata).toHaveBeenCalledTimes(1)
  })

  it('that nobody issued costs KV one read, however often it is tried', async () => {
    const { getWithMetadata, env } = kvWith({})
    for (let count = 0; count < 100; count++) expect(await edge.readToken('guess', env, ctx)).toBeNull()
    expect(getWithMetadata).toHaveBeenCalledTimes(1)
  })

  it('holds until it expires and not a moment longer, though KV still has it', async () => {
    const { env } = issued(Date.now() + 10_000)
    vi.advanceTimersByTime(9_999)
    expect(await edge.readToken('h', env, ctx)).toMatchObject({ id: 'abc' })
    vi.advanceTimersByTime(1)
    expect(await edge.readToken('h', env, ctx)).toBeNull()
  })

  it('holds at once where it was issued', async () => {
    const { env } = kvWith({})
    expect(await edge.readToken('h', env, ctx)).toBeNull()
    edge.cacheToken('h', record(), 1)
    expect(await edge.readToken('h', env, ctx)).toEqual(record())
  })

  it('ends at once where it was revoked, and does not come back while KV still has it', async () => {
    const { env } = issued()
    await edge.readToken('h', env, ctx)
    edge.cacheToken('h', null, 2)
    expect(await edge.readToken('h', env, ctx)).toBeNull()
    vi.advanceTimersByTime(30_001)
    expect(await edge.readToken('h', env, ctx)).toBeNull()
  })

  it('ends elsewhere within half a minute of when KV says so', async () => {
    const { env, stored } = issued()
    await edge.readToken('h', env, ctx)
    stored['token:h'] = { value: '', seq: 2 }
    vi.advanceTimersByTime(30_001)
    expect(await edge.readToken('h', env, ctx)).toBeNull()
  })
})

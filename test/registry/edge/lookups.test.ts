import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { TokenRecord } from '../../../src/registry/token-record.ts'
import { executionContext as ctx, kvWith } from '../../support/kv.ts'

let lookups: typeof import('../../../src/registry/edge/lookups.ts')
// Each test is an isolate of its own: modules are loaded anew, with empty caches.
beforeEach(async () => {
  vi.useFakeTimers()
  vi.resetModules()
  lookups = await import('../../../src/registry/edge/lookups.ts')
})

describe('readToken', () => {
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

  it('reads KV once for a thousand concurrent requests, and not again while the token is fresh', async () => {
    const { getWithMetadata, env } = issued()
    const all = Promise.all(Array.from({ length: 1000 }, () => lookups.readToken('h', env, ctx)))
    await vi.advanceTimersByTimeAsync(2)
    expect((await all).every(found => found?.id === 'abc')).toBe(true)
    expect(await lookups.readToken('h', env, ctx)).toEqual(record())
    expect(getWithMetadata).toHaveBeenCalledTimes(1)
  })

  it('reads KV once for an unknown token, however often it is tried', async () => {
    const { getWithMetadata, env } = kvWith({})
    for (let count = 0; count < 100; count++) expect(await lookups.readToken('guess', env, ctx)).toBeNull()
    expect(getWithMetadata).toHaveBeenCalledTimes(1)
  })

  it('returns a token until the millisecond that it expires, even while KV still has it', async () => {
    const { env } = issued(Date.now() + 10_000)
    vi.advanceTimersByTime(9_999)
    expect(await lookups.readToken('h', env, ctx)).toMatchObject({ id: 'abc' })
    vi.advanceTimersByTime(1)
    expect(await lookups.readToken('h', env, ctx)).toBeNull()
  })

  it('returns a token at once in the isolate that issued it', async () => {
    const { env } = kvWith({})
    expect(await lookups.readToken('h', env, ctx)).toBeNull()
    lookups.cacheToken('h', record(), 1)
    expect(await lookups.readToken('h', env, ctx)).toEqual(record())
  })

  it('returns null at once in the isolate that revoked the token, and for as long as KV still has it', async () => {
    const { env } = issued()
    await lookups.readToken('h', env, ctx)
    lookups.cacheToken('h', null, 2)
    expect(await lookups.readToken('h', env, ctx)).toBeNull()
    vi.advanceTimersByTime(30_001)
    expect(await lookups.readToken('h', env, ctx)).toBeNull()
  })

  it('returns null in other isolates within 30 seconds after KV has the revocation', async () => {
    const { env, stored } = issued()
    await lookups.readToken('h', env, ctx)
    stored['token:h'] = { value: '', seq: 2 }
    vi.advanceTimersByTime(30_001)
    expect(await lookups.readToken('h', env, ctx)).toBeNull()
  })
})

describe('findAgentByHost', () => {
  const claimed = 'a.example.com'
  const free = 'b.example.com'

  it('returns the agent that claims the host name, else ROOT_AGENT, else the agent that claims "*"', async () => {
    const { env } = kvWith({ [`host:${claimed}`]: { value: 'own', seq: 1 }, 'host:*': { value: 'root', seq: 1 } })
    const rooted = { ...env, ROOT_AGENT: 'configured' }
    expect([
      await lookups.findAgentByHost(claimed, rooted, ctx),
      await lookups.findAgentByHost(free, rooted, ctx),
      await lookups.findAgentByHost(free, env, ctx),
    ]).toEqual(['own', 'configured', 'root'])
  })

  it('returns undefined when no agent claims the host name or "*", and ROOT_AGENT is not set', async () => {
    expect(await lookups.findAgentByHost(free, kvWith({}).env, ctx)).toBeUndefined()
  })

  it('returns the same from memory as from KV', async () => {
    const { env, getWithMetadata } = kvWith({
      [`host:${claimed}`]: { value: 'own', seq: 1 },
      'host:*': { value: 'root', seq: 1 },
    })
    const rooted = { ...env, ROOT_AGENT: 'configured' }
    const resolveAll = async () => [
      await lookups.findAgentByHost(claimed, env, ctx),
      await lookups.findAgentByHost(free, env, ctx),
      await lookups.findAgentByHost(free, rooted, ctx),
    ]
    const first = await resolveAll()
    const reads = getWithMetadata.mock.calls.length
    expect([first, await resolveAll(), getWithMetadata.mock.calls.length]).toEqual([
      ['own', 'root', 'configured'],
      first,
      reads,
    ])
  })

  it('reads KV once for a thousand concurrent requests', async () => {
    const { getWithMetadata, env } = kvWith({ [`host:${claimed}`]: { value: 'own', seq: 1 } })
    const all = Promise.all(Array.from({ length: 1000 }, () => lookups.findAgentByHost(claimed, env, ctx)))
    await vi.advanceTimersByTimeAsync(2)
    await all
    expect(getWithMetadata).toHaveBeenCalledTimes(1)
  })

  it('shows a write at once, and no older claim that KV still returns', async () => {
    const { env } = kvWith({ [`host:${claimed}`]: { value: 'old', seq: 1 } })
    await lookups.findAgentByHost(claimed, env, ctx)
    lookups.cacheHost(claimed, { value: 'new', seq: 2 })
    vi.advanceTimersByTime(30_001)
    expect(await lookups.findAgentByHost(claimed, env, ctx)).toBe('new')
  })

  it('keeps returning the last known agent while KV is unavailable', async () => {
    const { getWithMetadata, env } = kvWith({ [`host:${claimed}`]: { value: 'own', seq: 1 } })
    await lookups.findAgentByHost(claimed, env, ctx)
    vi.advanceTimersByTime(30_001)
    vi.spyOn(console, 'error').mockReturnValue()
    getWithMetadata.mockRejectedValueOnce(new Error('KV is unavailable'))
    expect(await lookups.findAgentByHost(claimed, env, ctx)).toBe('own')
  })
})

import { beforeEach, describe, expect, it, vi } from 'vitest'
import { cacheToken, findByName, readToken } from '../../../src/registry/edge/lookups.ts'
import type { TokenRecord } from '../../../src/registry/token-record.ts'
import { executionContext as ctx, kvWith } from '../../support/kv.ts'

// The isolate remembers hashes and names, so each test has its own.
let hash: string
let claimed: string
let free: string
let tests = 0
beforeEach(() => {
  vi.useFakeTimers()
  tests++
  hash = `h${tests}`
  claimed = `claimed-${tests}.example.com`
  free = `free-${tests}.example.com`
})

describe('readToken', () => {
  const record = (expires: number | null = null): TokenRecord => ({
    ...{ id: 'abc', note: 'CI', scopes: ['read'], agents: ['*'], tiers: [], created: 0, expires },
  })
  const issued = (expires: number | null = null) =>
    kvWith({ [`token:${hash}`]: { value: JSON.stringify(record(expires)), seq: 1 } })

  it('reads KV once for an unknown token, which is known at once in the isolate that issues it', async () => {
    const { getWithMetadata, env } = kvWith({})
    for (let count = 0; count < 100; count++) expect(await readToken(hash, env, ctx)).toBeNull()
    expect(getWithMetadata).toHaveBeenCalledTimes(1)
    cacheToken(hash, record(), 1)
    expect(await readToken(hash, env, ctx)).toEqual(record())
  })

  it('returns a token until the millisecond that it expires, even while KV still has it', async () => {
    const { env } = issued(Date.now() + 10_000)
    vi.advanceTimersByTime(9_999)
    expect(await readToken(hash, env, ctx)).toMatchObject({ id: 'abc' })
    vi.advanceTimersByTime(1)
    expect(await readToken(hash, env, ctx)).toBeNull()
  })

  it('returns null at once in the isolate that revoked the token, and for as long as KV still has it', async () => {
    const { env } = issued()
    await readToken(hash, env, ctx)
    cacheToken(hash, null, 2)
    expect(await readToken(hash, env, ctx)).toBeNull()
    vi.advanceTimersByTime(30_001)
    expect(await readToken(hash, env, ctx)).toBeNull()
  })

  it('returns null in other isolates within 30 seconds after KV has the revocation', async () => {
    const { env, stored } = issued()
    await readToken(hash, env, ctx)
    stored[`token:${hash}`] = { value: '', seq: 2 }
    vi.advanceTimersByTime(30_001)
    expect(await readToken(hash, env, ctx)).toBeNull()
  })
})

it('findAgentByHost returns the agent of the host name, else ROOT_AGENT, else the agent that claims "*"', async () => {
  // Another file may have read who claims "*".
  vi.resetModules()
  const { cacheHost, findAgentByHost, findHostOwner } = await import('../../../src/registry/edge/lookups.ts')
  cacheHost('*', { value: 'root', seq: 1 })
  const { env, getWithMetadata } = kvWith({ [`host:${claimed}`]: { value: 'own', seq: 1 } })
  const rooted = { ...env, ROOT_AGENT: 'configured' }
  for (let time = 0; time < 2; time++) {
    expect([
      await findAgentByHost(claimed, rooted, ctx),
      await findAgentByHost(free, rooted, ctx),
      await findAgentByHost(free, env, ctx),
      await findHostOwner(claimed, env, ctx),
      await findHostOwner(free, env, ctx),
    ]).toEqual(['own', 'configured', 'root', 'own', undefined])
    // From memory the second time.
    expect(getWithMetadata.mock.calls.map(([key]) => key)).toEqual([`host:${claimed}`, `host:${free}`])
  }
  cacheHost('*', { value: null, seq: 2 })
  expect(await findAgentByHost(free, env, ctx)).toBeUndefined()
})

it('findByName asks the Registry once for a name in any case, and never for one that is too long', async () => {
  const found = { public: 'weather', internal: [] }
  const namedAgents = vi.fn(async () => found)
  const env = { REGISTRY: { getByName: () => ({ namedAgents }) } } as unknown as Env
  const name = `Weather ${tests}`
  for (const each of [name, name.toUpperCase()]) expect(await findByName(each, env, ctx)).toEqual(found)
  expect(namedAgents.mock.calls).toEqual([[name.toLowerCase()]])
  expect(await findByName('x'.repeat(10_000), env, ctx)).toEqual({ public: null, internal: [] })
  expect(namedAgents).toHaveBeenCalledTimes(1)
})

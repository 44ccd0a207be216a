import { beforeEach, describe, expect, it, vi } from 'vitest'
import { executionContext, kvWith } from '../../support/kv.ts'

const ctx = executionContext

let hosts: typeof import('../../../src/registry/edge/lookups.ts')
beforeEach(async () => {
  vi.useFakeTimers()
  vi.resetModules()
  hosts = await import('../../../src/registry/edge/lookups.ts')
})

const a = 'a.example.com'

describe('the agent of a host name', () => {
  it('is who claims it, else ROOT_AGENT, else who claims "*", else nobody', async () => {
    const { env } = kvWith({ [`host:${a}`]: { value: 'own', seq: 1 }, 'host:*': { value: 'root', seq: 1 } })
    const rooted = { ...env, ROOT_AGENT: 'configured' }
    expect([
      await hosts.resolveHost(a, rooted, ctx),
      await hosts.resolveHost('b.example.com', rooted, ctx),
      await hosts.resolveHost('b.example.com', env, ctx),
      await hosts.resolveHost('b.example.com', kvWith({}).env, ctx),
    ]).toEqual(['own', 'configured', 'root', 'root'])
  })

  it('is the same from memory as from KV', async () => {
    const { env, getWithMetadata } = kvWith({
      [`host:${a}`]: { value: 'own', seq: 1 },
      'host:*': { value: 'root', seq: 1 },
    })
    const rooted = { ...env, ROOT_AGENT: 'configured' }
    const resolveAll = async () => [
      await hosts.resolveHost(a, env, ctx),
      await hosts.resolveHost('b.example.com', env, ctx),
      await hosts.resolveHost('b.example.com', rooted, ctx),
    ]
    const read = await resolveAll()
    const reads = getWithMetadata.mock.calls.length
    expect([read, await resolveAll(), getWithMetadata.mock.calls.length]).toEqual([
      ['own', 'root', 'configured'],
      read,
      reads,
    ])
  })

  it('costs KV one read for a thousand requests at once', async () => {
    const { getWithMetadata, env } = kvWith({ [`host:${a}`]: { value: 'own', seq: 1 } })
    const all = Promise.all(Array.from({ length: 1000 }, () => hosts.resolveHost(a, env, ctx)))
    await vi.advanceTimersByTimeAsync(2)
    await all
    expect(getWithMetadata).toHaveBeenCalledTimes(1)
  })

  it('follows a write at once, and no older claim that KV still answers', async () => {
    const { env } = kvWith({ [`host:${a}`]: { value: 'old', seq: 1 } })
    await hosts.resolveHost(a, env, ctx)
    hosts.cacheHost(a, { value: 'new', seq: 2 })
    vi.advanceTimersByTime(30_001)
    expect(await hosts.resolveHost(a, env, ctx)).toBe('new')
  })

  it('stays what it was while KV is away', async () => {
    const { getWithMetadata, env } = kvWith({ [`host:${a}`]: { value: 'own', seq: 1 } })
    await hosts.resolveHost(a, env, ctx)
    vi.advanceTimersByTime(30_001)
    vi.spyOn(console, 'error').mockReturnValue()
    getWithMetadata.mockRejectedValueOnce(new Error('KV is away'))
    expect(await hosts.resolveHost(a, env, ctx)).toBe('own')
  })
})

import { beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeEnvelope } from '../../../src/registry/kv-format.ts'
import { executionContext, type KvValue, kvWith } from '../../support/kv.ts'

const ctx = executionContext
const representation = (text: string) => ({ etag: `"${text}"`, bytes: new Uint8Array(Buffer.from(text)) })
const envelope = (seq: number, text: string) => ({
  seq,
  modified: 'Sat, 21 Nov 2026 00:00:00 GMT',
  representations: { 'agent-card.json': representation(text), '1.0': representation(`${text} v1`) },
})

const gone = (seq: number) => ({ seq, modified: '', representations: {} })

// Each test is an isolate of its own: what a module remembers is what an isolate remembers.
let edge: typeof import('../../../src/registry/edge/cards.ts')
beforeEach(async () => {
  vi.useFakeTimers()
  vi.resetModules()
  edge = await import('../../../src/registry/edge/cards.ts')
})

const read = async (env: Env, id = 'a', name: '1.0' | 'agent-card.json' = 'agent-card.json') => {
  const held = edge.getCachedDocument(id, name)
  const served = held === undefined ? await edge.readDocument(id, name, env, ctx) : held
  return served?.body ? Buffer.from(served.body).toString() : null
}

describe('what one isolate serves of an agent', () => {
  it('costs KV one read for a thousand readers at once, and none while it is fresh', async () => {
    const { get, env } = kvWith({ 'card:a': envelope(1, 'one') })
    const all = Promise.all(Array.from({ length: 1000 }, () => read(env)))
    await vi.advanceTimersByTimeAsync(2)
    expect(new Set(await all)).toEqual(new Set(['one']))
    await read(env)
    expect(get).toHaveBeenCalledTimes(1)
  })

  it('costs KV one read for an agent that is not there, until that is old', async () => {
    const { get, env } = kvWith()
    for (let count = 0; count < 100; count++) expect(await read(env)).toBeNull()
    expect(get).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(30_001)
    await read(env)
    expect(get.mock.calls).toEqual([
      ['card:a', expect.anything()],
      ['card:a', expect.anything()],
    ])
  })

  it('is served from memory and read again once in the background, between 20 and 30 seconds', async () => {
    const { get, env, stored } = kvWith({ 'card:a': envelope(1, 'one') })
    await read(env)
    stored['card:a'] = envelope(2, 'two')
    vi.advanceTimersByTime(19_999)
    expect([await read(env), get.mock.calls.length]).toEqual(['one', 1])
    vi.advanceTimersByTime(2)
    const { promise, resolve } = Promise.withResolvers<ArrayBuffer | null>()
    get.mockReturnValueOnce(promise as never)
    expect([await read(env), await read(env), get.mock.calls.length]).toEqual(['one', 'one', 2])
    resolve(encodeEnvelope(envelope(2, 'two')).buffer)
    await vi.advanceTimersByTimeAsync(0)
    expect([await read(env), get.mock.calls.length]).toEqual(['two', 2])
  })

  it('goes on being served where that background read fails', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    const { get, env } = kvWith({ 'card:a': envelope(1, 'one') })
    await read(env)
    vi.advanceTimersByTime(20_001)
    get.mockRejectedValueOnce(new Error('KV is away'))
    expect(await read(env)).toBe('one')
    await vi.advanceTimersByTimeAsync(0)
    expect([await read(env), get.mock.calls.length]).toEqual(['one', 2])
  })

  it('follows KV within half a minute, also where KV says that the card is gone', async () => {
    const stored: Record<string, KvValue> = { 'card:a': envelope(1, 'one') }
    const { env } = kvWith(stored)
    await read(env)
    stored['card:a'] = envelope(2, 'two')
    expect(await read(env)).toBe('one')
    vi.advanceTimersByTime(30_001)
    expect(await read(env)).toBe('two')
    stored['card:a'] = gone(3)
    vi.advanceTimersByTime(30_001)
    expect(await read(env)).toBeNull()
  })

  it('shows a write at once, and no older revision that KV still answers', async () => {
    const stored: Record<string, KvValue> = { 'card:a': envelope(1, 'one') }
    const { env } = kvWith(stored)
    await read(env)
    edge.cacheEnvelope('a', envelope(2, 'two'))
    expect([await read(env), await read(env, 'a', '1.0')]).toEqual(['two', 'two v1'])
    vi.advanceTimersByTime(30_001)
    expect(await read(env)).toBe('two')
    stored['card:a'] = envelope(3, 'three')
    vi.advanceTimersByTime(30_001)
    expect(await read(env)).toBe('three')
  })

  it('says of a card from elsewhere how old it is, as KV says it, and what is learned of that here at once', async () => {
    const health = { checked: 5, ttl: 300, staleIfError: 3600 }
    const { env } = kvWith({ 'card:a': { ...envelope(2, 'two'), source: health } })
    await read(env)
    const source = () => edge.getCachedDocument('a', 'agent-card.json')?.source
    const seen = [source()]
    edge.cacheHealth('a', 2, { seq: 3, health: { ...health, failing: 502 } })
    seen.push(source())
    vi.advanceTimersByTime(30_001)
    seen.push((await edge.readDocument('a', 'agent-card.json', env, ctx))?.source)
    expect(seen).toEqual([health, { ...health, failing: 502 }, { ...health, failing: 502 }])
  })

  it('does not take an older card for the newest because something was learned of the newest', async () => {
    const { env } = kvWith({ 'card:a': envelope(1, 'one') })
    await read(env)
    edge.cacheHealth('a', 2, { seq: 3, health: { checked: 5, ttl: 300, staleIfError: 3600 } })
    edge.cacheEnvelope('a', envelope(2, 'two'))
    expect(await read(env)).toBe('two')
  })

  it('tells an agent whose card never came from none', async () => {
    const source = { checked: 0, ttl: 300, staleIfError: 3600, failing: 502 } as const
    const { env } = kvWith({ 'card:a': { ...gone(1), source } })
    const documents = [
      await edge.readDocument('a', '1.0', env, ctx),
      edge.getCachedDocument('a', '1.0'),
      await edge.readDocument('b', '1.0', env, ctx),
    ]
    expect(documents).toEqual([{ source }, { source }, null])
  })

  it('is not set back by the late answer to an older write', async () => {
    const { env } = kvWith()
    edge.cacheEnvelope('a', envelope(3, 'three'))
    edge.cacheEnvelope('a', envelope(2, 'two'))
    expect(await read(env)).toBe('three')
  })

  it('shows a first registration though KV knows of none yet', async () => {
    const { env } = kvWith()
    edge.cacheEnvelope('a', envelope(1, 'one'))
    vi.advanceTimersByTime(30_001)
    expect(await read(env)).toBe('one')
  })

  it('shows a removal at once, and goes on though KV still has the card', async () => {
    const { env } = kvWith({ 'card:a': envelope(1, 'one') })
    await read(env)
    edge.cacheEnvelope('a', gone(2))
    expect(await read(env)).toBeNull()
    vi.advanceTimersByTime(30_001)
    expect(await read(env)).toBeNull()
  })

  it('does not wait for a read that never ends, once that is old', async () => {
    const { get, env } = kvWith({ 'card:a': envelope(1, 'one') })
    get.mockReturnValueOnce(new Promise(() => undefined))
    void read(env)
    const waiting = read(env)
    await vi.advanceTimersByTimeAsync(5_100)
    expect([await waiting, await read(env)]).toEqual(['one', 'one'])
    expect(get).toHaveBeenCalledTimes(2)
  })

  it('goes on serving what it served last while KV is away', async () => {
    const { get, env } = kvWith({ 'card:a': envelope(1, 'one') })
    await read(env)
    vi.advanceTimersByTime(30_001)
    vi.spyOn(console, 'error').mockReturnValue()
    get.mockRejectedValueOnce(new Error('KV is away'))
    expect(await read(env)).toBe('one')
  })

  it('tells who asked to come later where KV is away and nothing was known, and asks again for the next', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    const { get, env } = kvWith({ 'card:a': envelope(1, 'one') })
    get.mockRejectedValueOnce(new Error('KV is away'))
    await expect(read(env)).rejects.toMatchObject({ status: 503, code: 'unavailable' })
    expect(await read(env)).toBe('one')
  })
})

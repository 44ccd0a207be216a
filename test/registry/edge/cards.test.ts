import { beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeEnvelope } from '../../../src/registry/kv-format.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { executionContext as ctx, type KvValue, kvWith } from '../../support/kv.ts'

const representation = (text: string) => ({ etag: `"${text}"`, bytes: new Uint8Array(Buffer.from(text)) })
const envelope = (seq: number, text: string) => ({
  seq,
  modified: 'Sat, 21 Nov 2026 00:00:00 GMT',
  representations: { 'agent-card.json': representation(text), '1.0': representation(`${text} v1`) },
})

/** The envelope of a removed agent. */
const tombstone = (seq: number) => ({ seq, modified: '', representations: {} })

// Each test is an isolate of its own: modules are loaded anew, with empty caches.
let edge: typeof import('../../../src/registry/edge/cards.ts')
beforeEach(async () => {
  vi.useFakeTimers()
  vi.resetModules()
  edge = await import('../../../src/registry/edge/cards.ts')
})

const read = async (env: Env, id = 'a', name: '1.0' | 'agent-card.json' = 'agent-card.json') => {
  const cached = edge.getCachedDocument(id, name)
  const document = cached === undefined ? await edge.readDocument(id, name, env, ctx) : cached
  return document?.body ? Buffer.from(document.body).toString() : null
}

describe('reads of documents', () => {
  it('read KV once for a thousand concurrent readers, and not again while the document is fresh', async () => {
    const { get, env } = kvWith({ 'card:a': envelope(1, 'one') })
    const all = Promise.all(Array.from({ length: 1000 }, () => read(env)))
    await vi.advanceTimersByTimeAsync(2)
    expect(new Set(await all)).toEqual(new Set(['one']))
    await read(env)
    expect(get).toHaveBeenCalledTimes(1)
  })

  it('read KV once for an unknown agent until the cached absence is stale', async () => {
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

  it('serve from memory and read KV once in the background when the document is 20 to 30 seconds old', async () => {
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

  it('keep serving the document when that background read fails', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    const { get, env } = kvWith({ 'card:a': envelope(1, 'one') })
    await read(env)
    vi.advanceTimersByTime(20_001)
    get.mockRejectedValueOnce(new Error('KV is unavailable'))
    expect(await read(env)).toBe('one')
    await vi.advanceTimersByTimeAsync(0)
    expect([await read(env), get.mock.calls.length]).toEqual(['one', 2])
  })

  it('follow KV within 30 seconds, removals included', async () => {
    const stored: Record<string, KvValue> = { 'card:a': envelope(1, 'one') }
    const { env } = kvWith(stored)
    await read(env)
    stored['card:a'] = envelope(2, 'two')
    expect(await read(env)).toBe('one')
    vi.advanceTimersByTime(30_001)
    expect(await read(env)).toBe('two')
    stored['card:a'] = tombstone(3)
    vi.advanceTimersByTime(30_001)
    expect(await read(env)).toBeNull()
  })

  it('show a write at once, and no older revision that KV still returns', async () => {
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

  it('return the health of a remote card from KV, and a change of it in this isolate at once', async () => {
    const health = { checked: 5, ttl: 300, staleIfError: 3600 }
    const { env } = kvWith({ 'card:a': { ...envelope(2, 'two'), source: health } })
    await read(env)
    const cachedHealth = () => edge.getCachedDocument('a', 'agent-card.json')?.source
    const healths = [cachedHealth()]
    edge.cacheHealth('a', 2, { seq: 3, health: { ...health, failing: 502 } })
    healths.push(cachedHealth())
    vi.advanceTimersByTime(30_001)
    healths.push((await edge.readDocument('a', 'agent-card.json', env, ctx))?.source)
    expect(healths).toEqual([health, { ...health, failing: 502 }, { ...health, failing: 502 }])
  })

  it('accept a newer card after its health has been cached on an older one', async () => {
    const { env } = kvWith({ 'card:a': envelope(1, 'one') })
    await read(env)
    edge.cacheHealth('a', 2, { seq: 3, health: { checked: 5, ttl: 300, staleIfError: 3600 } })
    edge.cacheEnvelope('a', envelope(2, 'two'))
    expect(await read(env)).toBe('two')
  })

  it('distinguish an agent whose card was never fetched from an unknown agent', async () => {
    const source = { checked: 0, ttl: 300, staleIfError: 3600, failing: 502 } as const
    const { env } = kvWith({ 'card:a': { ...tombstone(1), source } })
    const documents = [
      await edge.readDocument('a', '1.0', env, ctx),
      edge.getCachedDocument('a', '1.0'),
      await edge.readDocument('b', '1.0', env, ctx),
    ]
    expect(documents).toEqual([{ source }, { source }, null])
  })

  it('ignore the late result of an older write', async () => {
    const { env } = kvWith()
    edge.cacheEnvelope('a', envelope(3, 'three'))
    edge.cacheEnvelope('a', envelope(2, 'two'))
    expect(await read(env)).toBe('three')
  })

  it('show a first registration before KV has it', async () => {
    const { env } = kvWith()
    edge.cacheEnvelope('a', envelope(1, 'one'))
    vi.advanceTimersByTime(30_001)
    expect(await read(env)).toBe('one')
  })

  it('show a removal at once, and for as long as KV still has the card', async () => {
    const { env } = kvWith({ 'card:a': envelope(1, 'one') })
    await read(env)
    edge.cacheEnvelope('a', tombstone(2))
    expect(await read(env)).toBeNull()
    vi.advanceTimersByTime(30_001)
    expect(await read(env)).toBeNull()
  })

  it('do not wait for a pending read that has timed out', async () => {
    const { get, env } = kvWith({ 'card:a': envelope(1, 'one') })
    get.mockReturnValueOnce(new Promise(() => undefined))
    void read(env)
    const waiting = read(env)
    await vi.advanceTimersByTimeAsync(5_100)
    expect([await waiting, await read(env)]).toEqual(['one', 'one'])
    expect(get).toHaveBeenCalledTimes(2)
  })

  it('keep serving the last known document while KV is unavailable', async () => {
    const { get, env } = kvWith({ 'card:a': envelope(1, 'one') })
    await read(env)
    vi.advanceTimersByTime(30_001)
    vi.spyOn(console, 'error').mockReturnValue()
    get.mockRejectedValueOnce(new Error('KV is unavailable'))
    expect(await read(env)).toBe('one')
  })

  it('fail with 503 when KV is unavailable and nothing is cached, and read KV again for the next request', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    const { get, env } = kvWith({ 'card:a': envelope(1, 'one') })
    get.mockRejectedValueOnce(new Error('KV is unavailable'))
    await expect(read(env)).rejects.toMatchObject({ status: 503, code: 'unavailable' })
    expect(await read(env)).toBe('one')
  })
})

describe('readExtended', () => {
  const extended = (seq: number, text: string) => ({
    ...tombstone(seq),
    representations: { '1.0': representation(text) },
  })
  const readTier = async (env: Env, tier: string) => {
    const document = await edge.readExtended({ id: 'a', tier, name: '1.0' }, env, ctx)
    return document && Buffer.from(document.body).toString()
  }

  it('returns the card of the requested tier, read from KV once while it is fresh', async () => {
    const { get, env } = kvWith({ 'extended:a:base': extended(1, 'base'), 'extended:a:gold': extended(1, 'gold') })
    const tiers = ['base', 'gold', 'gold', 'silver', 'silver']
    const texts: (string | null)[] = []
    for (const tier of tiers) texts.push(await readTier(env, tier))
    expect([texts, get.mock.calls.map(([key]) => key)]).toEqual([
      ['base', 'gold', 'gold', null, null],
      ['extended:a:base', 'extended:a:gold', 'extended:a:silver'],
    ])
  })

  it('never adds to the cache of the public card', async () => {
    const { env } = kvWith({ 'extended:a:base': extended(1, 'private') })
    await readTier(env, 'base')
    edge.cacheExtended('a', 'base', extended(2, 'private'))
    expect(edge.getCachedDocument('a', '1.0')).toBeUndefined()
  })

  it('shows a write at once, and no older revision that KV still returns', async () => {
    const { env } = kvWith({ 'extended:a:base': extended(1, 'one') })
    await readTier(env, 'base')
    edge.cacheExtended('a', 'base', extended(2, 'two'))
    vi.advanceTimersByTime(30_001)
    expect(await readTier(env, 'base')).toBe('two')
    edge.cacheExtended('a', 'base', tombstone(3))
    expect(await readTier(env, 'base')).toBeNull()
  })
})

describe('readProfile', () => {
  const card = { name: 'A', description: 'B', url: 'https://a.example/a2a' }
  const { profile } = compileCard(card)
  const document = (value: object) => representation(JSON.stringify(value))
  const withDocuments = (seq: number, representations: object) => ({ ...tombstone(seq), representations })

  it('reads KV and parses the profile once while it is fresh', async () => {
    const { get, env } = kvWith({ 'card:a': withDocuments(1, { '1.0': document(card), profile: document(profile) }) })
    const first = await edge.readProfile('a', env, ctx)
    expect(first).toEqual(profile)
    expect(await edge.readProfile('a', env, ctx)).toBe(first)
    expect(get).toHaveBeenCalledTimes(1)
  })

  it.each<[string, Record<string, KvValue>]>([
    ['an unknown agent', {}],
    ['a removed agent', { 'card:a': withDocuments(2, {}) }],
  ])('returns null for %s, and reads KV once', async (_, stored) => {
    const { get, env } = kvWith(stored)
    for (let count = 0; count < 10; count++) expect(await edge.readProfile('a', env, ctx)).toBeNull()
    expect(get).toHaveBeenCalledTimes(1)
  })

  it('shows a write at once, and no older revision that KV still returns', async () => {
    const { env } = kvWith({ 'card:a': withDocuments(1, { profile: document(profile) }) })
    await edge.readProfile('a', env, ctx)
    edge.cacheProfile('a', withDocuments(2, { profile: document({ ...profile, route: 'closed' }) }))
    vi.advanceTimersByTime(30_001)
    expect(await edge.readProfile('a', env, ctx)).toEqual({ ...profile, route: 'closed' })
    edge.cacheProfile('a', withDocuments(3, {}))
    expect(await edge.readProfile('a', env, ctx)).toBeNull()
  })
})

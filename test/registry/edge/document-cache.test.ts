import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  cacheEnvelope,
  cacheExtended,
  cacheHealth,
  getCachedDocument,
  readDocument,
  readExtended,
  readProfile,
} from '../../../src/registry/edge/document-cache.ts'
import { BATCH_DELAY_MS } from '../../../src/registry/edge/kv-reader.ts'
import { cacheRemoved } from '../../../src/registry/edge/write-through.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { executionContext as ctx, type KvValue, kvWith } from '../../support/kv.ts'

const representation = (text: string) => ({ etag: `"${text}"`, bytes: new Uint8Array(Buffer.from(text)) })
const withDocuments = (seq: number, representations: object) => ({ seq, modified: 'then', representations })
const envelope = (seq: number, text: string) =>
  withDocuments(seq, { 'agent-card.json': representation(text), '1.0': representation(`${text} v1`) })
/** The envelope of a removed agent. */
const tombstone = (seq: number) => withDocuments(seq, {})

// The isolate remembers agents, so each test has its own.
let id: string
let key: string
let tests = 0
beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(console, 'error').mockReturnValue()
  id = `edge-${++tests}`
  key = `card:${id}`
})
// Reads in the background are collected for all agents.
afterEach(() => vi.advanceTimersByTimeAsync(BATCH_DELAY_MS))

/** Starts with a stored value of the agent; `store` replaces it. */
const kvOf = (value?: KvValue) => {
  const kv = kvWith(value && { [key]: value })
  return { ...kv, store: (next: KvValue) => Object.assign(kv.stored, { [key]: next }) }
}
const read = async (env: Env, name: '1.0' | 'agent-card.json' = 'agent-card.json') => {
  const cached = getCachedDocument(id, name)
  const document = cached === undefined ? await readDocument(id, name, env, ctx) : cached
  return document?.body ? Buffer.from(document.body).toString() : null
}
/** Lets the cached value become so old that it is not served any more. */
const expire = () => vi.advanceTimersByTime(30_001)
const unavailable = new Error('KV is unavailable')

describe('reads of documents', () => {
  it('read KV once for a thousand concurrent readers, and not again while the document is fresh', async () => {
    const { getWithMetadata: get, env } = kvOf(envelope(1, 'one'))
    const all = Promise.all(Array.from({ length: 1000 }, () => read(env)))
    await vi.advanceTimersByTimeAsync(2)
    expect(new Set(await all)).toEqual(new Set(['one']))
    await read(env)
    expect(get).toHaveBeenCalledTimes(1)
  })

  it('serve from memory and read KV once in the background when the document is 20 to 30 seconds old', async () => {
    const { getWithMetadata, env, store } = kvOf(envelope(1, 'one'))
    await read(env)
    vi.advanceTimersByTime(19_999)
    expect([await read(env), getWithMetadata.mock.calls.length]).toEqual(['one', 1])
    vi.advanceTimersByTime(1)
    store(envelope(2, 'two'))
    expect([await read(env), await read(env)]).toEqual(['one', 'one'])
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
    expect(await read(env)).toBe('two')
    // One key by itself: what is due is read once, however often it is requested.
    expect(getWithMetadata.mock.calls.map(([keys]) => keys)).toEqual([key, key])
  })

  it('renew an unchanged document without its bytes, JSON or a new copy, whoever reads it again', async () => {
    const { kv, getWithMetadata, env } = kvOf(envelope(1, 'one'))
    await read(env)
    const document = getCachedDocument(id, 'agent-card.json')
    const parse = vi.spyOn(JSON, 'parse')
    for (const age of [20_000, 30_000]) {
      vi.advanceTimersByTime(age)
      expect(await read(env)).toBe('one')
      await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
      expect(getCachedDocument(id, 'agent-card.json')).toBe(document)
    }
    expect([getWithMetadata.mock.calls.length, kv.bodies, parse.mock.calls.length]).toEqual([3, 1, 0])
  })

  it('return what was written while KV was asked for changes, and found none', async () => {
    const { env } = kvOf(envelope(1, 'one'))
    await read(env)
    expire()
    const reading = read(env)
    cacheEnvelope(id, envelope(2, 'two'))
    expect(await reading).toBe('two')
  })

  it('read a document at once in the last half second before it is too old, without a batch', async () => {
    const { getWithMetadata, env } = kvOf(envelope(1, 'one'))
    await read(env)
    vi.advanceTimersByTime(29_501)
    await read(env)
    expect(getWithMetadata.mock.calls.map(([keys]) => keys)).toEqual([key, key])
  })

  it('keep serving the document when that background read fails, and while KV is unavailable', async () => {
    const { getWithMetadata, env } = kvOf(envelope(1, 'one'))
    await read(env)
    for (const [pause, reads] of [
      [20_001, 2],
      [30_001, 3],
    ] as const) {
      vi.advanceTimersByTime(pause)
      getWithMetadata.mockRejectedValueOnce(unavailable)
      expect(await read(env)).toBe('one')
      await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
      expect([await read(env), getWithMetadata.mock.calls.length]).toEqual(['one', reads])
    }
  })

  it('fail with 503 when KV is unavailable and nothing is cached, and read KV again for the next request', async () => {
    const { getWithMetadata: get, env } = kvOf(envelope(1, 'one'))
    get.mockRejectedValueOnce(unavailable)
    await expect(read(env)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await read(env)).toBe('one')
  })

  it('do not wait for a pending read that has timed out', async () => {
    const { getWithMetadata: get, env } = kvOf(envelope(1, 'one'))
    get.mockReturnValueOnce(new Promise(() => undefined))
    void read(env)
    const waiting = read(env)
    await vi.advanceTimersByTimeAsync(5_100)
    expect([await waiting, await read(env)]).toEqual(['one', 'one'])
    expect(get).toHaveBeenCalledTimes(2)
  })

  it('show a write at once, and no older revision that KV or a late write still has', async () => {
    const { env, store } = kvOf(envelope(1, 'one'))
    await read(env)
    cacheEnvelope(id, envelope(3, 'three'))
    cacheEnvelope(id, envelope(2, 'two'))
    expect([await read(env), await read(env, '1.0')]).toEqual(['three', 'three v1'])
    expire()
    expect(await read(env)).toBe('three')
    store(envelope(4, 'four'))
    expire()
    expect(await read(env)).toBe('four')
    cacheEnvelope(id, tombstone(5))
    expect(await read(env)).toBeNull()
    expire()
    expect(await read(env)).toBeNull()
  })

  it('return the health of a remote card from KV, and a change of it in this isolate at once', async () => {
    const health = { checked: 5, ttl: 300, staleIfError: 3600 }
    const failing = { ...health, failing: 502 } as const
    const { env } = kvOf({ ...envelope(2, 'two'), source: health })
    await read(env)
    const cachedHealth = () => getCachedDocument(id, 'agent-card.json')?.source
    expect(cachedHealth()).toEqual(health)
    cacheHealth(id, 2, { seq: 3, health: failing })
    expect(cachedHealth()).toEqual(failing)
    expire()
    expect((await readDocument(id, 'agent-card.json', env, ctx))?.source).toEqual(failing)
  })

  it('accept a newer card after its health has been cached on an older one', async () => {
    const { env } = kvOf(envelope(1, 'one'))
    await read(env)
    cacheHealth(id, 2, { seq: 3, health: { checked: 5, ttl: 300, staleIfError: 3600 } })
    cacheEnvelope(id, envelope(2, 'two'))
    expect(await read(env)).toBe('two')
  })

  it('distinguish an agent whose card was never fetched from an unknown agent', async () => {
    const source = { checked: 0, ttl: 300, staleIfError: 3600, failing: 502 } as const
    const { env } = kvOf({ ...tombstone(1), source })
    expect(await readDocument(id, '1.0', env, ctx)).toEqual({ source })
    expect(getCachedDocument(id, '1.0')).toEqual({ source })
    expect(await readDocument(`no-${id}`, '1.0', env, ctx)).toBeNull()
  })
})

describe('reads in the background', () => {
  const profile = (seq: number, text: string) => ({
    ...envelope(seq, text),
    representations: { ...envelope(seq, text).representations, profile: representation(JSON.stringify({ text })) },
  })
  const keysOf = ({ mock }: ReturnType<typeof kvWith>['getWithMetadata']) =>
    mock.calls.flatMap(([keys]) => (Array.isArray(keys) ? [keys] : []))

  it('fetch several documents and the profile of an agent with one key', async () => {
    const { getWithMetadata, env, store } = kvOf(profile(1, 'one'))
    const readAll = async () => [await read(env), await read(env, '1.0'), await readProfile(id, env, ctx)]
    expect(await readAll()).toEqual(['one', 'one v1', { text: 'one' }])
    vi.advanceTimersByTime(20_000)
    store(profile(2, 'zwölf'))
    await readAll()
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
    expect(await readAll()).toEqual(['zwölf', 'zwölf v1', { text: 'zwölf' }])
    expect(keysOf(getWithMetadata)).toEqual([[key]])
  })

  it('do not parse what is unchanged', async () => {
    const { getWithMetadata, env } = kvOf(profile(1, 'one'))
    const readAll = async () => [await read(env), await read(env, '1.0'), await readProfile(id, env, ctx)]
    const before = await readAll()
    vi.advanceTimersByTime(20_000)
    const parse = vi.spyOn(JSON, 'parse')
    await readAll()
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
    expect([await readAll(), parse.mock.calls.length]).toEqual([before, 0])
    expect(keysOf(getWithMetadata)).toEqual([[key]])
  })

  it('fetch at most 32 values of agents with one request', async () => {
    const ids = Array.from({ length: 70 }, (_, index) => `${id}-${index}`)
    const { getWithMetadata, env } = kvWith(Object.fromEntries(ids.map(id => [`card:${id}`, envelope(1, id)])))
    for (const id of ids) await readDocument(id, '1.0', env, ctx)
    vi.advanceTimersByTime(20_000)
    for (const id of ids) await readDocument(id, '1.0', env, ctx)
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
    expect(keysOf(getWithMetadata).map(keys => keys.length)).toEqual([32, 32, 6])
    expect(ids.map(id => getCachedDocument(id, '1.0')?.etag)).toEqual(ids.map(id => `"${id} v1"`))
  })

  it('fetch a value of more than 64 KiB by itself, and notice that an agent was removed', async () => {
    const large = `${id}-large`
    const stored = { [key]: envelope(1, 'one'), [`card:${large}`]: envelope(1, 'x'.repeat(64 * 1024)) }
    const { getWithMetadata, env, stored: kv } = kvWith(stored)
    const ids = [id, large]
    for (const each of ids) await readDocument(each, '1.0', env, ctx)
    vi.advanceTimersByTime(20_000)
    for (const each of ids) kv[`card:${each}`] = tombstone(2)
    for (const each of ids) await readDocument(each, '1.0', env, ctx)
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
    expect(ids.map(each => getCachedDocument(each, '1.0'))).toEqual([null, null])
    expect(getWithMetadata.mock.calls.slice(2).map(([keys]) => keys)).toEqual([`card:${large}`, key])
  })

  it('go on with the next request if the one that collected them was cancelled', async () => {
    const ids = [id, `${id}-next`]
    const { getWithMetadata, env } = kvWith(Object.fromEntries(ids.map(id => [`card:${id}`, envelope(1, id)])))
    for (const each of ids) await readDocument(each, '1.0', env, ctx)
    vi.advanceTimersByTime(20_000)
    vi.spyOn(globalThis, 'setTimeout').mockReturnValueOnce(undefined as never)
    await read(env, '1.0')
    vi.advanceTimersByTime(2 * BATCH_DELAY_MS)
    await readDocument(`${id}-next`, '1.0', env, ctx)
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
    expect(keysOf(getWithMetadata)).toEqual([[key, `${key}-next`]])
  })

  it('never replace what was written in this isolate meanwhile', async () => {
    const { env, store } = kvOf(profile(1, 'one'))
    await read(env)
    await readProfile(id, env, ctx)
    vi.advanceTimersByTime(20_000)
    store(profile(2, 'two'))
    await read(env)
    await readProfile(id, env, ctx)
    cacheEnvelope(id, profile(3, 'three'))
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
    expect([await read(env), await readProfile(id, env, ctx)]).toEqual(['three', { text: 'three' }])
  })

  it('log a failed request, and leave what is cached', async () => {
    const { getWithMetadata, env } = kvOf(profile(1, 'one'))
    await read(env)
    await readProfile(id, env, ctx)
    vi.advanceTimersByTime(20_000)
    await read(env)
    await readProfile(id, env, ctx)
    getWithMetadata.mockRejectedValueOnce(unavailable)
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
    expect(vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(line)['calling_card.key'])).toEqual([
      `${id}/agent-card.json`,
      id,
    ])
    expect([getCachedDocument(id, 'agent-card.json')?.etag, await readProfile(id, env, ctx)]).toEqual([
      '"one"',
      { text: 'one' },
    ])
    expect(getWithMetadata).toHaveBeenCalledTimes(3)
  })
})

describe('readExtended', () => {
  const extended = (seq: number, text: string) => withDocuments(seq, { '1.0': representation(text) })
  const readTier = async (env: Env, tier: string) => {
    const document = await readExtended({ id, tier, name: '1.0' }, env, ctx)
    return document && Buffer.from(document.body).toString()
  }

  it('returns the card of the requested tier, read from KV once while it is fresh, and caches no public card', async () => {
    const [base, gold, silver] = ['base', 'gold', 'silver'].map(tier => `extended:${id}:${tier}`) as [
      string,
      string,
      string,
    ]
    const { getWithMetadata: get, env } = kvWith({ [base]: extended(1, 'base'), [gold]: extended(1, 'gold') })
    const texts: (string | null)[] = []
    for (const tier of ['base', 'gold', 'gold', 'silver', 'silver']) texts.push(await readTier(env, tier))
    expect(texts).toEqual(['base', 'gold', 'gold', null, null])
    expect(get.mock.calls.map(([key]) => key)).toEqual([base, gold, silver])
    cacheExtended(id, 'base', extended(2, 'private'))
    expect(getCachedDocument(id, '1.0')).toBeUndefined()
  })

  it('shows a write at once, and no older revision that KV still returns', async () => {
    const { env } = kvWith({ [`extended:${id}:base`]: extended(1, 'one') })
    await readTier(env, 'base')
    cacheExtended(id, 'base', extended(2, 'two'))
    expire()
    expect(await readTier(env, 'base')).toBe('two')
    cacheExtended(id, 'base', tombstone(3))
    expect(await readTier(env, 'base')).toBeNull()
  })

  it('shows no card of an agent that was removed', async () => {
    cacheExtended(id, 'base', extended(1, 'one'))
    cacheRemoved(id, { outcome: 'removed', seq: 2, published: true, removedTiers: ['base'], changed: [] })
    expect(await readTier(kvWith({}).env, 'base')).toBeNull()
  })
})

describe('readProfile', () => {
  const card = { name: 'A', description: 'B', url: 'https://a.example/a2a' }
  const { profile } = compileCard(card)
  const document = (value: object) => representation(JSON.stringify(value))

  it('reads KV and parses the profile once while it is fresh', async () => {
    const { getWithMetadata: get, env } = kvOf(withDocuments(1, { '1.0': document(card), profile: document(profile) }))
    const first = await readProfile(id, env, ctx)
    expect(first).toEqual(profile)
    expect(await readProfile(id, env, ctx)).toBe(first)
    expect(get).toHaveBeenCalledTimes(1)
  })

  it('shows a write at once, and no older revision that KV still returns', async () => {
    const { env } = kvOf(withDocuments(1, { profile: document(profile) }))
    await readProfile(id, env, ctx)
    cacheEnvelope(id, withDocuments(2, { profile: document({ ...profile, route: 'closed' }) }))
    expire()
    expect(await readProfile(id, env, ctx)).toEqual({ ...profile, route: 'closed' })
    cacheEnvelope(id, tombstone(3))
    expect(await readProfile(id, env, ctx)).toBeNull()
    expect(await readProfile(`no-${id}`, env, ctx)).toBeNull()
  })
})

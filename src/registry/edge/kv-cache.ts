import { log, serviceUnavailable } from '../../http/start.ts'
import { redactKey } from '../kv-format.ts'
import { ClockCache } from './clock-cache.ts'

/**
 * The value of a key, null for none, its revision `seq`, and the length of the text that it was parsed from. A lower
 * `seq` never replaces a higher one.
 */
export type Versioned<Value> = { value: Value | null; seq: number; length?: number }

type CacheEntry<Value> = Versioned<Value> & { revalidateAt: number; expires: number; size: number }

type SizeOf<Value> = (key: string, value: Value | null, length: number) => number
type Load<Value> = (key: string, env: Env) => Promise<Versioned<Value>>

/** An entry older than this is still served, and read again in the background. */
const REVALIDATE_AFTER_MS = 20_000
/** An entry older than this is read again first. With the 30 s of KV's own cache, a value is a minute old at most. */
const MAX_AGE_MS = 30_000

/** A read that takes longer may never end, so other requests stop waiting for it. */
const READ_TIMEOUT_MS = 5_000
const MAX_POLL_INTERVAL_MS = 32

/** Caches values of KV in the memory of this isolate. Every reader of one kind of value shares one instance. */
export class KvCache<Value> {
  readonly #entries: ClockCache<CacheEntry<Value>>
  readonly #sizeOf: SizeOf<Value>
  readonly #load: Load<Value>
  readonly #readsSince = new Map<string, number>()

  constructor(maxSize: number, sizeOf: SizeOf<Value>, load: Load<Value>) {
    this.#entries = new ClockCache(maxSize)
    this.#sizeOf = sizeOf
    this.#load = load
  }

  /** Returns a value from memory or KV, null for none. A promise only if it is not cached. */
  get(key: string, env: Env, ctx: ExecutionContext): Value | null | Promise<Value | null> {
    const cached = this.getFresh(key)
    return cached === undefined ? this.fetch(key, env, ctx) : cached
  }

  /** Returns a fresh value, null for one that is known to be absent, or undefined: then call `fetch`. */
  getFresh(key: string): Value | null | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.revalidateAt > Date.now() ? entry.value : undefined
  }

  /** Returns the last known value, however old. */
  peek(key: string): Versioned<Value> | undefined {
    return this.#entries.get(key)
  }

  /** Stores a value unless a newer one is known, and returns the newer of the two, which then counts as fresh. */
  put(key: string, { value, seq, length = 0 }: Versioned<Value>): Value | null {
    const entry = this.#entries.get(key)
    if (entry !== undefined && entry.seq > seq) {
      renew(entry)
      return entry.value
    }
    this.#entries.set(key, renew({ value, seq, revalidateAt: 0, expires: 0, size: this.#sizeOf(key, value, length) }))
    return value
  }

  /** Returns the cached value, or reads it once: others poll, since a Worker cannot await another request's I/O. */
  async fetch(key: string, env: Env, ctx: ExecutionContext): Promise<Value | null> {
    const entry = this.#entries.get(key)
    if (entry !== undefined && entry.expires > Date.now()) {
      if (!this.#isBeingRead(key)) void this.#startRead(key, env, ctx)
      return entry.value
    }
    for (let pause = 1; this.#isBeingRead(key); pause = Math.min(2 * pause, MAX_POLL_INTERVAL_MS)) {
      await new Promise(resolve => setTimeout(resolve, pause))
      const cached = this.getFresh(key)
      if (cached !== undefined) return cached
    }
    return this.#startRead(key, env, ctx)
  }

  /** Continues the read if this request is cancelled, so that others need not start over. */
  #startRead(key: string, env: Env, ctx: ExecutionContext): Promise<Value | null> {
    const reading = this.#read(key, env)
    ctx.waitUntil(reading.catch(() => undefined))
    return reading
  }

  #isBeingRead(key: string): boolean {
    const since = this.#readsSince.get(key)
    return since !== undefined && Date.now() - since < READ_TIMEOUT_MS
  }

  async #read(key: string, env: Env): Promise<Value | null> {
    const since = Date.now()
    this.#readsSince.set(key, since)
    try {
      return this.put(key, await this.#load(key, env))
    } catch (error) {
      log('error', 'kv-read-failed', { 'calling_card.key': redactKey(key), 'exception.message': String(error) })
      // While KV is unavailable, the last known value is served, however old.
      const entry = this.#entries.get(key)
      if (entry === undefined) throw serviceUnavailable()
      return renew(entry).value
    } finally {
      if (this.#readsSince.get(key) === since) this.#readsSince.delete(key)
    }
  }
}

const renew = <Entry extends { revalidateAt: number; expires: number }>(entry: Entry): Entry => {
  const now = Date.now()
  entry.revalidateAt = now + REVALIDATE_AFTER_MS
  entry.expires = now + MAX_AGE_MS
  return entry
}

import { log, serviceUnavailable } from '../../http/start.ts'
import { type KvKind, keyOf, redactKey } from '../kv-format.ts'
import { ClockCache } from './clock-cache.ts'
import { BATCH_DELAY_MS, MAX_BATCHED_BYTES, type ReadValue, readInBatch, readOne } from './kv-reader.ts'

/** A value, null for none, and the length of the text that it was parsed from. */
type Parsed<Value> = { value: Value | null; length?: number }

/** The value of a key, its number of bytes in KV, if known, and its revision `seq`: a lower one never replaces it. */
export type Versioned<Value> = Parsed<Value> & { seq: number; bytes?: number }

type CacheEntry<Value> = Required<Omit<Versioned<Value>, 'length'>> & {
  revalidateAt: number
  expires: number
  size: number
}

type SizeOf<Value> = (key: string, value: Value | null, length: number) => number

/** Where the values of a cache are in KV, and how their bytes are parsed; or a function that loads them. */
type Source<Value> =
  | { keyOf: (key: string) => string; parse: (bytes: ArrayBuffer, key: string) => Parsed<Value> }
  | ((key: string, env: Env) => Promise<Value | null>)

/** Returns the source of values whose texts are under the keys of one kind. */
export const textSource = <Value>(kind: KvKind, parse: (text: string) => Value): Source<Value> => ({
  keyOf: name => keyOf(kind, name),
  parse: bytes => {
    const text = new TextDecoder().decode(bytes)
    return { value: parse(text), length: text.length }
  },
})

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
  readonly #source: Source<Value>
  readonly #readsSince = new Map<string, number>()

  constructor(maxSize: number, sizeOf: SizeOf<Value>, source: Source<Value>) {
    this.#entries = new ClockCache(maxSize)
    this.#sizeOf = sizeOf
    this.#source = source
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
  put(key: string, { value, seq, length = 0, bytes = Number.POSITIVE_INFINITY }: Versioned<Value>): Value | null {
    const entry = this.#entries.get(key)
    if (entry !== undefined && entry.seq > seq) return renew(entry).value
    const size = this.#sizeOf(key, value, length)
    this.#entries.set(key, renew({ value, seq, bytes, revalidateAt: 0, expires: 0, size }))
    return value
  }

  /** Returns the cached value, or reads it once: others poll, since a Worker cannot await another request's I/O. */
  async fetch(key: string, env: Env, ctx: ExecutionContext): Promise<Value | null> {
    const entry = this.#entries.get(key)
    if (entry !== undefined && entry.expires > Date.now()) {
      if (!this.#isBeingRead(key)) this.#readInBackground(key, entry, env, ctx)
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

  /** Reads a value together with others that are due, if it is small and there is time for that. */
  #readInBackground(key: string, { bytes, expires }: CacheEntry<Value>, env: Env, ctx: ExecutionContext): void {
    const now = Date.now()
    const source = this.#source
    const isAlone = bytes > MAX_BATCHED_BYTES || expires - now < 2 * BATCH_DELAY_MS
    if (isAlone || typeof source === 'function') return void this.#startRead(key, env, ctx)
    this.#readsSince.set(key, now)
    const start = (read: ReadValue) => this.#read(key, env, read).catch(() => undefined)
    readInBatch({ key: source.keyOf(key), start }, env, ctx)
  }

  #isBeingRead(key: string): boolean {
    const since = this.#readsSince.get(key)
    return since !== undefined && Date.now() - since < READ_TIMEOUT_MS
  }

  async #read(key: string, env: Env, read?: ReadValue): Promise<Value | null> {
    const since = Date.now()
    const source = this.#source
    const known = this.#entries.get(key)
    this.#readsSince.set(key, since)
    try {
      if (typeof source === 'function') return this.put(key, { value: await source(key, env), seq: 0 })
      const found = await (read ?? readOne(source.keyOf(key), env))(known?.seq)
      if (found) {
        const bytes = found.bytes.byteLength
        return this.put(key, {
          ...(bytes > 0 ? source.parse(found.bytes, key) : { value: null }),
          seq: found.seq,
          bytes,
        })
      }
    } catch (error) {
      log('error', 'kv-read-failed', { 'calling_card.key': redactKey(key), 'exception.message': String(error) })
    } finally {
      if (this.#readsSince.get(key) === since) this.#readsSince.delete(key)
    }
    // It is unchanged, or KV is unavailable: then the last known value is served, however old.
    const entry = this.#entries.get(key) ?? known
    if (entry === undefined) throw serviceUnavailable()
    return renew(entry).value
  }
}

const renew = <Entry extends { revalidateAt: number; expires: number }>(entry: Entry): Entry => {
  const now = Date.now()
  entry.revalidateAt = now + REVALIDATE_AFTER_MS
  entry.expires = now + MAX_AGE_MS
  return entry
}

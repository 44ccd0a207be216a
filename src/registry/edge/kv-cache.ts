import { serviceUnavailable } from '../../http/errors.ts'
import { log } from '../../http/log.ts'
import { type ChangesText, kvCacheSeconds, redactKey } from '../kv-format.ts'

import { ClockCache } from './clock-cache.ts'

/** What KV or a write says of a key: its value, or null for none, as of a `seq`; a lower one never replaces a higher. */
export type Versioned<Value> = { value: Value | null; seq: number }

/** `asOf`: when it was known to be the newest; it is taken for that until it `expires`. In ms since 1970. */
type Known<Value> = Versioned<Value> & { asOf: number; expires: number; size: number }

/** Whether what was the newest `asOf` a moment is still so at a later one: that moment, or undefined where nobody can tell. */
type Unchanged = (key: string, seq: number, asOf: number) => number | undefined

/** How long a fact is taken from memory, and from KV's own edge cache: together, a minute at most. */
const memoryMilliseconds = 30_000

/** A read that takes longer may never end, and others must not wait for it. In ms. */
const patience = 5_000
/** How long who waits for another's read may look away. In ms. */
const longestPause = 32

/** What one isolate knows of KV's keys, and the reads under way. */
export class KvCache<Value> {
  readonly #memory: ClockCache<Known<Value>>
  readonly #sizeOf: (key: string, value: Value | null) => number
  readonly #unchanged: Unchanged | undefined
  readonly #reads = new Map<string, number>()

  constructor(most: number, sizeOf: (key: string, value: Value | null) => number, unchanged?: Unchanged) {
    this.#memory = new ClockCache(most)
    this.#sizeOf = sizeOf
    this.#unchanged = unchanged
  }

  /** A value that is fresh; null: known to be none; undefined: ask KV. */
  getFresh(key: string): Value | null | undefined {
    const known = this.#memory.get(key)
    if (known === undefined) return undefined
    if (known.expires > Date.now()) return known.value
    const asOf = this.#unchanged?.(key, known.seq, known.asOf)
    if (asOf === undefined || asOf + memoryMilliseconds <= Date.now()) return undefined
    known.asOf = asOf
    known.expires = asOf + memoryMilliseconds
    return known.value
  }

  /** Whether there is a value, be it too old. */
  has(key: string): boolean {
    return this.#memory.get(key) !== undefined
  }

  /** What was known last of a key, be it too old. */
  peek(key: string): Versioned<Value> | undefined {
    return this.#memory.get(key)
  }

  /** Takes in a fact, unless what is known is newer: then that holds for as long again. Returns what holds. */
  put(key: string, { value, seq }: Versioned<Value>): Value | null {
    const known = this.#memory.get(key)
    const asOf = Date.now()
    const expires = asOf + memoryMilliseconds
    if (known !== undefined && known.seq > seq) {
      known.asOf = asOf
      known.expires = expires
      return known.value
    }
    this.#memory.set(key, { value, seq, asOf, expires, size: this.#sizeOf(key, value) })
    return value
  }

  /**
   * A value from memory, else read: by one for all who ask at the same time. The runtime forbids a request to touch another's
   * I/O, and what runs after a promise of another request counts as that one's: so the others look again until it is known.
   */
  async fetch(key: string, read: () => Promise<Versioned<Value>>, ctx: ExecutionContext): Promise<Value | null> {
    for (let pause = 1; this.#isRead(key); pause = Math.min(2 * pause, longestPause)) {
      await new Promise(resolve => setTimeout(resolve, pause))
      const held = this.getFresh(key)
      if (held !== undefined) return held
    }
    const reading = this.#read(key, read)
    // Who reads may leave; those who wait for it must not have to start anew.
    ctx.waitUntil(reading.catch(() => undefined))
    return reading
  }

  #isRead(key: string): boolean {
    const since = this.#reads.get(key)
    return since !== undefined && Date.now() - since < patience
  }

  async #read(key: string, read: () => Promise<Versioned<Value>>): Promise<Value | null> {
    const since = Date.now()
    this.#reads.set(key, since)
    try {
      return this.put(key, await read())
    } catch (error) {
      // While KV is away, what held last goes on to hold, however old.
      const known = this.#memory.get(key)
      log('error', 'kv-read-failed', { key: redactKey(key), error: String(error) })
      if (known === undefined) throw serviceUnavailable()
      known.expires = Date.now() + memoryMilliseconds
      return known.value
    } finally {
      if (this.#reads.get(key) === since) this.#reads.delete(key)
    }
  }
}

/** KV's key for what changed lately, and its value: the newest `seq` of every agent written since a moment, in ms since 1970. */
export const changesKey = 'changes:agents'

/** What changed lately, as this isolate read it at `asOf`. */
type Changes = { since: number; seqs: ReadonlyMap<string, number>; asOf: number }

/** How long word of a write may take to all places, with a wide margin for clocks. In ms. */
const margin = 5 * 60_000

const memory = new KvCache<Changes>(1024 * 1024, (_, changes) => 100 + 64 * (changes?.seqs.size ?? 0))

/**
 * Whether what was known of an agent at a moment is known to be the newest at a later one: that moment, in ms. Many agents
 * are so kept fresh by one read, instead of one each.
 */
export const unchangedAt = (id: string, seq: number, asOf: number): number | undefined => {
  const changes = memory.getFresh(changesKey)
  return changes && changes.since <= asOf - margin && (changes.seqs.get(id) ?? 0) <= seq ? changes.asOf : undefined
}

/** A value from memory, where what changed lately says that it is fresh still; else read. What was never known is read at once. */
export const getOrRevalidate = async <Value>(
  values: KvCache<Value>,
  key: string,
  read: () => Promise<Versioned<Value>>,
  env: Env,
  ctx: ExecutionContext,
): Promise<Value | null> => {
  if (values.has(key)) {
    await readChanges(env, ctx)
    const held = values.getFresh(key)
    if (held !== undefined) return held
  }
  return values.fetch(key, read, ctx)
}

/** Reads what changed lately, unless this isolate did so a moment ago. Where KV does not tell, nothing is known of it. */
export const readChanges = async (env: Env, ctx: ExecutionContext): Promise<void> => {
  if (memory.getFresh(changesKey) !== undefined) return
  const read = async () => {
    const asOf = Date.now()
    const options = { type: 'json', cacheTtl: kvCacheSeconds } as const
    const text = await env.CARDS.get<ChangesText>(changesKey, options)
    const value = text && { since: text.since, seqs: new Map(text.seqs), asOf }
    return { value, seq: asOf }
  }
  await memory.fetch(changesKey, read, ctx).catch(() => undefined)
}

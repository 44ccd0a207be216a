import { Memory } from './memory.ts'

/** What KV or a write says of a key: its value, or null for none, as of a `seq`; a lower one never replaces a higher. */
export type Fact<Value> = { value: Value | null; seq: number }

type Known<Value> = Fact<Value> & { expires: number; size: number }

/** How long a fact is taken from memory, and from KV's own edge cache: together, a minute at most. */
const memoryMilliseconds = 30_000
export const kvCacheSeconds = 30

/** A read that takes longer may never end, and those who come later must not wait for it. */
const patience = 5_000

/** What one isolate knows of KV's keys, and the reads under way. */
export class EdgeMemory<Value> {
  readonly #memory: Memory<Known<Value>>
  readonly #sizeOf: (key: string, value: Value | null) => number
  readonly #reads = new Map<string, { read: Promise<unknown>; since: number }>()

  constructor(most: number, sizeOf: (key: string, value: Value | null) => number) {
    this.#memory = new Memory(most)
    this.#sizeOf = sizeOf
  }

  /** A value that is fresh; null: known to be none; undefined: ask KV. */
  held(key: string): Value | null | undefined {
    const known = this.#memory.get(key)
    return known !== undefined && known.expires > Date.now() ? known.value : undefined
  }

  /** Takes in a fact, unless what is known is newer: then that holds for as long again. Returns what holds. */
  learn(key: string, { value, seq }: Fact<Value>): Value | null {
    const known = this.#memory.get(key)
    const expires = Date.now() + memoryMilliseconds
    if (known !== undefined && known.seq > seq) {
      known.expires = expires
      return known.value
    }
    this.#memory.set(key, { value, seq, expires, size: this.#sizeOf(key, value) })
    return value
  }

  /** What held last, however old, for as long again: for when KV is away. Undefined where nothing is known. */
  lastResort(key: string): Value | null | undefined {
    const known = this.#memory.get(key)
    if (known !== undefined) known.expires = Date.now() + memoryMilliseconds
    return known?.value
  }

  /** Reads once for all who ask for the same at the same time. The first may leave: the read goes on without them. */
  async once<Read>(what: string, read: () => Promise<Read>, ctx: ExecutionContext): Promise<Read> {
    const under = this.#reads.get(what)
    if (under && Date.now() - under.since < patience) return under.read as Promise<Read>
    const started = { read: read(), since: Date.now() }
    const settled = started.read
      .catch(() => undefined)
      .then(() => {
        if (this.#reads.get(what) === started) this.#reads.delete(what)
      })
    this.#reads.set(what, started)
    ctx.waitUntil(settled)
    return started.read
  }
}

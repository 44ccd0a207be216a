/** Something kept in memory. `bytes` is what it takes; `expires` in ms since 1970 is for its reader to heed. */
export type Held<Value> = { value: Value; bytes: number; expires: number }

/**
 * What one isolate remembers, bounded in bytes. Eviction is second chance: an entry that was read since it was last
 * passed over stays. An expired entry is not dropped: its reader may have a use for what was last known.
 */
export class Memory<Value> {
  readonly #entries = new Map<string, Held<Value> & { read: boolean }>()
  readonly #most: number
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  /** How many bytes are held. */
  get bytes(): number {
    return this.#bytes
  }

  /** What is held under a key, expired or not. */
  get(key: string): Held<Value> | undefined {
    const entry = this.#entries.get(key)
    if (entry) entry.read = true
    return entry
  }

  /** Holds a value in the place of what was held under the key. One larger than the whole memory is not held. */
  set(key: string, entry: Held<Value>): void {
    this.#drop(key)
    if (entry.bytes > this.#most) return
    this.#entries.set(key, { ...entry, read: false })
    this.#bytes += entry.bytes
    this.#evict()
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.#most) return
      this.#drop(key)
      if (!entry.read) continue
      entry.read = false
      this.#entries.set(key, entry)
      this.#bytes += entry.bytes
    }
  }
}

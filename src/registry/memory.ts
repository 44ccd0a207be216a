/** What can be held: `bytes` is what it takes. */
export type Holdable = { readonly bytes: number }

type Slot<Held> = { held: Held; read: boolean }

/**
 * What one isolate remembers, bounded in bytes. Eviction is second chance: what was read since it was last passed over
 * stays. Whether something is too old is for its reader to judge, who may have a use for what was last known.
 */
export class Memory<Held extends Holdable> {
  readonly #slots = new Map<string, Slot<Held>>()
  readonly #most: number
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  /** How many bytes are held. */
  get bytes(): number {
    return this.#bytes
  }

  /** What is held under a key. */
  get(key: string): Held | undefined {
    const slot = this.#slots.get(key)
    if (slot === undefined) return undefined
    slot.read = true
    return slot.held
  }

  /** Holds something in the place of what was held under the key. What is larger than the whole memory is not held. */
  set(key: string, held: Held): void {
    const before = this.#slots.get(key)
    if (before) this.#bytes -= before.held.bytes
    if (held.bytes > this.#most) {
      this.#slots.delete(key)
      return
    }
    if (before) before.held = held
    else this.#slots.set(key, { held, read: false })
    this.#bytes += held.bytes
    this.#evict()
  }

  #evict(): void {
    for (const [key, slot] of this.#slots) {
      if (this.#bytes <= this.#most) return
      this.#slots.delete(key)
      if (slot.read) {
        slot.read = false
        this.#slots.set(key, slot)
      } else this.#bytes -= slot.held.bytes
    }
  }
}

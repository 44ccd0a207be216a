/**
 * A cache of limited size with the clock algorithm: evicts the oldest item that was not read. One that was read becomes
 * the newest instead, and has to be read again to stay. Items never expire: its users may still need the last known
 * value. `size` is in the unit of `maxSize`.
 */
export class ClockCache<Item extends { readonly size: number }> {
  /** The oldest first. */
  readonly #slots = new Map<string, { readonly item: Item; wasRead: boolean }>()
  /** Is always before the oldest slot: a new iterator would step over every deleted slot that the map still stores. */
  readonly #oldest = this.#slots.entries()
  readonly #maxSize: number
  #size = 0

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  get(key: string): Item | undefined {
    const slot = this.#slots.get(key)
    if (slot === undefined) return undefined
    slot.wasRead = true
    return slot.item
  }

  /** Stores an item under a key, in place of any other. An item larger than the whole cache is not stored. */
  set(key: string, item: Item): void {
    this.#size -= this.#slots.get(key)?.item.size ?? 0
    this.#slots.delete(key)
    if (item.size > this.#maxSize) return
    if (this.#size + item.size > this.#maxSize) this.#makeRoom(item.size)
    this.#slots.set(key, { item, wasRead: false })
    this.#size += item.size
  }

  #makeRoom(size: number): void {
    for (const [key, slot] of this.#oldest) {
      this.#slots.delete(key)
      if (slot.wasRead) {
        slot.wasRead = false
        this.#slots.set(key, slot)
      } else this.#size -= slot.item.size
      if (this.#size + size <= this.#maxSize) return
    }
  }
}

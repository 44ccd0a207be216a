/** A cached item; `size` is in the unit of the cache's limit. */
type Sized = { readonly size: number }

type Slot<Item> = { item: Item; wasRead: boolean }

/**
 * A cache of limited size with the clock algorithm: a hand goes round the slots and evicts those that were not read since it last
 * passed. Items never expire: its users may still need the last known value.
 */
export class ClockCache<Item extends Sized> {
  readonly #slots = new Map<string, Slot<Item>>()
  readonly #maxSize: number
  #hand: Iterator<[string, Slot<Item>]> = this.#slots.entries()
  #size = 0

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** Returns the item under a key. */
  get(key: string): Item | undefined {
    const slot = this.#slots.get(key)
    if (slot === undefined) return undefined
    slot.wasRead = true
    return slot.item
  }

  /** Stores an item under a key, in place of any other. An item larger than the whole cache is not stored. */
  set(key: string, item: Item): void {
    const slot = this.#slots.get(key)
    if (slot) this.#size -= slot.item.size
    if (item.size > this.#maxSize) {
      this.#slots.delete(key)
      return
    }
    if (slot) slot.item = item
    else this.#slots.set(key, { item, wasRead: false })
    this.#size += item.size
    while (this.#size > this.#maxSize) this.#advance(key)
  }

  /** Moves the hand by one slot. New items stand at the end: at the one that needs the space, the hand starts over. */
  #advance(newest: string): void {
    const { done, value } = this.#hand.next()
    if (done || value[0] === newest) {
      this.#hand = this.#slots.entries()
      return
    }
    const [key, slot] = value
    if (slot.wasRead) slot.wasRead = false
    else {
      this.#slots.delete(key)
      this.#size -= slot.item.size
    }
  }
}

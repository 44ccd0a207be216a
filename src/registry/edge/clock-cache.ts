/** What can be held: `size` is what it takes, in the units of the bound. */
type Holdable = { readonly size: number }

type Slot<Held> = { held: Held; read: boolean }

/**
 * What one isolate remembers, bounded by the sum of sizes. Eviction is a clock's: a hand goes round, and what was read since
 * it last passed stays. Whether something is too old is for its reader to judge, who may have a use for what was last known.
 */
export class ClockCache<Held extends Holdable> {
  readonly #slots = new Map<string, Slot<Held>>()
  readonly #most: number
  #hand: Iterator<[string, Slot<Held>]> = this.#slots.entries()
  #size = 0

  constructor(most: number) {
    this.#most = most
  }

  /** The sum of what is held. */
  get size(): number {
    return this.#size
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
    const slot = this.#slots.get(key)
    if (slot) this.#size -= slot.held.size
    if (held.size > this.#most) {
      this.#slots.delete(key)
      return
    }
    if (slot) slot.held = held
    else this.#slots.set(key, { held, read: false })
    this.#size += held.size
    while (this.#size > this.#most) this.#turn(key)
  }

  /** Moves the hand by one. Newcomers stand at the end: having come to the one that needs the room, it starts over. */
  #turn(newcomer: string): void {
    const { done, value } = this.#hand.next()
    if (done || value[0] === newcomer) {
      this.#hand = this.#slots.entries()
      return
    }
    const [key, slot] = value
    if (slot.read) slot.read = false
    else {
      this.#slots.delete(key)
      this.#size -= slot.held.size
    }
  }
}

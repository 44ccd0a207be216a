import { type Pointer, pointer, tokens } from './pointer.ts'
import type { Note } from './report.ts'

/** What reading a card leaves behind: where each canonical field came from, and what was changed on the way. */
export class Reading {
  readonly converted: Note[] = []
  readonly filled: Note[] = []
  readonly #places = new Map<Pointer, Pointer>()

  /** Says that the canonical field `canonical` was authored at `authored`. */
  moved(canonical: Pointer, authored: Pointer): void {
    this.#places.set(canonical, authored)
  }

  /** Where a canonical field was authored, or would have been. */
  authored(canonical: Pointer): Pointer {
    const path = tokens(canonical)
    for (let length = path.length; length > 0; length--) {
      const authored = this.#places.get(pointer(...path.slice(0, length)))
      if (authored !== undefined) return authored + pointer(...path.slice(length))
    }
    return canonical
  }

  /** Notes that a value was read in another form. */
  convert(authored: Pointer, message: string): void {
    this.converted.push({ pointer: authored, message })
  }

  /** Notes that a field was left out by the author and is filled. */
  fill(canonical: Pointer, message: string): void {
    this.filled.push({ pointer: this.authored(canonical), message })
  }
}

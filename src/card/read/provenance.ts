import type { Pointer } from '../../json/json.ts'
import type { CardError, Note } from '../model/report.ts'

/** What reading a card leaves behind: where each canonical field came from, what was changed on the way, what is wrong. */
export class Provenance {
  readonly converted: Note[] = []
  readonly filled: Note[] = []
  /** Wrong types in fields that the canonical card has no place for. The schema finds the others. */
  readonly errors: CardError[] = []
  readonly #filled = new Set<Pointer>()
  readonly #places = new Map<Pointer, { sourceOf: Pointer; whole: boolean }>()

  /** Says that `canonical`, with all that it holds, was read from `source`, which can have been moved itself. */
  mapFrom(canonical: Pointer, source: Pointer): void {
    this.mapTo(canonical, this.sourceOf(source))
  }

  /** Says that `canonical`, with all that it holds, stands at `authored` in the authored card. */
  mapTo(canonical: Pointer, authored: Pointer): void {
    this.#places.set(canonical, { sourceOf: authored, whole: false })
  }

  /** Says that `canonical` and all that it holds was made of the one value at `source`. */
  mapWhole(canonical: Pointer, source: Pointer): void {
    this.#places.set(canonical, { sourceOf: this.sourceOf(source), whole: true })
  }

  /** Where a canonical field was authored, or would have been. */
  sourceOf(canonical: Pointer): Pointer {
    for (let end = canonical.length; end > 0; end = canonical.lastIndexOf('/', end - 1)) {
      const place = this.#places.get(canonical.slice(0, end))
      if (place !== undefined) return place.whole ? place.sourceOf : place.sourceOf + canonical.slice(end)
    }
    return canonical
  }

  /** Notes that a value was read in another form. */
  noteConversion(place: Pointer, message: string): void {
    this.converted.push({ pointer: this.sourceOf(place), message })
  }

  /** Notes that a field was left out by the author and is filled. */
  noteDefault(place: Pointer, message: string): void {
    this.filled.push({ pointer: this.sourceOf(place), message })
    this.#filled.add(place)
  }

  /** Whether a canonical place, or what holds it, was filled. */
  isFilled(canonical: Pointer): boolean {
    for (let end = canonical.length; end > 0; end = canonical.lastIndexOf('/', end - 1))
      if (this.#filled.has(canonical.slice(0, end))) return true
    return false
  }

  /** Notes that a field has a wrong type. */
  addError(place: Pointer, message: string): void {
    this.errors.push({ pointer: this.sourceOf(place), message })
  }
}

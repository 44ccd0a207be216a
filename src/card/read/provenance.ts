import type { Json, Pointer } from '../../json/index.ts'
import type { Finding } from '../model/index.ts'

/**
 * The record that reading a card leaves: where each canonical field came from in the authored card, what was changed
 * and what is wrong. Pointers that are passed in are canonical; those in the notes are authored.
 */
export class Provenance {
  readonly converted: Finding[] = []
  readonly filled: Finding[] = []
  /** Errors in fields that the canonical card has no schema for. */
  readonly errors: Finding[] = []
  readonly #filled = new Set<Pointer>()
  readonly #sources = new Map<Pointer, { pointer: Pointer; isWhole: boolean }>()

  /** Records that `canonical` and everything in it was read from `source`, which may itself have been mapped. */
  mapFrom(canonical: Pointer, source: Pointer): void {
    this.mapTo(canonical, this.sourceOf(source))
  }

  /** Records that `canonical` and everything in it is at `authored` in the authored card. */
  mapTo(canonical: Pointer, authored: Pointer): void {
    this.#sources.set(canonical, { pointer: authored, isWhole: false })
  }

  /** Records that `canonical` and everything in it was made from the one value at `source`, and notes the `message`. */
  mapWhole(canonical: Pointer, source: Pointer, message?: string): void {
    if (message !== undefined) this.noteConversion(source, message)
    this.#sources.set(canonical, { pointer: this.sourceOf(source), isWhole: true })
  }

  /**
   * Returns where a canonical field was authored, or would have been. With `stopsAtWhole`, a value that has no members
   * is the source of what would be in it.
   */
  readonly sourceOf = (canonical: Pointer, stopsAtWhole = true): Pointer => {
    for (const ancestor of listAncestors(canonical)) {
      const source = this.#sources.get(ancestor)
      if (source?.isWhole && stopsAtWhole) return source.pointer
      if (source !== undefined) return source.pointer + canonical.slice(ancestor.length)
    }
    return canonical
  }

  /** Notes that a value was read in another form. */
  noteConversion(canonical: Pointer, message: string): void {
    this.converted.push({ pointer: this.sourceOf(canonical), message })
  }

  /** Notes that a field is ignored because the card has another field with the same meaning. */
  noteIgnored(canonical: Pointer, other: string): void {
    this.noteConversion(canonical, `ignored: ${other} is set too, and takes precedence`)
  }

  /** Notes that a field the author left out got a default. Without a `value`, the message describes it. */
  noteDefault(canonical: Pointer, value: Json | undefined, message = `set to ${JSON.stringify(value)}`): void {
    const pointer = this.sourceOf(canonical, false)
    this.filled.push({ pointer, message, ...(value !== undefined && { change: { op: 'add', path: pointer, value } }) })
    this.#filled.add(canonical)
  }

  /** Returns whether a canonical field, or an object around it, got a default. */
  isFilled(canonical: Pointer): boolean {
    return listAncestors(canonical).some(ancestor => this.#filled.has(ancestor))
  }

  /** Adds the error of a field that has a wrong type. */
  addError(canonical: Pointer, message: string): void {
    this.errors.push({ pointer: this.sourceOf(canonical), message })
  }
}

/** Lists a pointer and those of the values around it, the innermost first, without the document. */
export const listAncestors = (pointer: Pointer): Pointer[] =>
  pointer === '' ? [] : [pointer, ...listAncestors(pointer.slice(0, pointer.lastIndexOf('/')))]

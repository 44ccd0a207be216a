import { type Pointer, pointer, tokens } from '../../src/card/pointer.ts'
import type { CardError } from '../../src/card/report.ts'
import type { Position, Problem } from './problem.ts'
import type { Source } from './source.ts'

/** Tells where in the owner's files a part of the manifest that is sent was written. */
export type Places = {
  /** An error with a pointer into the manifest, as a problem of the file that it is written in. */
  problem: (error: CardError) => Problem
}

type Place = Position & { file: string; pointer: Pointer }

/** Looks in the file first, then in the defaults that it inherits; what is missing stands where its parent is. */
export const placesOf = (source: Source, cardAt: readonly Pointer[], defaults?: Source): Places => {
  const candidates = (place: Pointer): [Source, Pointer][] => {
    const inner = /^\/card(?=\/|$)/.test(place) ? place.slice('/card'.length) : undefined
    const own: [Source, Pointer][] =
      inner === undefined ? [[source, place]] : cardAt.map(root => [source, root + inner] as [Source, Pointer])
    return defaults ? [...own, [defaults, place]] : own
  }
  const exact = (place: Pointer): Place | undefined => {
    for (const [{ file, find }, at] of candidates(place)) {
      const position = find(at)
      if (position) return { file, ...position, pointer: at }
    }
    return undefined
  }
  const first: Place = { file: source.file, line: 1, column: 1, pointer: '' }
  const nearest = (place: Pointer): Place => {
    const path = tokens(place)
    for (let length = path.length - 1; length > 0; length--) {
      const parent = pointer(...path.slice(0, length))
      const found = exact(parent)
      if (found) return { ...found, pointer: found.pointer + place.slice(parent.length) }
    }
    return { ...first, pointer: candidates(place)[0]?.[1] ?? place }
  }
  return { problem: ({ pointer: place, message }) => ({ ...(exact(place) ?? nearest(place)), message }) }
}

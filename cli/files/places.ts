import type { CardError } from '../../src/card/model/report.ts'
import { formatPointer, type Pointer, parsePointer } from '../../src/json/json.ts'
import type { Position, Problem } from './problem.ts'
import type { Source } from './source.ts'

/** Tells where in the owner's files a part of the manifest that is sent was written. */
export type Places = {
  /** An error with a pointer into the manifest, as a problem of the file that it is written in. */
  problem: (error: CardError) => Problem
}

type Place = Position & { file: string; pointer: Pointer }

/** Where in a document a place of the manifest that is made of it may be written. */
export type AuthoredAt = (place: Pointer) => Pointer[]

/** The places of a document whose card stands under any of these pointers, and all else as in the manifest. */
export const withCardAt =
  (cardAt: readonly Pointer[]): AuthoredAt =>
  place => {
    const inner = belowCard(place)
    return inner === undefined ? [place] : cardAt.map(root => root + inner)
  }

/** A place in the card of a manifest, as a pointer into the card. */
export const belowCard = (place: Pointer): Pointer | undefined =>
  /^\/card(?=\/|$)/.test(place) ? place.slice('/card'.length) : undefined

/** Looks in the file first, then in the defaults that it inherits; what is missing stands where its parent is. */
export const placesOf = (source: Source, authoredAt: AuthoredAt, defaults?: Source): Places => {
  const candidates = (place: Pointer): [Source, Pointer][] => {
    const own = authoredAt(place).map((at): [Source, Pointer] => [source, at])
    return defaults ? [...own, [defaults, place]] : own
  }
  const exact = (place: Pointer): Place | undefined => {
    for (const [{ file, find }, at] of candidates(place)) {
      const position = find(at)
      if (position) return { file, ...position, pointer: at }
    }
    return undefined
  }
  const [root = ''] = authoredAt('')
  const first: Place = { file: source.file, ...((root && source.find(root)) || { line: 1, column: 1 }), pointer: '' }
  const nearest = (place: Pointer): Place => {
    const path = parsePointer(place)
    for (let length = path.length - 1; length > 0; length--) {
      const parent = formatPointer(...path.slice(0, length))
      const found = exact(parent)
      if (found) return { ...found, pointer: found.pointer + place.slice(parent.length) }
    }
    return { ...first, pointer: candidates(place)[0]?.[1] ?? place }
  }
  return { problem: ({ pointer: place, message }) => ({ ...(exact(place) ?? nearest(place)), message }) }
}

import { intersects, type MediaRange } from './media-type.ts'

/** Media ranges, of which only those that share a type with another range are compared with it. */
export class MediaRanges {
  readonly #all: readonly MediaRange[]
  readonly #byRange: ReadonlyMap<string, readonly MediaRange[]>
  readonly #byType: ReadonlyMap<string, readonly MediaRange[]>
  readonly #wildcardsByType: ReadonlyMap<string, readonly MediaRange[]>

  constructor(ranges: readonly MediaRange[]) {
    this.#all = ranges
    this.#byRange = Map.groupBy(ranges, ({ range }) => range)
    this.#byType = Map.groupBy(ranges, topLevelType)
    this.#wildcardsByType = Map.groupBy(ranges.filter(hasAnySubtype), topLevelType)
  }

  /** Checks whether any of the ranges has media types in common with another range, as `intersects` does. */
  intersects(other: MediaRange): boolean {
    return this.#candidates(other).some(ranges => ranges?.some(range => intersects(range, other)))
  }

  #candidates(other: MediaRange): (readonly MediaRange[] | undefined)[] {
    if (other.range === '*/*') return [this.#all]
    const type = topLevelType(other)
    const ofType = hasAnySubtype(other)
      ? [this.#byType.get(type)]
      : [this.#byRange.get(other.range), this.#wildcardsByType.get(type)]
    return [...ofType, this.#wildcardsByType.get('*')]
  }
}

const topLevelType = ({ range }: MediaRange): string => range.split('/', 1)[0] ?? ''

const hasAnySubtype = ({ range }: MediaRange): boolean => range.endsWith('/*')

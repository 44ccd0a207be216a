import { test as isMediaTypeName, parse } from 'media-typer'

/** Checks whether a `Content-Type` is application/json or has the suffix +json, whatever its parameters. */
export const isJsonType = (header: string | null): boolean => {
  if (header !== null && plainJsonType.test(header)) return true
  const name = essence(header)
  return name === 'application/json' || (isMediaTypeName(name) && parse(name).suffix === 'json')
}

/** Matches the types of JSON as nearly everyone writes them: to parse one takes longer. */
const plainJsonType = /^application\/(?:[a-z\d]{1,20}\+)?json$/

/** Returns type and subtype of a `Content-Type`, in lower case and without parameters; empty if there is none. */
export const essence = (header: string | null): string => header?.split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** A mode of a card: a media type or range, in lower case; or, as in many published cards, another word. */
export type MediaRange = {
  /** `type/subtype`, either of which may be `*`; or the word. */
  range: string
  /** Without `q`. */
  parameters: [name: string, value: string][]
  /** Listed with `q=0`. */
  excluded: boolean
  isValid: boolean
}

const MAX_LENGTH = 256

/** A parameter with a token or a quoted string (RFC 9110 §5.6.6). No two repetitions match the same characters. */
const parameter = /;([^;=]*)=\s*(?:"((?:\\.|[^"\\])*)"|([^;]*))/g

/** Parses a mode. Never fails: an unknown word is a range that only the same word matches. */
export const parseMediaRange = (text: string): MediaRange => {
  const [name = ''] = text.slice(0, MAX_LENGTH).split(';', 1)
  const type = name.trim().toLowerCase()
  const { q, ...parameters } = parseParameters(text.slice(name.length, MAX_LENGTH))
  // Cards and clients use these words for any media type of a kind.
  const isKind = /^(?:text|image|audio|video|\*)$/.test(type)
  return {
    range: isKind ? `${type}/*` : type,
    parameters: Object.entries(parameters),
    excluded: q !== undefined && /^0(?:\.0*)?$/.test(q),
    isValid: /^\s*(?:[\w.+-]+|\*)\s*$/.test(name) || isMediaTypeName(name.trim().replaceAll('*', 'x')),
  }
}

const parseParameters = (text: string): Record<string, string> => {
  if (text === '') return {}
  // Reversed, so that the first of two parameters with one name wins.
  const matches = [...text.toLowerCase().matchAll(parameter)].reverse()
  return Object.fromEntries(
    matches.map(([, name = '', quoted, plain = '']) => [name.trim(), quoted?.replace(/\\(.)/g, '$1') ?? plain.trim()]),
  )
}

/** Checks whether a text can be a mode: a media type, a media range or a single word. */
export const isMediaRange = (text: string): boolean =>
  plainType.test(text) || (text.length <= MAX_LENGTH && parseMediaRange(text).isValid)

/** Matches most media types, without parameters. */
const plainType = /^[a-z]{1,20}\/[a-z][a-z\d.+-]{0,60}$/

/** Checks whether ranges share a type. Parameters count only if both have them: `text/plain` takes any charset. */
export const intersects = (left: MediaRange, right: MediaRange): boolean =>
  (isSubrange(left.range, right.range) || isSubrange(right.range, left.range)) &&
  left.parameters.every(([name, value]) => right.parameters.every(([other, its]) => other !== name || its === value))

/** Checks whether `outer` includes all of `inner`. */
export const covers = (outer: MediaRange, inner: MediaRange): boolean =>
  isSubrange(inner.range, outer.range) &&
  outer.parameters.every(([name, value]) => inner.parameters.some(([other, its]) => other === name && its === value))

/** Returns a check of whether the ranges of an `Accept` accept a mode (RFC 9110 §12.5.1). */
export const createAcceptance = (wanted: readonly MediaRange[]): ((mode: MediaRange) => boolean) => {
  const excluded = wanted.filter(range => range.excluded)
  const included = wanted.filter(
    range => !range.excluded && !excluded.some(other => covers(other, range) && covers(range, other)),
  )
  return mode => {
    const against = highestSpecificity(excluded.filter(range => covers(range, mode)))
    return highestSpecificity(included.filter(range => intersects(range, mode))) > against
  }
}

const highestSpecificity = (ranges: readonly MediaRange[]): number => Math.max(-1, ...ranges.map(specificity))

/** Returns how specific a range is: of two that apply, the more specific one decides (RFC 9110 §12.5.1). */
const specificity = ({ range, parameters }: MediaRange): number =>
  range === '*/*' ? 0 : range.endsWith('/*') ? 1 : 2 + parameters.length

const isSubrange = (inner: string, outer: string): boolean =>
  outer === '*/*' || inner === outer || (outer.endsWith('/*') && inner.startsWith(outer.slice(0, -1)))

const topLevelType = ({ range }: MediaRange): string => range.split('/', 1)[0] ?? ''

/** The key of all ranges. */
const ALL = ''

/** Media ranges, of which only those that may share a type with another range are compared with it. */
export class MediaRanges {
  /** By range, by top-level type, and those with a wildcard by `type/*`. */
  readonly #ranges = new Map<string, MediaRange[]>()

  constructor(ranges: readonly MediaRange[]) {
    for (const range of ranges) {
      const type = topLevelType(range)
      for (const key of [ALL, type, range.range.endsWith('/*') ? `${type}/*` : range.range])
        if (!this.#ranges.get(key)?.push(range)) this.#ranges.set(key, [range])
    }
  }

  /** Checks whether any of the ranges has media types in common with another range, as `intersects` does. */
  intersects(other: MediaRange): boolean {
    const type = topLevelType(other)
    const narrow = other.range.endsWith('/*') ? type : other.range
    const keys = other.range === '*/*' ? [ALL] : [narrow, `${type}/*`, '*/*']
    return keys.some(key => this.#ranges.get(key)?.some(range => intersects(range, other)))
  }
}

/** A list of modes: as they are written, and parsed once, on first use. */
export class ModeIndex {
  readonly types: ReadonlySet<string>
  #parsed: readonly MediaRange[] | undefined
  #ranges: MediaRanges | undefined

  constructor(modes: readonly string[]) {
    this.types = new Set(modes)
  }

  get parsed(): readonly MediaRange[] {
    this.#parsed ??= [...this.types].map(parseMediaRange)
    return this.#parsed
  }

  get ranges(): MediaRanges {
    this.#ranges ??= new MediaRanges(this.parsed)
    return this.#ranges
  }
}

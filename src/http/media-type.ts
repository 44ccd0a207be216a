import { test as isMediaTypeName, parse } from 'media-typer'

/** Whether a `Content-Type` says JSON: application/json, or any type whose suffix is +json; parameters do not count. */
export const isJsonType = (header: string | null): boolean => {
  if (header === 'application/json') return true
  const name = essence(header)
  if (name === 'application/json') return true
  if (!isMediaTypeName(name)) return false
  return parse(name).suffix === 'json'
}

/** The type and subtype of a `Content-Type`, in lower case and without parameters; empty where there is none. */
export const essence = (header: string | null): string => header?.split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** A mode: a media type or a range of them, lower case; or a word that is neither, as cards in the wild have them. */
export type MediaType = {
  /** `type/subtype`, either of which may be `*`; or the word. */
  range: string
  /** Without `q`. */
  parameters: [name: string, value: string][]
  /** Whether it was listed with `q=0`: as what is not wanted. */
  excluded: boolean
  /** Whether it is a media type, a range of them, or one plain word: what else it may be, nothing is of it. */
  sound: boolean
}

/** Words that cards and clients write where they mean any media type of a kind. */
const ranges: ReadonlyMap<string, string> = new Map([
  ['*', '*/*'],
  ...['text', 'image', 'audio', 'video'].map((kind): [string, string] => [kind, `${kind}/*`]),
])

/** More than a media type with a few parameters takes; what follows is not looked at. */
const longest = 256

/** One parameter of a media type, its value quoted or not (RFC 9110 §5.6.6); no two of its repetitions take the same characters. */
const parameter = /;([^;=]*)=\s*(?:"((?:\\.|[^"\\])*)"|([^;]*))/g

/** Agents and their callers name few modes, over and over. */
const known = new Map<string, MediaType>()
const mostKnown = 500

/** Reads a mode; every text is one, be it a word that only the same word matches. */
export const parseMediaRange = (text: string): MediaType => {
  const before = known.get(text)
  if (before !== undefined || text.length > longest) return before ?? read(text)
  if (known.size >= mostKnown) known.clear()
  const mode = read(text)
  known.set(text, mode)
  return mode
}

const read = (text: string): MediaType => {
  const [name = ''] = text.slice(0, longest).split(';', 1)
  const type = name.trim().toLowerCase()
  // The first of a name counts.
  const said = [...text.slice(name.length, longest).toLowerCase().matchAll(parameter)].reverse()
  const { q, ...others } = Object.fromEntries(
    said.map(([, name = '', quoted, plain = '']) => [name.trim(), quoted?.replace(/\\(.)/g, '$1') ?? plain.trim()]),
  )
  return {
    range: ranges.get(type) ?? type,
    parameters: Object.entries(others),
    excluded: q !== undefined && /^0(?:\.0*)?$/.test(q),
    sound: /^\s*(?:[\w.+-]+|\*)\s*$/.test(name) || isMediaTypeName(name.trim().replaceAll('*', 'x')),
  }
}

/** Whether a text could be a mode of anything: a media type, a range of them, or one plain word. */
export const couldBeMode = (text: string): boolean => text.length <= longest && parseMediaRange(text).sound

/**
 * Whether something could be of both. Wildcards count on either side; parameters only where both give the same one: a card
 * that says `text/plain` takes any charset, and `text/plain;charset=utf-8` is for a client that names none.
 */
export const intersects = (left: MediaType, right: MediaType): boolean =>
  (within(left.range, right.range) || within(right.range, left.range)) &&
  left.parameters.every(([name, value]) => right.parameters.every(([other, its]) => other !== name || its === value))

/** Whether all that `inner` could be is of `outer`. */
export const covers = (outer: MediaType, inner: MediaType): boolean =>
  within(inner.range, outer.range) &&
  outer.parameters.every(([name, value]) => inner.parameters.some(([other, its]) => other === name && its === value))

/** How closely a range says what it means: the closer one of two that apply decides (RFC 9110 §12.5.1). */
export const specificity = ({ range, parameters }: MediaType): number =>
  range === '*/*' ? 0 : range.endsWith('/*') ? 1 : 2 + parameters.length

const within = (inner: string, outer: string): boolean =>
  outer === '*/*' || inner === outer || (outer.endsWith('/*') && inner.startsWith(outer.slice(0, -1)))

import { isJsonObject, type Json, jsonEntries } from '../../src/json/json.ts'

/** Texts whose repetition is expensive for careless code: combining marks, invisible characters, delimiters and escapes. */
export const hostilePieces = [
  // Marks that Unicode normalization has to sort, or to decompose first.
  ...['\u0301\u0316', '\u0f73', '\u200d', '\ufe0f\ufe0f', '\u{e0100}', '\ufdfa'],
  ...['\\', '\\"', '%', '%25', '.', '/', '[', '{', '(', '"', '<', '~1'],
  ...[' ', '\n', '\r\n---', '-', ':', '@', '?', '&', ';', ',', ';a="', 'a='],
  ...['a', '1.', 'a-', 'aB', 'eyJ', 'a b ', 'http://'],
]

/** A text of ordinary words, to compare hostile texts with. */
export const harmlessPiece = 'Forecasts of rain, wind and snow. '

/** Returns a piece repeated to a number of UTF-16 units. */
export const repeatTo = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length))

/** Replaces every string in a value. `path` has the names and indexes that lead to it. */
export const mapStrings = (
  value: Json,
  map: (text: string, path: readonly (string | number)[]) => Json,
  path: readonly (string | number)[] = [],
): Json => {
  if (typeof value === 'string') return map(value, path)
  if (Array.isArray(value)) return value.map((item, index) => mapStrings(item, map, [...path, index]))
  if (!isJsonObject(value)) return value
  const members = jsonEntries(value).map(([name, member]) => [name, mapStrings(member, map, [...path, name])])
  return Object.fromEntries(members)
}

/** Adds a member with a name to every object in a value. */
export const addMember = (value: Json, name: string): Json => {
  if (Array.isArray(value)) return value.map(item => addMember(item, name))
  if (!isJsonObject(value)) return value
  const members = jsonEntries(value).map(([key, member]) => [key, addMember(member, name)])
  return { ...Object.fromEntries(members), [name]: name.slice(0, 9) }
}

/** Lists the paths of all strings in a value. */
export const stringPaths = (value: Json): string[] => {
  const paths: string[] = []
  mapStrings(value, (text, path) => {
    paths.push(path.join('/'))
    return text
  })
  return paths
}

/** Returns a value for each of its arrays that are not empty: with that array's items repeated to a number, and changed. */
export const repeatItems = (
  value: Json,
  count: number,
  change: (item: Json, index: number) => Json,
): [path: string, value: Json][] =>
  arrayPaths(value).map(path => [
    path.join('/'),
    replaceAt(value, path, items =>
      Array.from({ length: count }, (_, index) => change(items[index % items.length] ?? null, index)),
    ),
  ])

type Path = readonly (string | number)[]

const arrayPaths = (value: Json, path: Path = []): Path[] => {
  if (Array.isArray(value)) {
    const inner = value.flatMap((item, index) => arrayPaths(item, [...path, index]))
    return value.length > 0 ? [path, ...inner] : inner
  }
  return isJsonObject(value) ? jsonEntries(value).flatMap(([name, member]) => arrayPaths(member, [...path, name])) : []
}

const replaceAt = (value: Json, [first, ...rest]: Path, replace: (items: Json[]) => Json): Json => {
  if (Array.isArray(value))
    return first === undefined
      ? replace(value)
      : value.map((item, index) => (index === first ? replaceAt(item, rest, replace) : item))
  return isJsonObject(value)
    ? { ...value, [String(first)]: replaceAt(value[String(first)] ?? null, rest, replace) }
    : value
}

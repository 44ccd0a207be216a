import { isJsonObject, type Json, jsonEntries, type Pointer, parsePointer } from '../../../src/json/json.ts'

/** Returns the value at a place of a document. */
export const at = (document: Json, place: Pointer): Json | undefined =>
  parsePointer(place).reduce<Json | undefined>((value, token) => {
    if (Array.isArray(value)) return value[Number(token)]
    return isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined
  }, document)

/** Returns a copy of a document with another value at one place. */
export const withValue = <Document extends Json>(document: Document, place: Pointer, value: Json): Document => {
  // Not structuredClone, which keeps two references to one object together.
  const copy: Document = JSON.parse(JSON.stringify(document))
  const path = parsePointer(place)
  const last = path.pop() as string
  const holder = path.reduce<Json>((inner, token) => (inner as { [name: string]: Json })[token] as Json, copy)
  ;(holder as { [name: string]: Json })[last] = value
  return copy
}

/** Returns a copy of a document without the values at some places. */
export const withoutPlaces = (document: Json, places: readonly Pointer[], here = ''): Json => {
  const gone = new Set(places)
  const inner = (value: Json, place: Pointer): Json => {
    if (Array.isArray(value))
      return value.flatMap((item, index) => (gone.has(`${place}/${index}`) ? [] : [inner(item, `${place}/${index}`)]))
    if (!isJsonObject(value)) return value
    const entries = jsonEntries(value).map(([name, item]) => [name, item, place + escaped(name)] as const)
    return Object.fromEntries(
      entries.filter(([, , at]) => !gone.has(at)).map(([name, item, at]) => [name, inner(item, at)]),
    )
  }
  return inner(document, here)
}

const escaped = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

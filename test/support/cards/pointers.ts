import {
  formatPointer,
  isJsonObject,
  type Json,
  jsonEntries,
  type Pointer,
  parsePointer,
} from '../../../src/json/json.ts'

/** Returns the value at a pointer, or `undefined` if there is none. */
export const getValue = (document: Json, pointer: Pointer): Json | undefined =>
  parsePointer(pointer).reduce<Json | undefined>((value, token) => {
    if (Array.isArray(value)) return value[Number(token)]
    return isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined
  }, document)

/** Returns a copy of a document with another value at `pointer`. */
export const replaceValue = <Document extends Json>(document: Document, pointer: Pointer, value: Json): Document => {
  // structuredClone would keep one object that is referenced twice as one: changing it would change both places.
  const copy: Document = JSON.parse(JSON.stringify(document))
  const path = parsePointer(pointer)
  const last = path.pop() as string
  const parent = path.reduce<Json>((inner, token) => (inner as { [name: string]: Json })[token] as Json, copy)
  ;(parent as { [name: string]: Json })[last] = value
  return copy
}

/** Returns a copy of a document without the values at `pointers`. `prefix` is the pointer of the document itself. */
export const removeValues = (document: Json, pointers: readonly Pointer[], prefix = ''): Json => {
  const removed = new Set(pointers)
  const copy = (value: Json, pointer: Pointer): Json => {
    if (Array.isArray(value))
      return value.flatMap((item, index) =>
        removed.has(`${pointer}/${index}`) ? [] : [copy(item, `${pointer}/${index}`)],
      )
    if (!isJsonObject(value)) return value
    const entries = jsonEntries(value).map(([name, item]) => [name, item, pointer + formatPointer(name)] as const)
    return Object.fromEntries(
      entries.filter(([, , at]) => !removed.has(at)).map(([name, item, at]) => [name, copy(item, at)]),
    )
  }
  return copy(document, prefix)
}

import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  type Pointer,
  parsePointer,
} from './json.ts'

/** Applies a JSON Merge Patch (RFC 7396) and returns the result; `target` and `patch` stay unchanged. */
export function mergePatch(target: Json | undefined, patch: JsonObject): JsonObject
export function mergePatch(target: Json | undefined, patch: Json): Json
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch
  // A map, so that a member named `__proto__` is like any other.
  const merged = new Map(jsonEntries(isJsonObject(target) ? target : {}))
  for (const [name, value] of jsonEntries(patch))
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), value))
  return Object.fromEntries(merged)
}

/** Returns a list, or an empty one for any other value. */
export const asList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

/** Returns whether a value is a list that is not empty. */
export const hasItems = (value: Json | undefined): value is Json[] => Array.isArray(value) && value.length > 0

/** Returns an object, or an empty one for any other value. */
export const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})

/** Returns a copy of an object with each member mapped. Omits members that are mapped to undefined. */
export const mapMembers = (object: JsonObject, map: (value: Json, name: string) => Json | undefined): JsonObject =>
  Object.fromEntries(
    jsonEntries(object).flatMap(([name, value]) => {
      const mapped = map(value, name)
      return mapped === undefined ? [] : [[name, mapped]]
    }),
  )

/** Returns the member of an object or the item of a list with this name; undefined for none. */
export const getMember = (value: Json | undefined, name: string): Json | undefined => {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Returns the value at a place in a document; undefined for none. */
export const getAt = (document: Json, pointer: Pointer): Json | undefined =>
  parsePointer(pointer).reduce<Json | undefined>(getMember, document)

/** A string in a document. Its pointer is computed on demand, as most strings are never reported. */
export type StringValue = {
  value: string
  /** The name of the member that it is, or whose list it is in; empty for the name of a member itself. */
  name: string
  pointer: () => Pointer
}

/** Collects every string value of a document; into `names`, the name of each member, with the place of its object. */
export const collectStrings = (document: Json, names?: StringValue[]): StringValue[] => {
  const strings: StringValue[] = []
  const visit = (value: Json, name: string, pointer: () => Pointer): void => {
    if (typeof value === 'string') strings.push({ value, name, pointer })
    else if (Array.isArray(value))
      value.forEach((item, index) => {
        visit(item, name, () => pointer() + formatPointer(index))
      })
    else if (isJsonObject(value))
      for (const member of Object.keys(value)) {
        const inner = value[member]
        if (inner === undefined) continue
        names?.push({ value: member, name: '', pointer })
        visit(inner, member, () => pointer() + formatPointer(member))
      }
  }
  visit(document, '', () => '')
  return strings
}

/**
 * Serializes JSON in the canonical form of RFC 8785: without white space, the members of an object in the order of the
 * UTF-16 units of their names. JavaScript writes numbers and strings as the standard has it.
 */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = new Map(jsonEntries(value))
  const names = [...members.keys()].sort()
  return `{${names.map(name => `${JSON.stringify(name)}:${canonicalJson(members.get(name) ?? null)}`).join(',')}}`
}

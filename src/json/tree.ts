import { formatPointer, isJsonObject, type Json, type JsonObject, jsonEntries, type Pointer } from './json.ts'

/** Returns a document with a JSON Merge Patch (RFC 7396) applied. Changes neither, and `__proto__` is a name like any other. */
export function mergePatch(target: Json | undefined, patch: JsonObject): JsonObject
export function mergePatch(target: Json | undefined, patch: Json): Json
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch
  const merged = new Map(jsonEntries(isJsonObject(target) ? target : {}))
  for (const [name, value] of jsonEntries(patch))
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), value))
  return Object.fromEntries(merged)
}

/** A string somewhere in a document. The place is worked out only when it is asked for: most strings are never reported. */
export type StringValue = { value: string; name: string; pointer: () => Pointer }

/** Every string value of a document, with the name of the member that it is, or is listed in. */
export const collectStrings = (document: Json): StringValue[] => {
  const found: StringValue[] = []
  const visit = (value: Json, name: string, place: () => Pointer): void => {
    if (typeof value === 'string') found.push({ value, name, pointer: place })
    else if (Array.isArray(value))
      value.forEach((item, index) => {
        visit(item, name, () => place() + formatPointer(index))
      })
    else if (isJsonObject(value))
      for (const [member, inner] of jsonEntries(value)) visit(inner, member, () => place() + formatPointer(member))
  }
  visit(document, '', () => '')
  return found
}

import { isJsonObject, type Json } from './json.ts'

/** What a document becomes with a JSON Merge Patch (RFC 7396). Neither is changed, and no name has a meaning of its own. */
export const mergePatch = (target: Json | undefined, patch: Json): Json => {
  if (!isJsonObject(patch)) return patch
  const merged = new Map<string, Json>(Object.entries(isJsonObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch))
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), value))
  return Object.fromEntries(merged)
}

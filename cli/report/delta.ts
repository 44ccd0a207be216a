import { create, type Delta } from 'jsondiffpatch'
import { format as patchFormat } from 'jsondiffpatch/formatters/jsonpatch'
import { isJsonObject, type JsonObject } from '../../src/json/json.ts'

// Skills and the like are told apart by what names them, so that one inserted at the top does not change all others.
const differ = create({
  objectHash: item =>
    isJsonObject(item) ? String(item.id ?? item.name ?? item.url ?? JSON.stringify(item)) : undefined,
})

/** What differs between two manifests. */
export const deltaOf = (before: JsonObject, after: JsonObject): Delta => differ.diff(before, after)

/** The same as a JSON Patch (RFC 6902), for programs. */
export const patchOf = (before: JsonObject, after: JsonObject): ReturnType<typeof patchFormat> =>
  patchFormat(deltaOf(before, after))

import { create } from 'jsondiffpatch'
import { format as formatForConsole } from 'jsondiffpatch/formatters/console'
import { format as formatAsPatch } from 'jsondiffpatch/formatters/jsonpatch'
import { containsSecret } from '../../src/card/lint/index.ts'
import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  type Pointer,
} from '../../src/json/json.ts'
import { colors } from '../terminal.ts'

/** The manifests of the host and of a file. */
type Change = { before: JsonObject; after: JsonObject }

/**
 * The Worker compares cards with a smaller library; this one is too large for it, but formats for people and as JSON Patch.
 * Items of lists are identified by their names, so that a skill inserted at the top does not change all others.
 */
const differ = create({
  objectHash: item =>
    isJsonObject(item) ? String(item.id ?? item.name ?? item.url ?? JSON.stringify(item)) : undefined,
})

/** Returns what differs between two manifests, for people. */
export const diffText = (title: string, change: Change): string => {
  const { before, after } = withoutSecrets(change)
  const lines = (formatForConsole(differ.diff(before, after)) ?? '').trimEnd().split('\n')
  return [colors.bold(title), ...lines.map(line => `  ${line}`)].join('\n')
}

/** Returns what differs between two manifests as a JSON Patch (RFC 6902), for programs. */
export const toJsonPatch = (change: Change): ReturnType<typeof formatAsPatch> => {
  const { before, after } = withoutSecrets(change)
  return formatAsPatch(differ.diff(before, after))
}

/** Hides what looks like a secret. A host may have stored one before it refused them. */
const withoutSecrets = ({ before, after }: Change): Change => ({
  before: hideSecrets(before),
  after: hideSecrets(after),
})

const hideSecrets = (manifest: JsonObject): JsonObject => {
  const allowed: readonly Json[] = Array.isArray(manifest.allowSecrets) ? manifest.allowSecrets : []
  const hide = (value: Json, name: string, pointer: Pointer): Json => {
    if (typeof value === 'string') return containsSecret(value, name) && !allowed.includes(pointer) ? '[secret]' : value
    if (Array.isArray(value)) return value.map((item, index) => hide(item, name, pointer + formatPointer(index)))
    return isJsonObject(value) ? hideMembers(value, pointer) : value
  }
  const hideMembers = (object: JsonObject, pointer: Pointer): JsonObject =>
    Object.fromEntries(
      jsonEntries(object).map(([name, value]) => [name, hide(value, name, pointer + formatPointer(name))]),
    )
  return hideMembers(manifest, '')
}

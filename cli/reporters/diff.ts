import { create } from 'jsondiffpatch'
import ConsoleFormatter from 'jsondiffpatch/formatters/console'
import { format as formatAsPatch } from 'jsondiffpatch/formatters/jsonpatch'
import { hideSecret } from '../../src/card/lint/index.ts'
import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  type Pointer,
  parsePointer,
} from '../../src/json/json.ts'
import { colors, plain } from '../terminal.ts'

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

const formatter = new ConsoleFormatter()
// Its own colors depend on this process, and not on the terminal.
Object.assign(formatter, { brushes: { added: colors.green, deleted: colors.red, moved: colors.yellow } })

/** Returns what differs between two manifests, for people. */
export const diffText = (title: string, change: Change): string[] => [
  colors.bold(title),
  ...diffLines(change).map(line => `  ${line}`),
]

/** Returns the lines of the same text without its title: added ones begin with `+`, removed ones with `-`. */
export const diffLines = (change: Change): string[] => {
  const { before, after } = withoutSecrets(change)
  const delta = differ.diff(escapeNames(before), escapeNames(after))
  return (formatter.format(delta) ?? '').trimEnd().split('\n')
}

/** Returns what differs between two manifests as a JSON Patch (RFC 6902), for programs. */
export const toJsonPatch = (change: Change): ReturnType<typeof formatAsPatch> => {
  const { before, after } = withoutSecrets(change)
  return formatAsPatch(differ.diff(before, after))
}

/** Escapes line breaks in names, which are shown as they are; those of texts are escaped as JSON. */
const escapeNames = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(escapeNames)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(jsonEntries(value).map(([name, item]) => [plain(name), escapeNames(item)]))
}

/** Hides what looks like a secret. A host may have stored one before it refused them. */
const withoutSecrets = ({ before, after }: Change): Change => ({
  before: hideManifestSecrets(before),
  after: hideManifestSecrets(after),
})

const hideManifestSecrets = (manifest: JsonObject): JsonObject => {
  const allowed: readonly Json[] = Array.isArray(manifest.allowSecrets) ? manifest.allowSecrets : []
  return Object.fromEntries(
    jsonEntries(manifest).map(([name, value]) => [name, hideSecrets(value, formatPointer(name), allowed)]),
  )
}

/** Returns a value without what looks like a secret; `pointer` is where it is in a document, and `allowed` are places to keep. */
export const hideSecrets = (value: Json, pointer: Pointer, allowed: readonly Json[] = []): Json => {
  const hide = (value: Json, name: string, pointer: Pointer): Json => {
    if (typeof value === 'string') return allowed.includes(pointer) ? value : hideSecret(value, name)
    if (Array.isArray(value)) return value.map((item, index) => hide(item, name, pointer + formatPointer(index)))
    if (!isJsonObject(value)) return value
    return Object.fromEntries(
      jsonEntries(value).map(([name, item]) => [name, hide(item, name, pointer + formatPointer(name))]),
    )
  }
  return hide(value, parsePointer(pointer).findLast(token => !/^\d+$/.test(token)) ?? '', pointer)
}

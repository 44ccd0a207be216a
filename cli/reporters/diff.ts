import { createPatch, listChanges, memberOf, type PatchOperation } from '../../src/card/diff/index.ts'
import { hideSecret } from '../../src/card/lint/index.ts'
import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  type Pointer,
} from '../../src/json/index.ts'
import type { CardChange } from '../client/index.ts'
import { colors } from '../terminal.ts'

/** The manifests of the host and of a file. */
type Change = { before: JsonObject; after: JsonObject }

/** Returns what differs between two manifests, for people. */
export const diffText = (title: string, change: Change): string[] => [
  colors.bold(title),
  ...diffLines(change).map(line => `  ${line}`),
]

/** Returns the lines of the same text without its title: added ones begin with `+`, removed ones with `-`. */
export const diffLines = (change: Change): string[] => {
  const { before, after } = withoutSecrets(change)
  const lines = listChanges(before, after).map(changeText)
  return lines.length > 0 ? lines : ['only the order of items, or what looks like a secret']
}

const CHANGE_MARKS: Record<string, string> = {
  add: colors.green('+'),
  remove: colors.red('-'),
  replace: colors.yellow('~'),
}

/** Formats a change as a line for people. */
export const changeText = (change: CardChange): string => {
  const { op, pointer, omitted = [], count } = change
  if (op === 'more') return `… and ${count} more`
  const values = (['before', 'after'] as const).flatMap(side =>
    omitted.includes(side) ? ['(not shown)'] : change[side] === undefined ? [] : [JSON.stringify(change[side])],
  )
  return `${CHANGE_MARKS[op] ?? op} ${pointer} ${values.join(' → ')}`
}

/** Returns what differs between two manifests as a JSON Patch (RFC 6902), for programs. */
export const toJsonPatch = (change: Change): PatchOperation[] => {
  const { before, after } = withoutSecrets(change)
  return createPatch(before, after)
}

/** Hides what looks like a secret in the values of a change. */
export const hideSecretsInChange = ({ before, after, ...change }: CardChange): CardChange => ({
  ...change,
  ...(before !== undefined && { before: hideSecrets(before, change.pointer) }),
  ...(after !== undefined && { after: hideSecrets(after, change.pointer) }),
})

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
const hideSecrets = (value: Json, pointer: Pointer, allowed: readonly Json[] = []): Json => {
  const hide = (value: Json, name: string, pointer: Pointer): Json => {
    if (typeof value === 'string') return allowed.includes(pointer) ? value : hideSecret(value, name)
    if (Array.isArray(value)) return value.map((item, index) => hide(item, name, pointer + formatPointer(index)))
    if (!isJsonObject(value)) return value
    return Object.fromEntries(
      jsonEntries(value).map(([name, item]) => [name, hide(item, name, pointer + formatPointer(name))]),
    )
  }
  return hide(value, memberOf(pointer), pointer)
}

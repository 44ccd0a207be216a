import { createPatch, listChanges, memberOf, type PatchOperation } from '../../src/card/diff/index.ts'
import { hideSecret } from '../../src/card/lint/index.ts'
import { formatPointer, isJsonObject, type Json, type JsonObject, mapMembers } from '../../src/json/index.ts'
import type { ResponseOf } from '../client/index.ts'
import { colors } from '../terminal.ts'

type CardChange = ResponseOf<'GET /agents/:id/revisions/:seq/diff'>['manifest'][number]

type Change = { before: JsonObject; after: JsonObject }

/** Returns what differs between two manifests, for people: added lines begin with `+`, removed ones with `-`. */
export const diffLines = ({ before, after }: Change): string[] => {
  const lines = listChanges(hideManifestSecrets(before), hideManifestSecrets(after)).map(changeText)
  return lines.length > 0 ? lines : ['only the order of items, or what looks like a secret']
}

const MARKS: Record<string, string> = { add: colors.green('+'), remove: colors.red('-'), replace: colors.yellow('~') }

/** Formats a change as a line for people. */
export const changeText = (change: CardChange): string => {
  const { op, pointer, omitted = [], count } = change
  if (op === 'more') return `… and ${count} more`
  const values = (['before', 'after'] as const).flatMap(side =>
    omitted.includes(side) ? ['(not shown)'] : change[side] === undefined ? [] : [JSON.stringify(change[side])],
  )
  return `${MARKS[op] ?? op} ${pointer} ${values.join(' → ')}`
}

/** Returns what differs between two manifests as a JSON Patch (RFC 6902), for programs. */
export const toJsonPatch = ({ before, after }: Change): PatchOperation[] =>
  createPatch(hideManifestSecrets(before), hideManifestSecrets(after))

/** Hides what looks like a secret in the values of a change. */
export const hideSecretsInChange = ({ before, after, ...change }: CardChange): CardChange => ({
  ...change,
  ...(before !== undefined && { before: hideSecrets(before, change.pointer) }),
  ...(after !== undefined && { after: hideSecrets(after, change.pointer) }),
})

/** Hides what looks like a secret: a host may have stored one before it refused them. */
const hideManifestSecrets = (manifest: JsonObject): JsonObject => {
  const allowed: readonly Json[] = Array.isArray(manifest.allowSecrets) ? manifest.allowSecrets : []
  return mapMembers(manifest, (value, name) => hideSecrets(value, formatPointer(name), allowed))
}

/** Hides secrets in a value. `pointer` is where it is in a document, and `allowed` are places to keep. */
const hideSecrets = (value: Json, pointer: string, allowed: readonly Json[] = []): Json => {
  if (typeof value === 'string') return allowed.includes(pointer) ? value : hideSecret(value, memberOf(pointer))
  if (Array.isArray(value))
    return value.map((item, index) => hideSecrets(item, pointer + formatPointer(index), allowed))
  if (!isJsonObject(value)) return value
  return mapMembers(value, (item, name) => hideSecrets(item, pointer + formatPointer(name), allowed))
}

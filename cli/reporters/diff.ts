import { create } from 'jsondiffpatch'
import { format as formatForConsole } from 'jsondiffpatch/formatters/console'
import { format as formatAsPatch } from 'jsondiffpatch/formatters/jsonpatch'
import { isJsonObject, type JsonObject } from '../../src/json/json.ts'
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
export const diffText = (title: string, { before, after }: Change): string => {
  const lines = (formatForConsole(differ.diff(before, after)) ?? '').trimEnd().split('\n')
  return [colors.bold(title), ...lines.map(line => `  ${line}`)].join('\n')
}

/** Returns what differs between two manifests as a JSON Patch (RFC 6902), for programs. */
export const toJsonPatch = ({ before, after }: Change): ReturnType<typeof formatAsPatch> =>
  formatAsPatch(differ.diff(before, after))

import { agentIdPattern } from '../../card/model/constants.ts'
import type { Json } from '../../json/json.ts'
import { isDeeperThan } from '../../json/parse.ts'
import { MAX_JSON_DEPTH } from '../../limits.ts'

/** The format of an export, in the first line of each. */
export const EXPORT_FORMAT = 'calling-card-export'

/** The version of the format. A host reads files of this version only. */
export const EXPORT_VERSION = 1

/** The media type of an export: one JSON document a line. */
export const EXPORT_TYPE = 'application/x-ndjson'

/** The type of a column; a `?` may be NULL. A document is UTF-8 text that SQLite stores as bytes. */
type ColumnType = 'agent' | 'text' | 'text?' | 'json' | 'json?' | 'integer' | 'integer?' | 'document'

/** The tables of an export and their columns. The audit has its entries instead of rows. */
export const EXPORTED = {
  revisions: {
    ...{ id: 'agent', seq: 'integer', created: 'integer', origin: 'text?', manifest: 'json?' },
    ...{ made_by: 'text', author: 'text', class: 'text?', drift: 'json?' },
  },
  revision_cards: { id: 'agent', seq: 'integer', tier: 'text', card: 'json' },
  agents: {
    ...{ id: 'agent', seq: 'integer', visibility: 'text', set_name: 'text?', origin: 'text', modified: 'integer' },
    ...{ manifest_etag: 'text', summary: 'json', search_fields: 'json' },
  },
  representations: { id: 'agent', etag: 'text', names: 'json', body: 'document' },
  extended: { id: 'agent', tier: 'text', etag: 'text', names: 'json', body: 'document' },
  card_signatures: {
    ...{ id: 'agent', signers: 'text', signatures: 'json', published_seq: 'integer', resigned: 'integer' },
  },
  sources: {
    ...{ id: 'agent', source: 'json', checked: 'integer?', due: 'integer', failures: 'integer' },
    ...{ failing_since: 'integer?', failure: 'json?', published_seq: 'integer' },
  },
  fetched: { id: 'agent', name: 'text', card: 'json', validators: 'json', review: 'json?' },
  hosts: { hostname: 'text', id: 'agent', seq: 'integer', automatic: 'integer' },
  observations: { id: 'agent', day: 'integer', counts: 'json' },
  receipts: { id: 'agent', checked: 'integer', receipt: 'json' },
  tokens: { id: 'text', hash: 'text', expires: 'integer?', record: 'json' },
  changes: {
    ...{ number: 'integer', id: 'agent', seq: 'integer', kind: 'text', public_kind: 'text?', class: 'text?' },
    ...{ at: 'integer' },
  },
} as const satisfies Record<string, Record<string, ColumnType>>

/** A table of an export. */
export type ExportedTable = keyof typeof EXPORTED

/** The tables that have the state of an agent, besides `agents`. */
export const STATE_TABLES = [
  'representations',
  'extended',
  'card_signatures',
  'sources',
  'fetched',
  'hosts',
  'observations',
  'receipts',
] as const

/** Whether a name is that of an exported table. */
export const isExportedTable = (name: unknown): name is ExportedTable =>
  typeof name === 'string' && Object.hasOwn(EXPORTED, name)

/** Returns the names of a table's columns, as SQL lists them. */
export const listColumns = (table: ExportedTable): string => Object.keys(EXPORTED[table]).join(', ')

/** Whether a value is of the type of a column. */
export const fitsColumn = (value: unknown, type: ColumnType): value is string | number | null => {
  if (value === null) return type.endsWith('?')
  if (type.startsWith('integer')) return Number.isSafeInteger(value)
  if (typeof value !== 'string') return false
  // Keys of KV and names of objects are made of ids.
  if (type === 'agent') return agentIdPattern.test(value)
  return !type.startsWith('json') || parseLine(value) !== undefined
}

/** Parses JSON; undefined for any other text, and for JSON that nests too deep. */
export const parseLine = (text: string): Json | undefined => {
  if (isDeeperThan(text, MAX_LINE_DEPTH)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** A drift contains parts of manifests, and a line contains a row. */
const MAX_LINE_DEPTH = 2 * MAX_JSON_DEPTH

/** The last line of an export: how many lines are before it, and their SHA-256, line breaks included. */
export type Trailer = { end: true; lines: number; sha256: string }

/** Parses the last line of an export; undefined for any other line. */
export const parseTrailer = (line: string): Trailer | undefined => {
  const [, lines, sha256 = ''] = /^\{"end":true,"lines":(\d{1,15}),"sha256":"([0-9a-f]{64})"\}$/.exec(line) ?? []
  return lines === undefined ? undefined : { end: true, lines: Number(lines), sha256 }
}

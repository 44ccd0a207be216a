import * as v from 'valibot'
import { changeClasses } from '../../card/diff/index.ts'
import { CallProfile } from '../../card/index.ts'
import { Manifest, Source } from '../../card/manifest/index.ts'
import {
  AgentCard,
  agentIdPattern,
  hostname,
  httpUrl,
  jsonObject,
  Observations,
  record,
  representationNames,
  revisionNumber,
  StoredReceipt,
  timestamp,
  validate,
  wholeNumber,
} from '../../card/model/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { AUDITED, sha256 } from '../audit/index.ts'
import { SearchFields, SourceFailure, Summary, Validators } from '../records.ts'
import { TokenRecord } from '../token-record.ts'
import { parseLine } from './format.ts'

const text = v.string()
const count = wholeNumber(0)
/** Keys of KV and names of objects are made of ids. */
const agentId = v.pipe(text, v.regex(agentIdPattern, 'must be the id of an agent'))
const digest = v.pipe(text, v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'))
const etag = v.pipe(text, v.regex(/^"[0-9a-f]{64}"$/, 'must be an entity tag: a SHA-256 in hexadecimal, in quotes'))
const tierName = (pattern: RegExp) => v.pipe(text, v.regex(pattern, 'must be the name of a tier'))
const visibility = Manifest.entries.visibility.wrapped
const changeClass = v.nullable(v.picklist(changeClasses, 'must be breaking, additive or cosmetic'))
const changeKind = v.picklist(['registered', 'changed', 'removed'], 'must be registered, changed or removed')

/** A column of JSON. The row keeps its text. */
const json = <Output>(schema: v.GenericSchema<unknown, Output>) =>
  v.pipe(
    v.string('must be JSON, as a string'),
    v.rawTransform<string, unknown>(({ dataset, addIssue, NEVER }) => {
      const value = parseLine(dataset.value)
      if (value !== undefined) return value
      addIssue({ message: 'must be JSON' })
      return NEVER
    }),
    schema,
  )

const names = (known: readonly string[]) =>
  json(v.pipe(v.array(v.picklist(known, 'must be the name of a document')), v.nonEmpty('must name a document')))

const Drift = v.array(v.looseObject({ op: v.picklist(['add', 'remove', 'replace', 'more']), pointer: text }))

/** What is stored of the review of a served or a pending card. */
const Review = v.object({
  verification: v.exactOptional(v.looseObject({ at: timestamp, verified: v.boolean() })),
  etag: v.exactOptional(text),
  widens: v.exactOptional(v.array(v.object({ pointer: text, message: text }))),
  drift: v.exactOptional(Drift),
})

const PENDING = ['etag', 'widens', 'drift']

const table = <Entries extends v.ObjectEntries>(entries: Entries) => v.strictObject(entries, 'is not a known column')

/** The tables of an export and their columns, in which a NULL is null. The audit has its entries instead of rows. */
export const EXPORTED = {
  revisions: v.pipe(
    table({
      ...{ id: agentId, seq: revisionNumber, created: timestamp, origin: v.nullable(httpUrl) },
      // A manifest was valid when it was registered, and may not be by the rules of today.
      manifest: v.nullable(json(jsonObject())),
      made_by: v.picklist(['manifest', 'fetch', 'removal'], 'must be manifest, fetch or removal'),
      ...{ author: text, class: changeClass, drift: v.nullable(json(Drift)) },
    }),
    v.check(
      ({ made_by, manifest, origin }) =>
        made_by === 'removal' ? manifest === null && origin === null : manifest !== null && origin !== null,
      'must have a manifest and an origin, unless it is a removal',
    ),
  ),
  revision_cards: table({
    ...{ id: agentId, seq: revisionNumber, tier: tierName(/^(?:[a-z][a-z0-9-]{0,31})?$/), card: json(AgentCard) },
  }),
  agents: table({
    ...{ id: agentId, seq: revisionNumber, visibility, set_name: v.nullable(Manifest.entries.set.wrapped) },
    ...{ origin: httpUrl, modified: timestamp, manifest_etag: etag },
    summary: json(v.object({ ...Summary.entries, named: timestamp })),
    search_fields: json(v.omit(SearchFields, ['text'])),
  }),
  representations: table({ id: agentId, etag, names: names([...representationNames, 'profile']), body: text }),
  extended: table({
    ...{ id: agentId, tier: tierName(/^[a-z][a-z0-9-]{0,31}$/), etag, names: names(representationNames), body: text },
  }),
  card_signatures: table({
    ...{ id: agentId, signers: text, signatures: json(record(text)), published_seq: count, resigned: timestamp },
  }),
  sources: table({
    ...{ id: agentId, source: json(Source), checked: v.nullable(timestamp), due: timestamp, failures: count },
    ...{ failing_since: v.nullable(timestamp), failure: v.nullable(json(SourceFailure)), published_seq: count },
  }),
  fetched: v.pipe(
    table({
      ...{ id: agentId, name: v.picklist(['served', 'pending'], 'must be served or pending') },
      ...{ card: json(jsonObject()), validators: json(Validators), review: v.nullable(json(Review)) },
    }),
    v.check(
      ({ name, review }) => name === 'served' || (review !== null && PENDING.every(member => member in review)),
      'must have the review of a pending card',
    ),
  ),
  hosts: table({
    ...{ hostname, id: agentId, seq: revisionNumber, automatic: v.picklist([0, 1], 'must be 0 or 1') },
  }),
  observations: table({ id: agentId, day: count, counts: json(Observations) }),
  receipts: table({ id: agentId, checked: timestamp, receipt: json(StoredReceipt) }),
  tokens: v.pipe(
    table({ id: TokenRecord.entries.id, hash: digest, expires: v.nullable(timestamp), record: json(TokenRecord) }),
    v.check(
      ({ id, expires, record }) => record.id === id && record.expires === expires,
      'must have a record with its id and expires',
    ),
  ),
  changes: table({
    ...{ number: revisionNumber, id: agentId, seq: revisionNumber, kind: changeKind },
    ...{ public_kind: v.nullable(changeKind), class: changeClass, at: timestamp },
  }),
}

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

/** Returns the names of a table's columns. */
export const columnsOf = (table: ExportedTable): string[] => Object.keys(EXPORTED[table].entries)

/**
 * Returns the column of a row whose value no write could have stored, and what is expected of it; undefined for none.
 */
export const findRowError = (
  table: ExportedTable,
  row: JsonObject,
): { column: string; message: string } | undefined => {
  const error = findError(EXPORTED[table], row) ?? findBodyError(row)
  if (!error) return undefined
  const [, column = '', rest = ''] = /^\/?([^/]*)(.*)$/s.exec(error.pointer) ?? []
  return { column: column.slice(0, 100), message: `${rest.slice(0, 200)} ${error.message}`.trimStart() }
}

/** Profiles and cards of A2A 1.0 are parsed again, the other documents only sent. */
const findBodyError = ({ names, body, etag }: JsonObject): ReturnType<typeof findError> => {
  if (typeof names !== 'string' || typeof body !== 'string') return undefined
  if (etag !== `"${sha256(body)}"`) return { pointer: '/body', message: 'does not match its entity tag' }
  const named = JSON.parse(names) as string[]
  const schema = named.includes('profile') ? CallProfile : named.includes('1.0') ? AgentCard : jsonObject()
  return findError(v.object({ body: json(schema) }), { body })
}

/** An entry of the audit. The chain fixes its content but not its form. */
const Entry = v.object({
  time: v.pipe(
    text,
    v.check(
      time => !Number.isNaN(Date.parse(time)) && new Date(time).toISOString() === time,
      'must be a time such as 2027-01-31T12:00:00.000Z',
    ),
  ),
  ...{ actor: text, what: v.picklist(AUDITED, `must be one of ${AUDITED.join(', ')}`) },
  ...{ agent: v.exactOptional(text), seq: v.exactOptional(revisionNumber), details: v.exactOptional(jsonObject()) },
})

/** Returns what is wrong with the form of an entry of the audit; undefined for nothing. */
export const findEntryError = (entry: JsonObject): string | undefined => {
  const error = findError(Entry, entry)
  return error && `${error.pointer} ${error.message}`
}

const findError = (schema: v.GenericSchema, value: unknown) => {
  const result = validate(schema, value)
  return 'errors' in result ? result.errors[0] : undefined
}

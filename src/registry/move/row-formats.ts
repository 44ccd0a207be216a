import { base64url } from 'jose'
import * as v from 'valibot'
import { CallProfile } from '../../card/index.ts'
import { Manifest, Source } from '../../card/manifest/index.ts'
import {
  AgentCard,
  agentIdPattern,
  changeClasses,
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
import { isJsonObject, type JsonObject } from '../../json/index.ts'
import { AUDITED, sha256 } from '../audit/index.ts'
import { type PackedDocuments, unpackDocuments } from '../documents.ts'
import { SearchFields, Summary } from '../search-fields.ts'
import { SourceFailure, Validators } from '../source-record.ts'
import type { Table } from '../sql.ts'
import { EXPORTED, type ExportedTable } from '../tables/index.ts'
import { TokenRecord } from '../token-record.ts'
import { parseJson } from './format.ts'

const text = v.string()
const count = wholeNumber(0)
/** Keys of KV and names of objects are made of ids. */
const agentId = v.pipe(text, v.regex(agentIdPattern, 'must be the id of an agent'))
const digest = v.pipe(text, v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'))
const etag = v.pipe(text, v.regex(/^"[0-9a-f]{64}"$/, 'must be an entity tag: a SHA-256 in hexadecimal, in quotes'))
const flag = v.picklist([0, 1], 'must be 0 or 1')
const changeKind = v.picklist(['registered', 'changed', 'removed'], 'must be registered, changed or removed')

/** A column of JSON. The row keeps its text. */
const json = <Output>(schema: v.GenericSchema<unknown, Output>) =>
  v.pipe(
    v.string('must be JSON, as a string'),
    v.rawTransform<string, unknown>(({ dataset, addIssue, NEVER }) => {
      const value = parseJson(dataset.value)
      if (value !== undefined) return value
      addIssue({ message: 'must be JSON' })
      return NEVER
    }),
    schema,
  )

/** More than the documents of the largest card. */
const MAX_DOCUMENTS_BYTES = 16 * 1024 * 1024

const documentName = v.picklist(representationNames, 'must be the name of a document')

const Parts = v.pipe(
  v.array(v.tuple([v.pipe(v.array(documentName), v.nonEmpty('must name a document')), etag, wholeNumber(0)])),
  v.check(
    parts => parts.reduce((sum, [, , length]) => sum + length, 0) <= MAX_DOCUMENTS_BYTES,
    `must have at most ${MAX_DOCUMENTS_BYTES} bytes`,
  ),
)

const Drift = v.array(v.looseObject({ op: v.picklist(['add', 'remove', 'replace', 'more']), pointer: text }))

/** The stored review of a served or a pending card. */
const Review = v.object({
  verification: v.exactOptional(v.looseObject({ at: timestamp, verified: v.boolean() })),
  etag: v.exactOptional(text),
  widens: v.exactOptional(v.array(v.object({ pointer: text, message: text }))),
  drift: v.exactOptional(Drift),
})

/** The formats of columns, where a table has none of its own. A manifest may be invalid by the rules of today. */
const FORMATS = {
  ...{ id: agentId, seq: revisionNumber, number: revisionNumber, origin: httpUrl, author: text },
  ...{ created: timestamp, modified: timestamp, checked: timestamp, due: timestamp, failing_since: timestamp },
  ...{ resigned: timestamp, expires: timestamp, at: timestamp, published: revisionNumber, failures: count, day: count },
  ...{ visibility: Manifest.entries.visibility.wrapped, set_name: Manifest.entries.set.wrapped, hostname },
  ...{
    etag,
    manifest_etag: etag,
    hash: digest,
    tier: v.pipe(text, v.regex(/^(?:[a-z][a-z0-9-]{0,31})?$/, 'must be the name of a tier')),
  },
  ...{ manifest: json(jsonObject()), card: json(AgentCard), drift: json(Drift), source: json(Source) },
  ...{ search_fields: json(v.omit(SearchFields, ['text'])), failure: json(SourceFailure), review: json(Review) },
  ...{ validators: json(Validators), counts: json(Observations), receipt: json(StoredReceipt) },
  ...{ record: json(TokenRecord), signers: text, signatures: json(record(text)), kind: changeKind },
  summary: json(v.object({ ...Summary.entries, named: timestamp })),
  ...{ profile: json(CallProfile), parts: json(Parts), body: v.pipe(text, v.regex(/^[\w-]*$/, 'must be base64url')) },
  listed: flag,
  made_by: v.picklist(['manifest', 'fetch', 'removal'], 'must be manifest, fetch or removal'),
  name: v.picklist(['served', 'pending'], 'must be served or pending'),
  automatic: flag,
  public_kind: changeKind,
  class: v.picklist(changeClasses, 'must be breaking, additive or cosmetic'),
} satisfies Record<Column, v.GenericSchema>

type Column = { [Table in ExportedTable]: keyof (typeof EXPORTED)[Table]['columns'] }[ExportedTable]

/** The formats of columns in one table. Of the owners of host names, an export has no NULL. */
const OWN_FORMATS: Readonly<Record<string, v.GenericSchema>> = {
  'fetched.card': json(jsonObject()),
  'hosts.id': agentId,
  'tokens.id': TokenRecord.entries.id,
}

/** The rules for several columns of a row, whose JSON is parsed. */
const CHECKS: Partial<Record<string, v.CheckAction<Record<string, unknown>, string>>> = {
  revisions: v.check(({ made_by, manifest, origin }) => {
    const isRemoval = made_by === 'removal'
    return (manifest === null) === isRemoval && (origin === null) === isRemoval
  }, 'must have a manifest and an origin, unless it is a removal'),
  fetched: v.check(({ name, review }) => {
    const isReviewed = isJsonObject(review) && ['etag', 'widens', 'drift'].every(member => member in review)
    return name === 'served' || isReviewed
  }, 'must have the review of a pending card'),
  tokens: v.check(
    ({ id, expires, record }) => isJsonObject(record) && record.id === id && record.expires === expires,
    'must have a record with its id and expires',
  ),
}

const schemaOf = ({ name, columns }: Table): v.GenericSchema => {
  const entries = Object.entries(columns).map(([column, type]) => {
    const format: v.GenericSchema = FORMATS[column as Column]
    return [column, OWN_FORMATS[`${name}.${column}`] ?? (type.endsWith('?') ? v.nullable(format) : format)]
  })
  const schema = v.strictObject(Object.fromEntries(entries) as Record<string, v.GenericSchema>, 'is not a known column')
  const check = CHECKS[name]
  return check ? v.pipe(schema, check) : schema
}

/** Checks whether a name is that of an exported table. */
export const isExportedTable = (name: unknown): name is ExportedTable =>
  typeof name === 'string' && Object.hasOwn(EXPORTED, name)

const SCHEMAS = new Map<string, v.GenericSchema>(Object.values(EXPORTED).map(table => [table.name, schemaOf(table)]))

/** Returns the column of a row whose value no write could have stored, and the expected format; undefined for none. */
export const findRowError = (table: ExportedTable, row: JsonObject) => {
  const error = findError(SCHEMAS.get(table) ?? v.never(), row) ?? findDocumentError(row)
  if (!error) return undefined
  const [, column = '', rest = ''] = /^\/?([^/]*)(.*)$/s.exec(error.pointer) ?? []
  return { column: column.slice(0, 100), message: `${rest.slice(0, 200)} ${error.message}`.trimStart() }
}

/** Checks the documents of a row. Cards of A2A 1.0 are parsed again, the others only sent. */
const findDocumentError = ({ parts, body }: JsonObject): ReturnType<typeof findError> => {
  if (typeof parts !== 'string' || typeof body !== 'string') return undefined
  try {
    const packed: PackedDocuments = { parts: JSON.parse(parts), body: new Uint8Array(base64url.decode(body)) }
    for (const [name, { etag, bytes }] of Object.entries(unpackDocuments(packed))) {
      const text = new TextDecoder().decode(bytes)
      if (etag !== `"${sha256(text)}"`) return { pointer: '/body', message: `${name} does not match its entity tag` }
      const error = findError(v.object({ body: json(name === '1.0' ? AgentCard : jsonObject()) }), { body: text })
      if (error) return error
    }
    return undefined
  } catch {
    return { pointer: '/body', message: 'must be documents of the length of `parts`, compressed with Zstandard' }
  }
}

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text

/** An entry of the audit. The chain fixes its content but not its form. */
const Entry = v.object({
  time: v.pipe(text, v.check(isTime, 'must be a time such as 2027-01-31T12:00:00.000Z')),
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

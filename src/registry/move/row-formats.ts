import { base64url } from 'jose'
import * as v from 'valibot'
import { CallProfile } from '../../card/index.ts'
import { Manifest, Source } from '../../card/manifest/index.ts'
import { AgentCard, jsonObject, revisionNumber, validate } from '../../card/model/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { AUDITED, sha256 } from '../audit/index.ts'
import { type PackedDocuments, unpackDocuments } from '../documents.ts'
import type { Table } from '../sql.ts'
import { EXPORTED, type ExportedTable, json, text } from '../tables/index.ts'

const schemaOf = ({ columns, formats: create, check }: Table): v.GenericSchema => {
  const formats = create?.({ CallProfile, Manifest, Source }) ?? {}
  const entries = Object.entries(columns).map(([column, type]) => {
    const format = formats[column] ?? v.never()
    return [column, type.endsWith('?') ? v.nullable(format) : format]
  })
  const schema = v.strictObject(Object.fromEntries(entries) as Record<string, v.GenericSchema>, 'is not a known column')
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

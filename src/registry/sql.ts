import type * as v from 'valibot'
import type { CallProfile } from '../card/index.ts'
import type { Manifest, Source } from '../card/manifest/index.ts'

/** The values of a column by its type, which has a question mark if the column may be NULL. */
type Values = {
  text: string
  'text?': string | null
  integer: number
  'integer?': number | null
  /** Counts from 0. */
  count: number
  /** A key whose numbers are never used twice. */
  counter: number
  blob: ArrayBuffer
}

const SQL_TYPES: Readonly<Record<keyof Values, string>> = {
  ...{ text: 'TEXT NOT NULL', 'text?': 'TEXT', integer: 'INTEGER NOT NULL', 'integer?': 'INTEGER' },
  ...{ count: 'INTEGER NOT NULL DEFAULT 0', counter: 'INTEGER PRIMARY KEY AUTOINCREMENT', blob: 'BLOB NOT NULL' },
}

/** The schemas that only an import loads. */
type CardSchemas = { CallProfile: typeof CallProfile; Manifest: typeof Manifest; Source: typeof Source }

/**
 * What is defined of a table besides its columns: its keys, the SQL after the names of its indexes and, if it is
 * exported, what its rows may have, which only an import reads.
 */
type Definition<Columns> = {
  keys?: string
  indexes?: Readonly<Record<string, string>>
  formats?: (schemas: CardSchemas) => Readonly<Record<keyof Columns, v.GenericSchema>>
  /** A rule for several columns, whose JSON is parsed. */
  check?: v.CheckAction<Record<string, unknown>, string>
}

/** A table: its name, its columns and what else is defined of it. */
export type Table<Columns = Readonly<Record<string, keyof Values>>> = Definition<Columns> & {
  name: string
  columns: Columns
}

/** A row as a query selects it. */
export type Row<Source extends Table> = {
  [Column in keyof Source['columns']]: Values[Source['columns'][Column] & keyof Values]
}

/**
 * Result of a write. `staleKeys` changed, and stay in the outbox until they are published; `publishKeys`, by default
 * the same, are published now, which also repairs earlier failures.
 */
export type WriteResult<Value, Failure> =
  | { error: Failure }
  | { value: Value; staleKeys: readonly string[]; publishKeys?: readonly string[] }

/** Defines a table. docs/design/storage.md describes every column. */
export const defineTable = <const Columns extends Table['columns']>(
  name: string,
  columns: Columns,
  definition: Definition<Columns>,
): Table<Columns> => ({ name, columns, ...definition })

/** Creates a table and its indexes if they do not exist. `prefix` is put before the name of the table only. */
export const createTable = (sql: SqlStorage, { name, columns, keys, indexes = {} }: Table, prefix = ''): void => {
  const parts = Object.entries(columns).map(([column, type]) => `${column} ${SQL_TYPES[type]}`)
  if (keys !== undefined) parts.push(keys)
  sql.exec(`CREATE TABLE IF NOT EXISTS ${prefix}${name} (${parts.join(', ')})`)
  for (const [index, rest] of Object.entries(indexes))
    sql.exec(`CREATE INDEX IF NOT EXISTS ${index} ON ${prefix}${name} ${rest}`)
}

type NewRow<Columns> = { [Column in keyof Columns]?: SqlStorageValue | Uint8Array }

/** Creates a function that writes a row into a table. Columns that are missing have their default, or are NULL. */
const createWriter =
  (verb: string) =>
  <Columns extends Table['columns']>(sql: SqlStorage, { name }: Table<Columns>, row: NewRow<Columns>): void => {
    const columns = Object.keys(row)
    const marks = columns.map(() => '?').join(', ')
    sql.exec(`${verb} INTO ${name} (${columns.join(', ')}) VALUES (${marks})`, ...Object.values(row))
  }

/** Inserts a row. Throws if there is one with its key: history is never overwritten. */
export const insertRow = createWriter('INSERT')

/** Stores a row, in place of any other with its key. */
export const storeRow = createWriter('INSERT OR REPLACE')

/** Updates the columns of an agent's row that differ from those before: each has indexes and pages of its own. */
export const updateRow = <Columns extends Table['columns']>(
  sql: SqlStorage,
  { name }: Table<Columns>,
  before: NewRow<Columns> & { id?: string },
  row: NewRow<Columns>,
): void => {
  const changed = Object.entries(row).filter(([column, value]) => before[column] !== value)
  if (changed.length === 0) return
  const assignments = changed.map(([column]) => `${column} = ?`).join(', ')
  sql.exec(`UPDATE ${name} SET ${assignments} WHERE id = ?`, ...changed.map(([, value]) => value), before.id)
}

/** Deletes the rows of an agent from tables. */
export const deleteRows = (sql: SqlStorage, tables: readonly Table[], id: string): void => {
  for (const { name } of tables) sql.exec(`DELETE FROM ${name} WHERE id = ?`, id)
}

/** A query of a database, and the values of its parameters. */
type Query = [sql: SqlStorage, query: string, ...values: SqlStorageValue[]]

type Selected = Record<string, SqlStorageValue>

/** Returns all rows of a query. */
export const selectAll = <Columns extends Selected>(...[sql, query, ...values]: Query): Columns[] =>
  sql.exec<Columns>(query, ...values).toArray()

/** Returns the first row of a query; undefined for none. */
export const selectFirst = <Columns extends Selected>(...query: Query): Columns | undefined =>
  selectAll<Columns>(...query)[0]

/** Returns the only column of all rows of a query. */
export const selectColumn = <Value extends SqlStorageValue>(...query: Query): Value[] =>
  selectAll<Record<string, Value>>(...query).flatMap(row => Object.values(row))

/** Returns the only column of the first row of a query; undefined for no row. */
export const selectValue = <Value extends SqlStorageValue>(...query: Query): Value | undefined =>
  selectColumn<Value>(...query)[0]

/** Returns the values of a query whose only column has JSON, which this host has written. */
export const selectJson = <Value>(...query: Query): Value[] =>
  selectColumn<string>(...query).map(text => JSON.parse(text) as Value)

/** Checks whether there is a row: `from` is what follows `FROM` in a query. */
export const exists = (sql: SqlStorage, from: string, ...values: SqlStorageValue[]): boolean =>
  sql.exec<{ found: number }>(`SELECT EXISTS (SELECT 1 FROM ${from}) AS found`, ...values).one().found === 1

import { audit, refusals } from '../audit/index.ts'
import { createTable, defineTable, selectColumn } from '../sql.ts'
import { agents } from './agent-table.ts'
import { changes } from './change-table.ts'
import { observations, receipts } from './conformance-tables.ts'
import { card_signatures, documents } from './document-table.ts'
import { hosts } from './host-table.ts'
import { revision_cards, revisions } from './revision-table.ts'
import { createIndexes, search_documents } from './search-index.ts'
import { fetched, sources } from './source-table.ts'
import { tokens } from './token-table.ts'

/** The keys that are not published yet: of KV, and of other work. */
export const outbox = defineTable(
  'outbox',
  { key: 'text', version: 'integer', attempts: 'count', due: 'count' },
  { keys: 'PRIMARY KEY (key)', indexes: { outbox_by_due: '(due)' } },
)

/** Room for a removal from a database that is full: it writes a few pages before it has freed as many. */
const reserve = defineTable('reserve', { number: 'integer', bytes: 'blob' }, { keys: 'PRIMARY KEY (number)' })
const RESERVED_BYTES = 64 * 1024

/** Reserves the room again, if there is any. */
export const keepReserve = (sql: SqlStorage): void => {
  try {
    sql.exec('INSERT OR IGNORE INTO reserve (number, bytes) VALUES (1, zeroblob(?))', RESERVED_BYTES)
  } catch {
    // The database is full: the next alarm tries again.
  }
}

/** Frees the room. Returns false if that was done already. */
export const freeReserve = (sql: SqlStorage): boolean => sql.exec('DELETE FROM reserve').rowsWritten > 0

const STATE_TABLES = { documents, card_signatures, sources, fetched, hosts, observations, receipts }

/** The names of the tables that have the state of an agent, besides `agents`. */
export const STATE_TABLE_NAMES = Object.values(STATE_TABLES).map(({ name }) => name)

/** The tables of an export. The audit has its entries instead of rows. */
export const EXPORTED = { revisions, revision_cards, agents, ...STATE_TABLES, tokens, changes }

/** The name of a table of an export. */
export type ExportedTable = keyof typeof EXPORTED

/** The tables that an import replaces. */
const MOVED = [...Object.values(EXPORTED), audit]

/** Creates the tables of the Registry. The object does it itself, so that a deployment needs no further step. */
export const createTables = (sql: SqlStorage): void => {
  // No import survives a restart of the object. One that was cut off may have staged gigabytes, and has the indexes.
  const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'staged_*'"
  for (const name of selectColumn<string>(sql, query)) sql.exec(`DROP TABLE ${name}`)
  for (const table of [...MOVED, search_documents, refusals, outbox, reserve]) createTable(sql, table)
  createIndexes(sql)
  keepReserve(sql)
}

/**
 * Creates an empty table beside each one that an import replaces, as `staged_` and its name, and moves its indexes
 * there. `replaceTables` puts it in the place of the other, `createTables` drops it and restores the indexes.
 */
export const createStagedTables = (sql: SqlStorage): void => {
  for (const table of MOVED) {
    for (const index of Object.keys(table.indexes ?? {})) sql.exec(`DROP INDEX ${index}`)
    createTable(sql, table, 'staged_')
  }
}

/** Puts staged tables in the places of the others, which takes no longer for many rows. */
export const replaceTables = (sql: SqlStorage): void => {
  for (const { name } of MOVED) {
    sql.exec(`DROP TABLE ${name}`)
    sql.exec(`ALTER TABLE staged_${name} RENAME TO ${name}`)
  }
}

import { isJsonObject, type JsonObject } from '../../json/index.ts'
import { MAX_STORED_CHANGES } from '../../limits.ts'
import { type AuditEntry, appendEntry, findChainBreak, sha256, storeEntry } from '../audit/index.ts'
import { createStagedTables, createTables, replaceTables } from '../tables/index.ts'
import { lastChange } from './export.ts'
import { EXPORT_FORMAT, EXPORT_VERSION, parseLine } from './format.ts'
import {
  columnsOf,
  EXPORTED,
  type ExportedTable,
  findEntryError,
  findRowError,
  isExportedTable,
  STATE_TABLES,
} from './tables.ts'

/** Why an import is refused. Nothing is changed then. */
export type ImportRejection =
  | { outcome: 'invalid'; message: string }
  | { outcome: 'too-new'; version: number }
  | { outcome: 'not-empty' }
  /** Another import has begun, or the object was restarted. */
  | { outcome: 'interrupted' }

/** What an import has brought. */
export type Imported = { outcome: 'imported'; agents: number; revisions: number; tokens: number }

/** Thrown within this module only. */
class Rejected extends Error {
  readonly rejection: ImportRejection

  constructor(rejection: ImportRejection) {
    super(rejection.outcome)
    this.rejection = rejection
  }
}

const invalid = (message: string): Rejected => new Rejected({ outcome: 'invalid', message })

const TABLES = [...(Object.keys(EXPORTED) as ExportedTable[]), 'audit'] as const

/**
 * The lines of an export, staged in tables of their own until all are there and fit together. Then these take the
 * places of the tables of the Registry, which must be empty.
 */
export class Staging {
  readonly #sql: SqlStorage
  readonly #withTokens: boolean
  #lines = 0
  #newest: AuditEntry | undefined

  constructor(sql: SqlStorage, withTokens = true) {
    this.#sql = sql
    this.#withTokens = withTokens
    this.drop()
    createStagedTables(sql, TABLES)
    // The entity tags of the revisions' manifests, and whether the audit has an entry for each.
    sql.exec(
      'CREATE TABLE staged_manifests (id TEXT, seq INTEGER, etag TEXT, audited INTEGER DEFAULT 0, PRIMARY KEY (id, seq))',
    )
  }

  /** Deletes all that is staged. */
  drop(): void {
    createTables(this.#sql)
  }

  /** Stages complete lines. Returns why they are refused. */
  add(lines: string): ImportRejection | undefined {
    return catchRejection(() => {
      for (const line of lines.split('\n').slice(0, -1)) {
        this.#lines++
        this.#addLine(this.#parse(line))
      }
      return undefined
    })
  }

  /** Makes what is staged the content of the Registry, in the caller's transaction. */
  commit(actor: string, digest: string): Imported | ImportRejection {
    return catchRejection(() => {
      if (!isEmpty(this.#sql)) throw new Rejected({ outcome: 'not-empty' })
      this.#check()
      const sql = this.#sql
      const discarded = this.#count('audit')
      replaceTables(sql, TABLES)
      const counts = {
        agents: this.#count('agents'),
        revisions: this.#count('revisions'),
        tokens: this.#count('tokens'),
      }
      const changes = lastChange(sql)
      appendEntry(sql, { actor, what: 'registry-imported', details: { ...counts, changes, sha256: digest, discarded } })
      this.drop()
      return { outcome: 'imported', ...counts } as const
    })
  }

  #parse(line: string): JsonObject {
    const value = parseLine(line)
    if (!isJsonObject(value)) throw invalid(`Line ${this.#lines} is not a JSON object`)
    return value
  }

  #addLine(line: JsonObject): void {
    const { table, row, replace } = line
    if (this.#lines === 1) checkHeader(line)
    else if (typeof replace === 'string') this.#deleteState(replace)
    else if (!isJsonObject(row)) throw invalid(`Line ${this.#lines} is no line of an export`)
    else if (table === 'audit') this.#addEntry(row)
    else if (isExportedTable(table)) this.#addRow(table, row)
    else throw invalid(`Line ${this.#lines} is of an unknown table`)
  }

  #addRow(table: ExportedTable, row: JsonObject): void {
    const error = findRowError(table, row)
    if (error) {
      const place = error.column === '' ? '' : `, column ${error.column}`
      throw invalid(`Line ${this.#lines}, table ${table}${place}: ${error.message}`)
    }
    if (table === 'tokens' && !this.#withTokens) return
    if (table === 'tokens') this.#checkHash(row)
    const columns = columnsOf(table)
    this.#sql.exec(
      `INSERT OR REPLACE INTO staged_${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      ...columns.map(name => toSqlValue(name, row[name] as string | number | null)),
    )
    const { id, seq, manifest } = row
    const etag = typeof manifest === 'string' ? `"${sha256(manifest)}"` : null
    if (table === 'revisions')
      this.#sql.exec(
        'INSERT OR REPLACE INTO staged_manifests (id, seq, etag) VALUES (?, ?, ?)',
        String(id),
        Number(seq),
        etag,
      )
    if (table === 'changes')
      this.#sql.exec('DELETE FROM staged_changes WHERE number <= ?', Number(row.number) - MAX_STORED_CHANGES)
  }

  #checkHash({ id, hash }: JsonObject): void {
    const values = [String(id), String(hash)]
    if (this.#sql.exec('SELECT 1 FROM staged_tokens WHERE id <> ? AND hash = ?', ...values).toArray().length > 0)
      throw invalid(`Token "${id}" and another one have the same hash`)
  }

  /** Deletes what is staged of an agent, unless that is nothing: its row in `agents` is the first of it. */
  #deleteState(id: string): void {
    const { rowsWritten } = this.#sql.exec('DELETE FROM staged_agents WHERE id = ?', id)
    if (rowsWritten === 0) return
    for (const table of STATE_TABLES) this.#sql.exec(`DELETE FROM staged_${table} WHERE id = ?`, id)
  }

  #addEntry(row: JsonObject): void {
    const problem = findChainBreak(row, this.#newest) ?? findEntryError(row)
    if (problem !== undefined) throw invalid(`Line ${this.#lines}, an entry of the audit, does not fit: ${problem}`)
    const entry = row as AuditEntry
    this.#newest = entry
    storeEntry(this.#sql, entry, 'staged_audit')
    const { agent, seq, details } = entry
    if (agent === undefined || seq === undefined) return
    const etag = typeof details?.manifest === 'string' ? details.manifest : null
    this.#sql.exec('UPDATE staged_manifests SET audited = 1 WHERE id = ? AND seq = ? AND etag IS ?', agent, seq, etag)
  }

  /** Checks that the parts of the file belong together: an audit of another host, for example, does not fit the revisions. */
  #check(): void {
    if (this.#lines === 0) throw invalid('The file is empty')
    const [agent] = this.#sql
      .exec<{ id: string }>(
        `SELECT id FROM staged_agents WHERE NOT EXISTS (
          SELECT 1 FROM staged_manifests AS m WHERE m.id = staged_agents.id AND m.seq = staged_agents.seq
            AND m.etag = manifest_etag) LIMIT 1`,
      )
      .toArray()
    if (agent) throw invalid(`The newest revision of agent "${agent.id}" is missing`)
    const [revision] = this.#sql
      .exec<{ id: string; seq: number }>('SELECT id, seq FROM staged_manifests WHERE NOT audited LIMIT 1')
      .toArray()
    if (revision) throw invalid(`The audit has no entry for revision ${revision.seq} of agent "${revision.id}"`)
    for (const table of STATE_TABLES) {
      const [row] = this.#sql
        .exec<{ id: string }>(`SELECT id FROM staged_${table} WHERE id NOT IN (SELECT id FROM staged_agents) LIMIT 1`)
        .toArray()
      if (row) throw invalid(`The table ${table} has agent "${row.id}", which is not in the table agents`)
    }
  }

  #count(table: (typeof TABLES)[number]): number {
    return this.#sql.exec<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`).one().count
  }
}

/** Whether nothing was ever registered and no token issued. Writes that were refused, and an import of nothing, do not count. */
export const isEmpty = (sql: SqlStorage): boolean =>
  sql
    .exec<{ used: number }>(
      `SELECT EXISTS (SELECT 1 FROM revisions) OR EXISTS (SELECT 1 FROM tokens)
        OR EXISTS (SELECT 1 FROM audit WHERE what NOT IN ('write-refused', 'registry-imported')) AS used`,
    )
    .one().used === 0

const catchRejection = <Result>(work: () => Result): Result | ImportRejection => {
  try {
    return work()
  } catch (error) {
    if (error instanceof Rejected) return error.rejection
    throw error
  }
}

const checkHeader = ({ format, version }: JsonObject): void => {
  if (format !== EXPORT_FORMAT || typeof version !== 'number') throw invalid('This is no export of a Calling Card host')
  if (version > EXPORT_VERSION) throw new Rejected({ outcome: 'too-new', version })
  if (version !== EXPORT_VERSION) throw invalid('The version of the export is unknown')
}

const toSqlValue = (column: string, value: string | number | null): SqlStorageValue =>
  column === 'body' ? (new TextEncoder().encode(String(value)).buffer as ArrayBuffer) : value

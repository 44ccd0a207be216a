import { base64url } from 'jose'
import { isJsonObject, type JsonObject, parseHostJson } from '../../json/index.ts'
import { MAX_STORED_CHANGES } from '../../limits.ts'
import { type AuditEntry, appendEntry, findChainBreak, sha256, storeEntry } from '../audit/index.ts'
import { EVENTS_KEY, keyOf } from '../kv-format.ts'
import { exists, selectFirst, selectValue, storeRow, type Table, type WriteResult } from '../sql.ts'
import * as tables from '../tables/index.ts'
import { EXPORT_FORMAT, EXPORT_VERSION } from './format.ts'
import { findEntryError, findRowError, isExportedTable } from './row-formats.ts'

/** The reason why an import is refused. Nothing is changed then. */
type ImportRejection =
  | { outcome: 'invalid'; message: string }
  | { outcome: 'too-new'; version: number }
  | { outcome: 'not-empty' }
  /** Another import has begun, or the object was restarted. */
  | { outcome: 'interrupted' }

/** The numbers of what an import has brought. */
export type Imported = { outcome: 'imported'; agents: number; revisions: number; tokens: number }

/** A step of an import. The first one ends any other import. `digest` is the SHA-256 of the file. */
export type ImportStep =
  | { step: 'begin'; withTokens: boolean }
  | { step: 'stage'; session: string; lines: string }
  | { step: 'commit'; session: string; actor: string; digest: string }
  | { step: 'abandon'; session: string }

/** The result of a step. `session` names the import that began. */
export type ImportReply =
  | { outcome: 'begun'; session: string }
  | { outcome: 'staged' | 'abandoned' }
  | Imported
  | ImportRejection

/** The end of an import that is refused. */
export class Rejected extends Error {
  readonly rejection: ImportRejection

  constructor(rejection: ImportRejection) {
    super(rejection.outcome)
    this.rejection = rejection
  }
}

const invalid = (message: string): Rejected => new Rejected({ outcome: 'invalid', message })

/** The lines of an export, staged until all are there and fit together. Then they replace the empty tables. */
export class Staging {
  readonly #sql: SqlStorage
  readonly #withTokens: boolean
  #lines = 0
  #newest: AuditEntry | undefined

  constructor(sql: SqlStorage, withTokens = true) {
    this.#sql = sql
    this.#withTokens = withTokens
    tables.createTables(sql)
    tables.createStagedTables(sql)
    // The entity tags of the revisions' manifests, and whether the audit has an entry for each.
    sql.exec(`CREATE TABLE staged_manifests (
      id TEXT, seq INTEGER, etag TEXT, audited INTEGER DEFAULT 0, PRIMARY KEY (id, seq))`)
  }

  /** Stages complete lines. */
  add(lines: string): void {
    for (const text of lines.split('\n').slice(0, -1)) {
      this.#lines++
      const line = parseHostJson(text)
      if (!isJsonObject(line)) throw invalid(`Line ${this.#lines} is not a JSON object`)
      this.#addLine(line)
    }
  }

  /** Makes what is staged the content of the Registry, in the caller's transaction. */
  commit(actor: string, digest: string): Imported {
    const sql = this.#sql
    if (!isEmpty(sql)) throw new Rejected({ outcome: 'not-empty' })
    this.#check()
    const discarded = this.#count('audit')
    tables.replaceTables(sql)
    const counts = { agents: this.#count('agents'), revisions: this.#count('revisions'), tokens: this.#count('tokens') }
    const details = { ...counts, changes: tables.lastChange(sql), sha256: digest, discarded }
    appendEntry(sql, { actor, what: 'registry-imported', details })
    tables.createTables(sql)
    return { outcome: 'imported', ...counts }
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

  #addRow(table: tables.ExportedTable, row: JsonObject): void {
    const error = findRowError(table, row)
    if (error) {
      const place = error.column === '' ? '' : `, column ${error.column}`
      throw invalid(`Line ${this.#lines}, table ${table}${place}: ${error.message}`)
    }
    const isToken = table === 'tokens'
    if (isToken && !this.#withTokens) return
    if (isToken && exists(this.#sql, 'staged_tokens WHERE id <> ? AND hash = ?', String(row.id), String(row.hash)))
      throw invalid(`Token "${row.id}" and another one have the same hash`)
    const values = row as Record<string, string | number | null>
    const body = 'body' in row && { body: base64url.decode(String(row.body)) }
    const target: Table = { ...tables.EXPORTED[table], name: `staged_${table}` }
    storeRow(this.#sql, target, { ...values, ...body })
    const { id = null, seq = null, manifest } = values
    const etag = typeof manifest === 'string' ? `"${sha256(manifest)}"` : null
    if (table === 'revisions')
      this.#sql.exec('INSERT OR REPLACE INTO staged_manifests (id, seq, etag) VALUES (?, ?, ?)', id, seq, etag)
    if (table === 'changes')
      this.#sql.exec('DELETE FROM staged_changes WHERE number <= ?', Number(row.number) - MAX_STORED_CHANGES)
  }

  /** Deletes what is staged of an agent, unless that is nothing: its row in `agents` is the first of it. */
  #deleteState(id: string): void {
    if (this.#sql.exec('DELETE FROM staged_agents WHERE id = ?', id).rowsWritten === 0) return
    for (const table of tables.STATE_TABLE_NAMES) this.#sql.exec(`DELETE FROM staged_${table} WHERE id = ?`, id)
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

  /** Checks that the parts of the file belong together: an audit of another host, for example, does not fit. */
  #check(): void {
    if (this.#lines === 0) throw invalid('The file is empty')
    const unmatched = `SELECT id FROM staged_agents WHERE NOT EXISTS (
      SELECT 1 FROM staged_manifests AS m WHERE m.id = staged_agents.id AND m.seq = staged_agents.seq
        AND m.etag = manifest_etag) LIMIT 1`
    const agent = selectValue<string>(this.#sql, unmatched)
    if (agent !== undefined) throw invalid(`The newest revision of agent "${agent}" is missing`)
    const query = 'SELECT id, seq FROM staged_manifests WHERE NOT audited LIMIT 1'
    const revision = selectFirst<{ id: string; seq: number }>(this.#sql, query)
    if (revision) throw invalid(`The audit has no entry for revision ${revision.seq} of agent "${revision.id}"`)
    for (const table of tables.STATE_TABLE_NAMES) {
      const unknown = `SELECT id FROM staged_${table} WHERE id NOT IN (SELECT id FROM staged_agents) LIMIT 1`
      const id = selectValue<string>(this.#sql, unknown)
      if (id !== undefined) throw invalid(`The table ${table} has agent "${id}", which is not in the table agents`)
    }
  }

  #count(table: string): number {
    return selectValue<number>(this.#sql, `SELECT COUNT(*) FROM ${table}`) ?? 0
  }
}

/** Checks that nothing was registered and no token issued. Refused writes and an import of nothing do not count. */
const isEmpty = (sql: SqlStorage): boolean =>
  !exists(sql, 'revisions') &&
  !exists(sql, 'tokens') &&
  !exists(sql, "audit WHERE what NOT IN ('write-refused', 'registry-imported')")

const checkHeader = ({ format, version }: JsonObject): void => {
  if (format !== EXPORT_FORMAT || typeof version !== 'number') throw invalid('This is no export of a Calling Card host')
  if (version > EXPORT_VERSION) throw new Rejected({ outcome: 'too-new', version })
  if (version !== EXPORT_VERSION) throw invalid('The version of the export is unknown')
}

/** The import that has not ended, by the storage of its object. */
const imports = new WeakMap<DurableObjectStorage, { session: string; staging: Staging }>()

/** The object that imports, with its outbox and the function that runs a write. */
type Importer = {
  storage: DurableObjectStorage
  publisher: { enqueueMissing: (query: string) => void }
  write: (work: () => WriteResult<Imported, never>) => Promise<Imported>
}

/** Runs a step of an import. One that is refused ends the import and deletes what is staged. */
export const runImportStep = async (
  step: ImportStep,
  { storage, publisher, write }: Importer,
): Promise<ImportReply> => {
  if (step.step === 'begin') {
    if (!isEmpty(storage.sql)) return { outcome: 'not-empty' }
    const session = crypto.randomUUID()
    imports.set(storage, { session, staging: new Staging(storage.sql, step.withTokens) })
    return { outcome: 'begun', session }
  }
  const current = imports.get(storage)
  if (current?.session !== step.session) return { outcome: 'interrupted' }
  const end = (): void => {
    tables.createTables(storage.sql)
    imports.delete(storage)
  }
  if (step.step === 'abandon') {
    end()
    return { outcome: 'abandoned' }
  }
  try {
    if (step.step === 'stage') {
      storage.transactionSync(() => current.staging.add(step.lines))
      return { outcome: 'staged' }
    }
    const imported = await write(() => {
      const value = current.staging.commit(step.actor, step.digest)
      for (const query of KEYS) publisher.enqueueMissing(`SELECT ${query}`)
      return { value, staleKeys: [] }
    })
    // The commit has dropped what was staged, and nothing after it may fail.
    imports.delete(storage)
    return imported
  } catch (error) {
    if (!(error instanceof Rejected)) throw error
    end()
    return error.rejection
  }
}

/** The keys of the outbox for KV, the search index and the objects of remote cards, each as the rest of a query. */
const KEYS = [
  `'${EVENTS_KEY}' AS key`,
  `'${keyOf('card', '')}' || id AS key FROM agents`,
  `'${keyOf('extended', '')}' || id || ':' || tier AS key FROM documents WHERE tier <> ''`,
  `'${keyOf('host', '')}' || hostname AS key FROM hosts`,
  `'${keyOf('receipt', '')}' || id AS key FROM receipts`,
  `'${keyOf('token', '')}' || hash AS key FROM tokens`,
  `'${keyOf('refresh', '')}' || id AS key FROM sources`,
  `'${keyOf('index', '')}' || id AS key FROM agents`,
]

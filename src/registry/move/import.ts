import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { AUDITED, type AuditEntry, findChainBreak, sha256 } from '../audit/chain.ts'
import { appendEntry, storeEntry } from '../audit/log.ts'
import { agentKeys, hostKey, type Representation, tokenKey } from '../kv-format.ts'
import type { Registration, SearchFields, Summary } from '../records.ts'
import { toSearchText } from '../search-fields.ts'
import {
  EXPORT_FORMAT,
  EXPORT_VERSION,
  EXPORTED,
  type ExportedTable,
  fitsColumn,
  isExportedTable,
  listColumns,
  parseLine,
  STATE_TABLES,
} from './format.ts'

/** Why an import is refused. Nothing is changed then. */
export type ImportRejection =
  | { outcome: 'invalid'; message: string }
  | { outcome: 'too-new'; version: number }
  | { outcome: 'not-empty' }
  /** Another import has begun, or the object was restarted. */
  | { outcome: 'interrupted' }

/** What an import has brought. */
export type Imported = { outcome: 'imported'; agents: number; revisions: number; tokens: number }

/** An agent as the search index needs it. */
type IndexedAgent = Pick<Registration, 'id' | 'visibility' | 'set' | 'summary' | 'search' | 'representations'>

/** What the object does with the agents of an import besides storing them. */
export type ImportHooks = {
  indexAgent: (sql: SqlStorage, agent: IndexedAgent) => void
  refreshKey: (id: string) => string
}

/** Thrown within this module only. */
class Rejected extends Error {
  readonly rejection: ImportRejection

  constructor(rejection: ImportRejection) {
    super(rejection.outcome)
    this.rejection = rejection
  }
}

const invalid = (message: string): Rejected => new Rejected({ outcome: 'invalid', message })

const TABLES = Object.keys(EXPORTED) as ExportedTable[]

/** The columns by which a row of a staged table replaces another. */
const KEYS: Record<ExportedTable, string> = {
  revisions: 'id, seq',
  revision_cards: 'id, seq, tier',
  agents: 'id',
  representations: 'id, etag',
  extended: 'id, tier, etag',
  sources: 'id',
  fetched: 'id, name',
  hosts: 'hostname',
  observations: 'id, day',
  tokens: 'id',
  changes: 'number',
}

/**
 * The lines of an export, staged in tables of their own until all are there and fit together. Then one transaction copies them into the
 * tables of the Registry, which must be empty.
 */
export class Staging {
  readonly #sql: SqlStorage
  #lines = 0
  #newest: AuditEntry | undefined

  constructor(sql: SqlStorage) {
    this.#sql = sql
    this.drop()
    for (const table of TABLES) {
      sql.exec(`CREATE TABLE staged_${table} AS SELECT ${listColumns(table)} FROM ${table} WHERE FALSE`)
      sql.exec(`CREATE UNIQUE INDEX staged_${table}_key ON staged_${table} (${KEYS[table]})`)
    }
    sql.exec('CREATE INDEX staged_hosts_by_agent ON staged_hosts (id)')
    sql.exec(
      'CREATE TABLE staged_audit (number INTEGER PRIMARY KEY, agent TEXT, seq INTEGER, manifest TEXT, entry TEXT)',
    )
    sql.exec('CREATE INDEX staged_audit_by_agent ON staged_audit (agent, seq)')
  }

  /** Deletes all that is staged. */
  drop(): void {
    for (const table of [...TABLES, 'audit']) this.#sql.exec(`DROP TABLE IF EXISTS staged_${table}`)
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

  /** Copies what is staged into the tables of the Registry, in the caller's transaction. Returns the keys to publish, too. */
  commit(actor: string, digest: string, hooks: ImportHooks): ImportRejection | { value: Imported; keys: string[] } {
    return catchRejection(() => {
      if (!isEmpty(this.#sql)) throw new Rejected({ outcome: 'not-empty' })
      this.#check()
      const sql = this.#sql
      for (const table of TABLES) {
        const columns = listColumns(table)
        sql.exec(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM staged_${table}`)
      }
      const discarded = this.#count('audit')
      sql.exec('DELETE FROM audit')
      for (const { entry } of sql.exec<{ entry: string }>('SELECT entry FROM staged_audit ORDER BY number'))
        storeEntry(sql, JSON.parse(entry) as AuditEntry)
      for (const agent of indexedAgents(sql)) hooks.indexAgent(sql, agent)
      const counts = {
        agents: this.#count('agents'),
        revisions: this.#count('revisions'),
        tokens: this.#count('tokens'),
      }
      appendEntry(sql, { actor, what: 'registry-imported', details: { ...counts, sha256: digest, discarded } })
      this.drop()
      return { value: { outcome: 'imported', ...counts } as const, keys: listKeys(sql, hooks) }
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
    const columns = Object.entries(EXPORTED[table])
    const isComplete = Object.keys(row).length === columns.length
    if (!isComplete || !columns.every(([name, type]) => fitsColumn(row[name], type)))
      throw invalid(`Line ${this.#lines} has other columns than the table ${table}`)
    const values = columns.map(([name, type]) => toSqlValue(row[name] as string | number | null, type))
    if ('body' in row && row.etag !== `"${sha256(String(row.body))}"`)
      throw invalid(`Line ${this.#lines} has a document that does not match its entity tag`)
    this.#sql.exec(
      `INSERT OR REPLACE INTO staged_${table} (${listColumns(table)}) VALUES (${columns.map(() => '?').join(', ')})`,
      ...values,
    )
  }

  #deleteState(id: string): void {
    for (const table of ['agents', ...STATE_TABLES]) this.#sql.exec(`DELETE FROM staged_${table} WHERE id = ?`, id)
  }

  #addEntry(row: JsonObject): void {
    const problem = findChainBreak(row, this.#newest) ?? findFormError(row)
    if (problem !== undefined) throw invalid(`Line ${this.#lines}, an entry of the audit, does not fit: ${problem}`)
    const entry = row as AuditEntry
    this.#newest = entry
    const manifest = entry.details?.manifest
    this.#sql.exec(
      'INSERT INTO staged_audit (number, agent, seq, manifest, entry) VALUES (?, ?, ?, ?, ?)',
      ...[entry.number, entry.agent ?? null, entry.seq ?? null],
      ...[typeof manifest === 'string' ? manifest : null, JSON.stringify(entry)],
    )
  }

  /** Checks that the parts of the file belong together: an audit of another host, for example, does not fit the revisions. */
  #check(): void {
    if (this.#lines === 0) throw invalid('The file is empty')
    const [agent] = this.#sql
      .exec<{ id: string }>(
        `SELECT id FROM staged_agents WHERE NOT EXISTS (
          SELECT 1 FROM staged_revisions r WHERE r.id = staged_agents.id AND r.seq = staged_agents.seq) LIMIT 1`,
      )
      .toArray()
    if (agent) throw invalid(`The newest revision of agent "${agent.id}" is missing`)
    const revisions = this.#sql.exec<{ id: string; seq: number; manifest: string | null }>(
      'SELECT id, seq, manifest FROM staged_revisions',
    )
    for (const { id, seq, manifest } of revisions) {
      const [entry] = this.#sql
        .exec<{ manifest: string | null }>('SELECT manifest FROM staged_audit WHERE agent = ? AND seq = ?', id, seq)
        .toArray()
      const etag = manifest === null ? null : `"${sha256(manifest)}"`
      if (entry?.manifest !== etag) throw invalid(`The audit has no entry for revision ${seq} of agent "${id}"`)
    }
  }

  #count(table: ExportedTable | 'audit'): number {
    return this.#sql.exec<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`).one().count
  }
}

/** Whether nothing was ever registered and no token issued. Writes that were refused do not count. */
export const isEmpty = (sql: SqlStorage): boolean =>
  sql
    .exec<{ used: number }>(
      `SELECT EXISTS (SELECT 1 FROM revisions) OR EXISTS (SELECT 1 FROM tokens)
        OR EXISTS (SELECT 1 FROM audit WHERE what <> 'write-refused') AS used`,
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

const toSqlValue = (value: string | number | null, type: string): SqlStorageValue =>
  type === 'document' ? (new TextEncoder().encode(String(value)).buffer as ArrayBuffer) : value

/** The chain fixes the content of an entry but not its form. */
const findFormError = ({ time, actor, what, agent, seq, details }: JsonObject): string | undefined => {
  const isWhole =
    typeof time === 'string' &&
    !Number.isNaN(Date.parse(time)) &&
    typeof actor === 'string' &&
    AUDITED.some(known => known === what) &&
    (agent === undefined || typeof agent === 'string') &&
    (seq === undefined || Number.isSafeInteger(seq)) &&
    (details === undefined || isJsonObject(details))
  return isWhole ? undefined : 'a member has another type'
}

/** Reads what the search index needs of every agent; the text of the skills is in its card. */
function* indexedAgents(sql: SqlStorage): Iterable<IndexedAgent> {
  type Row = {
    id: string
    visibility: string
    ownSet: string | null
    summary: string
    fields: string
    body: ArrayBuffer | null
  }
  const rows = sql.exec<Row>(
    `SELECT id, visibility, set_name AS ownSet, summary, search_fields AS fields, (
        SELECT body FROM representations r WHERE r.id = agents.id AND EXISTS (
          SELECT 1 FROM json_each(r.names) WHERE value = '1.0')) AS body FROM agents ORDER BY id`,
  )
  for (const { id, visibility, ownSet, summary, fields, body } of rows) {
    const card = body === null ? undefined : (JSON.parse(new TextDecoder().decode(body)) as JsonObject)
    const representation: Representation = { etag: '', bytes: new Uint8Array() }
    yield {
      id,
      visibility: visibility === 'public' ? 'public' : 'internal',
      set: ownSet ?? undefined,
      summary: JSON.parse(summary) as Summary,
      search: {
        ...(JSON.parse(fields) as Omit<SearchFields, 'text'>),
        text: card ? toSearchText(readSkills(card)) : '',
      },
      representations: card ? { '1.0': representation } : {},
    }
  }
}

const readSkills = ({ skills }: JsonObject): { description: string; examples: string[] }[] =>
  (Array.isArray(skills) ? skills.filter(isJsonObject) : []).map(({ description, examples }) => ({
    description: typeof description === 'string' ? description : '',
    examples: Array.isArray(examples) ? examples.filter(example => typeof example === 'string') : [],
  }))

/** Lists what KV and the objects of remote cards must learn. */
const listKeys = (sql: SqlStorage, { refreshKey }: ImportHooks): string[] => {
  const select = (query: string) => sql.exec<{ name: string; id: string }>(query).toArray()
  const tiers = Map.groupBy(select('SELECT DISTINCT tier AS name, id FROM extended'), ({ id }) => id)
  return [
    ...select('SELECT id AS name, id FROM agents').flatMap(({ id }) =>
      agentKeys(id, [], tiers.get(id)?.map(({ name }) => name) ?? []),
    ),
    ...select('SELECT hostname AS name, id FROM hosts').map(({ name }) => hostKey(name)),
    ...select('SELECT hash AS name, id FROM tokens').map(({ name }) => tokenKey(name)),
    ...select('SELECT id AS name, id FROM sources').map(({ id }) => refreshKey(id)),
  ]
}

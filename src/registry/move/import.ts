import * as v from 'valibot'
import { StoredReceipt } from '../../card/model/receipt.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { AUDITED, type AuditEntry, findChainBreak, sha256 } from '../audit/chain.ts'
import { appendEntry, storeEntry } from '../audit/log.ts'
import { agentKeys, EVENTS_KEY, hostKey, type Representation, receiptKey, tokenKey } from '../kv-format.ts'
import type { Registration, SearchFields, Summary } from '../records.ts'
import { toSearchText } from '../search-fields.ts'
import { lastChange } from './export.ts'
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
type ImportHooks = {
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

/** The entity tags of manifests: those of the revisions, and those that the audit has of them. */
const MANIFEST_TABLES = ['staged_manifests', 'staged_audited_manifests'] as const

/** The columns by which a row of a staged table replaces another. */
const KEYS: Record<ExportedTable, string> = {
  revisions: 'id, seq',
  revision_cards: 'id, seq, tier',
  agents: 'id',
  representations: 'id, etag',
  extended: 'id, tier, etag',
  card_signatures: 'id',
  sources: 'id',
  fetched: 'id, name',
  hosts: 'hostname',
  observations: 'id, day',
  receipts: 'id',
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
    sql.exec('CREATE TABLE staged_audit AS SELECT * FROM audit WHERE FALSE')
    for (const table of MANIFEST_TABLES)
      sql.exec(`CREATE TABLE ${table} (id TEXT, seq INTEGER, etag TEXT, PRIMARY KEY (id, seq))`)
  }

  /** Deletes all that is staged. */
  drop(): void {
    const tables = [...TABLES, 'audit'].map(table => `staged_${table}`)
    for (const table of [...tables, ...MANIFEST_TABLES]) this.#sql.exec(`DROP TABLE IF EXISTS ${table}`)
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
      sql.exec('INSERT INTO audit SELECT * FROM staged_audit ORDER BY number')
      for (const agent of indexedAgents(sql)) hooks.indexAgent(sql, agent)
      const counts = {
        agents: this.#count('agents'),
        revisions: this.#count('revisions'),
        tokens: this.#count('tokens'),
      }
      const changes = lastChange(sql)
      appendEntry(sql, { actor, what: 'registry-imported', details: { ...counts, changes, sha256: digest, discarded } })
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
    if (table === 'agents' && !isListable(row))
      throw invalid(`Line ${this.#lines} has a summary or search fields of another form`)
    if (table === 'receipts' && !v.is(StoredReceipt, JSON.parse(String(row.receipt))))
      throw invalid(`Line ${this.#lines} has a receipt of another form`)
    const values = columns.map(([name, type]) => toSqlValue(row[name] as string | number | null, type))
    if ('body' in row && row.etag !== `"${sha256(String(row.body))}"`)
      throw invalid(`Line ${this.#lines} has a document that does not match its entity tag`)
    this.#sql.exec(
      `INSERT OR REPLACE INTO staged_${table} (${listColumns(table)}) VALUES (${columns.map(() => '?').join(', ')})`,
      ...values,
    )
    const { id, seq, manifest } = row
    const etag = typeof manifest === 'string' ? `"${sha256(manifest)}"` : null
    if (table === 'revisions') this.#addManifest('staged_manifests', String(id), Number(seq), etag)
  }

  #addManifest(table: (typeof MANIFEST_TABLES)[number], id: string, seq: number, etag: Json = null): void {
    const values = [id, seq, typeof etag === 'string' ? etag : null]
    this.#sql.exec(`INSERT OR REPLACE INTO ${table} (id, seq, etag) VALUES (?, ?, ?)`, ...values)
  }

  #deleteState(id: string): void {
    for (const table of ['agents', ...STATE_TABLES]) this.#sql.exec(`DELETE FROM staged_${table} WHERE id = ?`, id)
  }

  #addEntry(row: JsonObject): void {
    const problem = findChainBreak(row, this.#newest) ?? findFormError(row)
    if (problem !== undefined) throw invalid(`Line ${this.#lines}, an entry of the audit, does not fit: ${problem}`)
    const entry = row as AuditEntry
    this.#newest = entry
    storeEntry(this.#sql, entry, 'staged_audit')
    const { agent, seq, details } = entry
    if (agent !== undefined && seq !== undefined)
      this.#addManifest('staged_audited_manifests', agent, seq, details?.manifest)
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
    const [revision] = this.#sql
      .exec<{ id: string; seq: number }>(
        `SELECT id, seq FROM staged_manifests AS m WHERE NOT EXISTS (
          SELECT 1 FROM staged_audited_manifests AS a WHERE a.id = m.id AND a.seq = m.seq AND a.etag IS m.etag) LIMIT 1`,
      )
      .toArray()
    if (revision) throw invalid(`The audit has no entry for revision ${revision.seq} of agent "${revision.id}"`)
    const [token] = this.#sql
      .exec<{ id: string }>('SELECT id FROM staged_tokens GROUP BY hash HAVING COUNT(*) > 1')
      .toArray()
    if (token) throw invalid(`Token "${token.id}" and another one have the same hash`)
  }

  #count(table: ExportedTable | 'audit'): number {
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

/** Reads what the search index needs of every agent; the text of the skills is in its public card, whose tier is ''. */
function* indexedAgents(sql: SqlStorage): Iterable<IndexedAgent> {
  type Row = Record<'id' | 'visibility' | 'summary' | 'fields', string> & Record<'ownSet' | 'card', string | null>
  const rows = sql.exec<Row>(
    `SELECT id, visibility, set_name AS ownSet, summary, search_fields AS fields, (
        SELECT card FROM revision_cards AS c WHERE c.id = agents.id AND c.seq = agents.seq AND tier = '') AS card
      FROM agents ORDER BY id`,
  )
  for (const { id, visibility, ownSet, card, ...texts } of rows) {
    const fields = JSON.parse(texts.fields) as SearchFields
    const parsed: Json | undefined = card === null ? undefined : JSON.parse(card)
    yield {
      id,
      visibility: visibility === 'public' ? 'public' : 'internal',
      set: ownSet ?? undefined,
      summary: JSON.parse(texts.summary) as Summary,
      search: { ...fields, text: isJsonObject(parsed) ? toSearchText(readSkills(parsed)) : '' },
      representations: parsed === undefined ? {} : { '1.0': NO_REPRESENTATION },
    }
  }
}

/** The index needs to know only that there is one. */
const NO_REPRESENTATION: Representation = { etag: '', bytes: new Uint8Array() }

const SUMMARY_TEXTS = ['name', 'description', 'version', 'url', 'protocol']
const FIELD_LISTS = ['skillIds', 'skillNames', 'tags', 'examples', 'capabilities', 'inputModes', 'outputModes'].concat(
  'protocolVersions',
)

/** Whether lists and the search can show an agent: without what they need of it, they would fail for everybody. */
const isListable = ({ summary, search_fields: fields }: JsonObject): boolean => {
  const [shown, indexed] = [JSON.parse(String(summary)), JSON.parse(String(fields))] as Json[]
  if (!hasTexts(shown, SUMMARY_TEXTS) || !hasTexts(indexed, ['provider'])) return false
  return hasLists(indexed, FIELD_LISTS) && typeof indexed.signed === 'boolean'
}

const hasTexts = (value: Json | undefined, names: readonly string[]): value is JsonObject =>
  isJsonObject(value) && names.every(name => typeof value[name] === 'string')

const hasLists = (value: JsonObject, names: readonly string[]): boolean =>
  names.every(name => {
    const list = value[name]
    return Array.isArray(list) && list.every(text => typeof text === 'string')
  })

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
    EVENTS_KEY,
    ...select('SELECT id AS name, id FROM agents').flatMap(({ id }) =>
      agentKeys(id, [], tiers.get(id)?.map(({ name }) => name) ?? []),
    ),
    ...select('SELECT hostname AS name, id FROM hosts').map(({ name }) => hostKey(name)),
    ...select('SELECT id AS name, id FROM receipts').map(({ id }) => receiptKey(id)),
    ...select('SELECT hash AS name, id FROM tokens').map(({ name }) => tokenKey(name)),
    ...select('SELECT id AS name, id FROM sources').map(({ id }) => refreshKey(id)),
  ]
}

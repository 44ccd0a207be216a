import { base64url } from 'jose'
import { selectHead } from '../audit/index.ts'
import { selectValue } from '../sql.ts'
import { lastChange, STATE_TABLE_NAMES } from '../tables/index.ts'
import { EXPORT_FORMAT, EXPORT_VERSION } from './format.ts'

/** The begin of a page of an export. */
export type ExportCursor =
  | { phase: 'revisions'; id: string; seq: number; since: number }
  | { phase: 'agents'; id: string; since: number }
  /** Agents that changed since they were exported: those of the changes after `since`. */
  | { phase: 'changed'; since: number }
  | { phase: 'changes'; after: number; until: number; head: number }
  | { phase: 'audit'; after: number; head: number }

/** Complete lines of an export; there are more from `next` on. */
type ExportPage = { lines: string; next?: ExportCursor }

/** Lines that no page separates, and what follows them. */
type Step = { added: readonly object[]; next?: ExportCursor }

/** A page ends after the agent that makes it as long as this. In UTF-16 units. */
const PAGE_LENGTH = 512 * 1024

type Row = Record<string, SqlStorageValue>

/**
 * Returns the first page of an export, or the one at a cursor. Pages are read one by one, so that neither side needs
 * more memory than for one page. Writes go on meanwhile: what they change is exported again, until the page that also
 * has all tokens. The export is the state of the host at that page.
 */
export const exportPage = (sql: SqlStorage, cursor: ExportCursor | undefined): ExportPage => {
  let lines = ''
  let next: ExportCursor | undefined
  for (const step of readPhase(sql, cursor)) {
    lines += step.added.map(line => `${JSON.stringify(line)}\n`).join('')
    next = step.next
    if (lines.length >= PAGE_LENGTH) break
  }
  return { lines, ...(next && { next }) }
}

/** Reads the rest of a phase. Its last step leads to the next phase. */
function* readPhase(sql: SqlStorage, cursor: ExportCursor | undefined): Iterable<Step> {
  if (cursor === undefined) {
    const header = { format: EXPORT_FORMAT, version: EXPORT_VERSION, exported: new Date().toISOString() }
    yield { added: [header], next: { phase: 'revisions', id: '', seq: 0, since: lastChange(sql) } }
  } else if (cursor.phase === 'revisions') {
    const where = '(id, seq) > (?, ?) ORDER BY id, seq'
    for (const row of selectRows(sql, 'revisions', where, cursor.id, cursor.seq))
      yield { added: readRevision(sql, row), next: { ...cursor, id: String(row.id), seq: Number(row.seq) } }
    yield { added: [], next: { phase: 'agents', id: '', since: cursor.since } }
  } else if (cursor.phase === 'agents') {
    for (const { id } of sql.exec<{ id: string }>('SELECT id FROM agents WHERE id > ? ORDER BY id', cursor.id))
      yield { added: readState(sql, id), next: { ...cursor, id } }
    yield { added: [], next: { phase: 'changed', since: cursor.since } }
  } else if (cursor.phase === 'changed') {
    const first = selectValue<number | null>(sql, 'SELECT MIN(number) FROM changes') ?? 0
    if (first > cursor.since + 1) throw new Error('More changed during the export than is stored: export again')
    for (const { number, id = '', seq = 0 } of selectRows(sql, 'changes', 'number > ? ORDER BY number', cursor.since)) {
      const changed = [...selectRows(sql, 'revisions', 'id = ? AND seq = ?', id, seq)]
      const added = [...changed.flatMap(row => readRevision(sql, row)), ...readState(sql, String(id))]
      yield { added, next: { phase: 'changed', since: Number(number) } }
    }
    // The root name, which can be assigned without a change of its agent.
    const root = readRows(sql, 'hosts', `hostname = '*' AND id IS NOT NULL`)
    const head = selectHead(sql)?.number ?? 0
    const next = { phase: 'changes', after: 0, until: lastChange(sql), head } as const
    yield { added: [...root, ...readRows(sql, 'tokens', 'TRUE ORDER BY id')], next }
  } else if (cursor.phase === 'changes') {
    const where = 'number > ? AND number <= ? ORDER BY number'
    for (const row of selectRows(sql, 'changes', where, cursor.after, cursor.until))
      yield { added: [toLine('changes', row)], next: { ...cursor, after: Number(row.number) } }
    yield { added: [], next: { phase: 'audit', after: 0, head: cursor.head } }
  } else {
    const query = 'SELECT number, entry FROM audit WHERE number > ? AND number <= ? ORDER BY number'
    for (const { number, entry } of sql.exec<{ number: number; entry: string }>(query, cursor.after, cursor.head))
      yield { added: [{ table: 'audit', row: JSON.parse(entry) }], next: { ...cursor, after: number } }
    yield { added: [] }
  }
}

const readRevision = (sql: SqlStorage, row: Row): object[] => [
  toLine('revisions', row),
  ...readRows(sql, 'revision_cards', 'id = ? AND seq = ?', row.id ?? '', row.seq ?? 0),
]

/** Reads the current state of an agent, which may have none, in place of what was exported of it before. */
const readState = (sql: SqlStorage, id: string): object[] => [
  { replace: id },
  ...['agents', ...STATE_TABLE_NAMES].flatMap(table =>
    readRows(sql, table, table === 'hosts' ? `id = ? AND hostname <> '*'` : 'id = ?', id),
  ),
]

const readRows = (sql: SqlStorage, table: string, where: string, ...values: SqlStorageValue[]): object[] =>
  Array.from(selectRows(sql, table, where, ...values), row => toLine(table, row))

const selectRows = (sql: SqlStorage, table: string, where: string, ...values: SqlStorageValue[]): Iterable<Row> =>
  sql.exec<Row>(`SELECT * FROM ${table} WHERE ${where}`, ...values)

const toLine = (table: string, row: Row): object => {
  const text = 'body' in row && { body: base64url.encode(new Uint8Array(row.body as ArrayBuffer)) }
  return { table, row: { ...row, ...text } }
}

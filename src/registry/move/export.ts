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

/** A page ends after the agent that makes it as long as this. In UTF-16 units. */
const PAGE_LENGTH = 512 * 1024

type Row = Record<string, SqlStorageValue>

/**
 * Returns the first page of an export, or the one at a cursor. Pages are read one by one, so that neither side needs
 * more memory than for one page. Writes go on meanwhile: what they change is exported again, until the page that also
 * has all tokens. The export is the state of the host at that page.
 */
export const exportPage = (sql: SqlStorage, cursor: ExportCursor | undefined): ExportPage => {
  const page = new Page()
  switch (cursor?.phase) {
    case undefined:
      page.add({ format: EXPORT_FORMAT, version: EXPORT_VERSION, exported: new Date().toISOString() })
      return page.end({ phase: 'revisions', id: '', seq: 0, since: lastChange(sql) })
    case 'revisions':
      return revisionsPage(sql, cursor, page)
    case 'agents':
      return agentsPage(sql, cursor, page)
    case 'changed':
      return changedPage(sql, cursor, page)
    case 'changes':
      return changesPage(sql, cursor, page)
    case 'audit':
      return auditPage(sql, cursor, page)
  }
}

class Page {
  #lines: string[] = []
  #length = 0

  get isFull(): boolean {
    return this.#length >= PAGE_LENGTH
  }

  add(line: object): void {
    const text = `${JSON.stringify(line)}\n`
    this.#lines.push(text)
    this.#length += text.length
  }

  end(next?: ExportCursor): ExportPage {
    return { lines: this.#lines.join(''), ...(next && { next }) }
  }
}

type Phase<Name extends ExportCursor['phase']> = Extract<ExportCursor, { phase: Name }>

const revisionsPage = (sql: SqlStorage, { id, seq, since }: Phase<'revisions'>, page: Page): ExportPage => {
  for (const row of selectRows(sql, 'revisions', '(id, seq) > (?, ?) ORDER BY id, seq', id, seq)) {
    addRevision(sql, row, page)
    if (page.isFull) return page.end({ phase: 'revisions', id: String(row.id), seq: Number(row.seq), since })
  }
  return page.end({ phase: 'agents', id: '', since })
}

const agentsPage = (sql: SqlStorage, { id, since }: Phase<'agents'>, page: Page): ExportPage => {
  for (const row of sql.exec<{ id: string }>('SELECT id FROM agents WHERE id > ? ORDER BY id', id)) {
    addState(sql, row.id, page)
    if (page.isFull) return page.end({ phase: 'agents', id: row.id, since })
  }
  return page.end({ phase: 'changed', since })
}

const changedPage = (sql: SqlStorage, { since }: Phase<'changed'>, page: Page): ExportPage => {
  const first = selectValue<number | null>(sql, 'SELECT MIN(number) FROM changes') ?? 0
  if (first > since + 1) throw new Error('More changed during the export than is stored: export again')
  for (const { number, id = '', seq = 0 } of selectRows(sql, 'changes', 'number > ? ORDER BY number', since)) {
    for (const row of selectRows(sql, 'revisions', 'id = ? AND seq = ?', id, seq)) addRevision(sql, row, page)
    addState(sql, String(id), page)
    if (page.isFull) return page.end({ phase: 'changed', since: Number(number) })
  }
  // The root name, which can be assigned without a change of its agent.
  for (const row of selectRows(sql, 'hosts', `hostname = '*' AND id IS NOT NULL`)) addRow(page, 'hosts', row)
  for (const row of selectRows(sql, 'tokens', 'TRUE ORDER BY id')) addRow(page, 'tokens', row)
  return page.end({ phase: 'changes', after: 0, until: lastChange(sql), head: selectHead(sql)?.number ?? 0 })
}

const changesPage = (sql: SqlStorage, { after, until, head }: Phase<'changes'>, page: Page): ExportPage => {
  for (const row of selectRows(sql, 'changes', 'number > ? AND number <= ? ORDER BY number', after, until)) {
    addRow(page, 'changes', row)
    if (page.isFull) return page.end({ phase: 'changes', after: Number(row.number), until, head })
  }
  return page.end({ phase: 'audit', after: 0, head })
}

const auditPage = (sql: SqlStorage, { after, head }: Phase<'audit'>, page: Page): ExportPage => {
  const query = 'SELECT number, entry FROM audit WHERE number > ? AND number <= ? ORDER BY number'
  const rows = sql.exec<{ number: number; entry: string }>(query, after, head)
  for (const { number, entry } of rows) {
    page.add({ table: 'audit', row: JSON.parse(entry) })
    if (page.isFull) return page.end({ phase: 'audit', after: number, head })
  }
  return page.end()
}

const addRevision = (sql: SqlStorage, row: Row, page: Page): void => {
  addRow(page, 'revisions', row)
  const { id = '', seq = 0 } = row
  for (const card of selectRows(sql, 'revision_cards', 'id = ? AND seq = ?', id, seq))
    addRow(page, 'revision_cards', card)
}

/** Adds the current state of an agent, which may have none, in place of what was exported of it before. */
const addState = (sql: SqlStorage, id: string, page: Page): void => {
  page.add({ replace: id })
  for (const table of ['agents', ...STATE_TABLE_NAMES])
    for (const row of selectRows(sql, table, table === 'hosts' ? `id = ? AND hostname <> '*'` : 'id = ?', id))
      addRow(page, table, row)
}

const selectRows = (sql: SqlStorage, table: string, where: string, ...values: SqlStorageValue[]): Iterable<Row> =>
  sql.exec<Row>(`SELECT * FROM ${table} WHERE ${where}`, ...values)

const addRow = (page: Page, table: string, row: Row): void => {
  const text = 'body' in row && { body: new TextDecoder().decode(row.body as ArrayBuffer) }
  page.add({ table, row: { ...row, ...text } })
}

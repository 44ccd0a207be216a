import { MAX_STORED_CHANGES } from '../../limits.ts'
import type { StoredChange } from '../records.ts'

/** The newest changes of the Registry, which streams resume from and the webhook delivers. */
export class ChangeTable {
  readonly #sql: SqlStorage
  #newest: number

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`CREATE TABLE IF NOT EXISTS changes (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL,
      is_public INTEGER NOT NULL,
      record TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS changes_by_agent ON changes (id, number)`)
    this.#newest = sql.exec<{ number: number }>('SELECT COALESCE(MAX(number), 0) AS number FROM changes').one().number
  }

  /** Stores changes, and deletes the oldest beyond the limit. Returns those that it did not have yet. */
  append(changes: readonly StoredChange[], limit = MAX_STORED_CHANGES): StoredChange[] {
    const added = changes.filter(({ number }) => number > this.#newest)
    for (const change of added)
      this.#sql.exec(
        'INSERT INTO changes (number, id, is_public, record) VALUES (?, ?, ?, ?)',
        ...[change.number, change.id, change.publicKind === undefined ? 0 : 1, JSON.stringify(change)],
      )
    this.#newest = added.at(-1)?.number ?? this.#newest
    this.#sql.exec('DELETE FROM changes WHERE number <= ?', this.#newest - limit)
    return added
  }

  /** Returns at most `limit` changes after a number, the oldest first; those of one agent, or of all. */
  after(number: number, limit: number, agent = ''): StoredChange[] {
    return this.#sql
      .exec<{ record: string }>(
        `SELECT record FROM changes WHERE number > ? ${agent === '' ? '' : 'AND id = ?3'} ORDER BY number LIMIT ?2`,
        ...(agent === '' ? [number, limit] : [number, limit, agent]),
      )
      .toArray()
      .map(({ record }) => JSON.parse(record) as StoredChange)
  }

  /** Returns the number of the newest change; 0 for none. */
  newest(): number {
    return this.#newest
  }

  /** Returns the number that the oldest stored change follows: nothing before it is known. */
  floor(): number {
    return this.#sql.exec<{ number: number }>('SELECT COALESCE(MIN(number) - 1, 0) AS number FROM changes').one().number
  }

  /** Checks whether a change of an agent is stored; with `publicOnly`, one that everybody sees. */
  knows(agent: string, publicOnly: boolean): boolean {
    const query = `SELECT 1 FROM changes WHERE id = ? ${publicOnly ? 'AND is_public = 1' : ''} LIMIT 1`
    return this.#sql.exec(query, agent).toArray().length > 0
  }
}

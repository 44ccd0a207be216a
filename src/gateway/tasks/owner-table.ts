import { CLEARED_ID_SECONDS, MAX_OWNED_IDS, OWNED_ID_LIFETIME_SECONDS } from '../../limits.ts'

/** The kind of an id. */
export type Kind = 'task' | 'context'

/** Ids of tasks and contexts. */
export type Ids = { tasks: readonly string[]; contexts: readonly string[] }

/** The owner of each task and context, by id: the subject of a caller, or `UNOWNED`. */
export type Owners = { tasks: Map<string, string>; contexts: Map<string, string> }

/** The owner of what an agent starts for anonymous callers: every caller with the id may use it. */
export const UNOWNED = ''

/** The owner of released ids. No caller has this subject. */
const RELEASED = 'released'

/** The time for which a released id cannot be owned: until no isolate remembers its owner. */
const RELEASE_MS = CLEARED_ID_SECONDS * 1000

/** The interval at which unused ids are deleted, and in which a use is recorded once: most calls only read. */
export const EXPIRY_INTERVAL_MS = 24 * 60 * 60 * 1000

/** The share of the table that is deleted at once, from the largest owner, when the table is full. */
const EVICTED_SHARE = 0.01

/** Checks whether a caller may use a task or context with this owner. Without one, it does not exist. */
export const mayUse = (caller: string, owner: string | undefined): boolean => owner === caller || owner === UNOWNED

/** The owners of the tasks and contexts of an agent, in the SQLite database of its Durable Object. */
export class OwnerTable {
  readonly #sql: SqlStorage
  readonly #maxIds: number
  #size: number

  constructor(sql: SqlStorage, { maxIds = MAX_OWNED_IDS } = {}) {
    this.#sql = sql
    this.#maxIds = maxIds
    sql.exec(`
      CREATE TABLE IF NOT EXISTS owners (
        kind TEXT NOT NULL, id TEXT NOT NULL, owner TEXT NOT NULL, folded TEXT, used INTEGER NOT NULL,
        PRIMARY KEY (kind, id)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS owners_by_owner ON owners (owner, kind, used);
      CREATE INDEX IF NOT EXISTS owners_by_use ON owners (used);
      CREATE INDEX IF NOT EXISTS owners_folded ON owners (folded) WHERE folded IS NOT NULL`)
    this.#size = this.#count()
  }

  /**
   * Returns the owners of the ids, if the caller may use all of them; else null. An unknown task is nobody's. With
   * `claim`, the caller may name one unknown context, unless it differs from one of another caller only in case or
   * punctuation, which some agents ignore. It becomes theirs, but not that of an anonymous caller, who could share it
   * with the known caller that names it next.
   */
  use(caller: string, ids: Ids, claim: boolean): Owners | null {
    const [tasks, contexts] = [this.#find('task', ids.tasks), this.#find('context', ids.contexts)]
    const unknown = ids.contexts.filter(id => !contexts.has(id))
    const variants = unknown.flatMap(id => this.#ownersOfVariants(id))
    const owners = [...ids.tasks.map(id => tasks.get(id)), ...contexts.values(), ...variants]
    if (!owners.every(owner => mayUse(caller, owner)) || unknown.length > (claim ? 1 : 0)) return null
    this.#touch('task', ids.tasks)
    this.#touch('context', ids.contexts)
    if (caller !== UNOWNED) this.#insert('context', unknown, caller, contexts)
    this.#evict()
    return { tasks, contexts }
  }

  /** Makes ids that an agent started the caller's. Returns their owners; null if one of them is another caller's. */
  record(caller: string, ids: Ids): Owners | null {
    const [tasks, contexts] = [this.#find('task', ids.tasks), this.#find('context', ids.contexts)]
    if (![...tasks.values(), ...contexts.values()].every(owner => mayUse(caller, owner))) return null
    this.#insert('task', ids.tasks, caller, tasks)
    this.#insert('context', ids.contexts, caller, contexts)
    this.#evict()
    return { tasks, contexts }
  }

  /** Returns which of the tasks are the caller's own, and how many it has in all. Anonymous callers have none. */
  own(caller: string, tasks: readonly string[]): { own: string[]; total: number } {
    if (caller === UNOWNED) return { own: [], total: 0 }
    const owners = this.#find('task', tasks)
    const sql = "SELECT count(*) AS total FROM owners WHERE owner = ? AND kind = 'task'"
    const { total } = this.#sql.exec<{ total: number }>(sql, caller).one()
    return { own: tasks.filter(id => owners.get(id) === caller), total }
  }

  /** Releases all ids. Returns when `deleteExpired` may delete them, so that they can be owned again. */
  release(now: number): number {
    this.#sql.exec('UPDATE owners SET owner = ?1, used = ?2 WHERE owner <> ?1', RELEASED, now)
    return now + RELEASE_MS
  }

  /** Deletes ids that are unused or were released for too long. Returns when to do it again, unless nothing is left. */
  deleteExpired(now: number): number | undefined {
    const sql = 'DELETE FROM owners WHERE used <= ? OR (owner = ? AND used <= ?)'
    this.#sql.exec(sql, now - OWNED_ID_LIFETIME_SECONDS * 1000, RELEASED, now - RELEASE_MS)
    this.#size = this.#count()
    const oldest = 'SELECT MIN(used) AS released FROM owners WHERE owner = ?'
    const { released } = this.#sql.exec<{ released: number | null }>(oldest, RELEASED).one()
    return released !== null ? released + RELEASE_MS : this.#size > 0 ? now + EXPIRY_INTERVAL_MS : undefined
  }

  #find(kind: Kind, ids: readonly string[]): Map<string, string> {
    if (ids.length === 0) return new Map()
    const sql = 'SELECT id, owner FROM owners WHERE kind = ? AND id IN (SELECT value FROM json_each(?))'
    const rows = this.#sql.exec<{ id: string; owner: string }>(sql, kind, JSON.stringify(ids))
    return new Map(rows.toArray().map(({ id, owner }) => [id, owner]))
  }

  #ownersOfVariants(context: string): string[] {
    const rows = this.#sql.exec<{ owner: string }>('SELECT DISTINCT owner FROM owners WHERE folded = ?', fold(context))
    return rows.toArray().map(({ owner }) => owner)
  }

  /** Makes ids without an owner the caller's, and adds them to those that were found. */
  #insert(kind: Kind, ids: readonly string[], owner: string, found: Map<string, string>): void {
    const sql = 'INSERT OR IGNORE INTO owners (kind, id, owner, folded, used) VALUES (?, ?, ?, ?, ?)'
    for (const id of ids) {
      if (found.has(id)) continue
      this.#sql.exec(sql, kind, id, owner, kind === 'context' ? fold(id) : null, Date.now())
      this.#size++
      found.set(id, owner)
    }
  }

  #touch(kind: Kind, ids: readonly string[]): void {
    if (ids.length === 0) return
    const sql = 'UPDATE owners SET used = ? WHERE kind = ? AND id IN (SELECT value FROM json_each(?)) AND used < ?'
    this.#sql.exec(sql, Date.now(), kind, JSON.stringify(ids), Date.now() - EXPIRY_INTERVAL_MS)
  }

  /** While the table is full, deletes from the owner with most, tasks first: nobody can use a task without a row. */
  #evict(): void {
    const sql = `DELETE FROM owners WHERE (kind, id) IN (
      SELECT kind, id FROM owners
      WHERE owner = (SELECT owner FROM owners GROUP BY owner ORDER BY count(*) DESC LIMIT 1)
      ORDER BY kind DESC, used LIMIT ?)`
    while (this.#size > this.#maxIds) {
      this.#sql.exec(sql, Math.max(1, Math.floor(this.#maxIds * EVICTED_SHARE)))
      this.#size = this.#count()
    }
  }

  #count(): number {
    return this.#sql.exec<{ count: number }>('SELECT count(*) AS count FROM owners').one().count
  }
}

/** Folds case and punctuation, which some agents and their databases ignore in an id. Callers choose only ASCII. */
const fold = (context: string): string => context.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '') || context

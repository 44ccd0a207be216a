import { CLEARED_ID_SECONDS, MAX_OWNED_IDS, OWNED_ID_LIFETIME_SECONDS } from '../../limits.ts'

/** Ids of tasks and contexts. */
export type Ids = { tasks: readonly string[]; contexts: readonly string[] }

/** The ids that a response has started, and the caller of it. */
export type Started = { caller: string; ids: Ids }

/** The owner of each task and context, by key: the subject of a caller, or `UNOWNED`. */
export type Owners = Map<string, string>

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

/** Returns the keys of tasks and contexts. */
export const keysOf = ({ tasks, contexts }: Ids): string[] => [...tasks.map(taskKey), ...contexts.map(contextKey)]

/** Returns the key of a task. */
export const taskKey = (id: string): string => `task ${id.toWellFormed()}`

/** Returns the key of a context. It begins with the folded id, which its variants share. */
export const contextKey = (id: string): string => `context ${fold(id)}\n${id}`.toWellFormed()

/** Folds case and punctuation, which some agents and their databases ignore in an id. Callers choose only ASCII. */
const fold = (context: string): string => context.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '') || context

/** The owners of the tasks and contexts of an agent, in the SQLite database of its Durable Object. */
export class OwnerTable {
  readonly #sql: SqlStorage
  readonly #maxIds: number
  #size: number

  constructor(sql: SqlStorage, { maxIds = MAX_OWNED_IDS } = {}) {
    this.#sql = sql
    this.#maxIds = maxIds
    // Each index adds a written row to each id: only the daily expiry would need one of `used`.
    sql.exec(`
      CREATE TABLE IF NOT EXISTS owners (key TEXT PRIMARY KEY, owner TEXT NOT NULL, used INT NOT NULL) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS owners_by_owner ON owners (owner)`)
    this.#size = this.#count()
  }

  /**
   * Returns the owners of the ids, if the caller may use all of them; else null. An unknown task is nobody's. With
   * `claim`, the caller may name one unknown context, unless it differs from one of another caller only in case or
   * punctuation, which some agents ignore. It becomes theirs, but not that of an anonymous caller, who could share it
   * with the known caller that names it next.
   */
  use(caller: string, ids: Ids, claim: boolean): Owners | null {
    const owners = this.#find(keysOf(ids))
    const unknown = ids.contexts.map(contextKey).filter(key => !owners.has(key))
    const tasks = ids.tasks.map(id => owners.get(taskKey(id)))
    const all = [...tasks, ...owners.values(), ...unknown.flatMap(key => this.#ownersOfVariants(key))]
    if (!all.every(owner => mayUse(caller, owner)) || unknown.length > (claim ? 1 : 0)) return null
    const touch = 'UPDATE owners SET used = ? WHERE key IN (SELECT value FROM json_each(?)) AND used < ?'
    this.#sql.exec(touch, Date.now(), JSON.stringify([...owners.keys()]), Date.now() - EXPIRY_INTERVAL_MS)
    const claimed: Owners = new Map(caller === UNOWNED ? [] : unknown.map(key => [key, caller]))
    this.#insert(claimed)
    return new Map([...owners, ...claimed])
  }

  /**
   * Makes what responses have started their callers', in this order. Returns for each response whether its caller may
   * use all of its ids; if not, none of them is recorded.
   */
  record(responses: readonly Started[]): boolean[] {
    const known = this.#find(responses.flatMap(({ ids }) => keysOf(ids)))
    const started: Owners = new Map()
    const areUsable = responses.map(({ caller, ids }) => {
      const keys = keysOf(ids)
      if (!keys.every(key => mayUse(caller, known.get(key) ?? started.get(key) ?? caller))) return false
      for (const key of keys) if (!known.has(key) && !started.has(key)) started.set(key, caller)
      return true
    })
    this.#insert(started)
    return areUsable
  }

  /** Returns which of the tasks are the caller's own, and how many it has in all. Anonymous callers have none. */
  own(caller: string, tasks: readonly string[]): { own: string[]; total: number } {
    if (caller === UNOWNED) return { own: [], total: 0 }
    const owners = this.#find(tasks.map(taskKey))
    const own = tasks.filter(id => owners.get(taskKey(id)) === caller)
    return { own, total: this.#count("WHERE owner = ? AND key > 'task'", caller) }
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

  #find(keys: readonly string[]): Owners {
    const sql = 'SELECT key, owner FROM owners WHERE key IN (SELECT value FROM json_each(?))'
    return new Map(this.#sql.exec(sql, JSON.stringify(keys)).raw<[key: string, owner: string]>())
  }

  #ownersOfVariants(context: string): string[] {
    const [folded] = context.split('\n')
    const sql = 'SELECT DISTINCT owner FROM owners WHERE key > ? AND key < ?'
    return [...this.#sql.exec(sql, `${folded}\n`, `${folded}\v`).raw<[string]>()].flat()
  }

  /** While the table is full, deletes from the owner with most, tasks first: nobody can use a task without a row. */
  #insert(owners: Owners): void {
    if (owners.size === 0) return
    const insert = 'INSERT INTO owners (key, owner, used) SELECT key, value, ? FROM json_each(?)'
    this.#sql.exec(insert, Date.now(), JSON.stringify(Object.fromEntries(owners)))
    this.#size += owners.size
    const evict = `DELETE FROM owners WHERE key IN (
      SELECT key FROM owners
      WHERE owner = (SELECT owner FROM owners GROUP BY owner ORDER BY count(*) DESC LIMIT 1)
      ORDER BY key > 'task' DESC, used LIMIT ?)`
    while (this.#size > this.#maxIds) {
      this.#sql.exec(evict, Math.max(1, Math.floor(this.#maxIds * EVICTED_SHARE)))
      this.#size = this.#count()
    }
  }

  #count(where = '', ...values: SqlStorageValue[]): number {
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM owners ${where}`, ...values).one().count
  }
}

import type { JsonObject } from '../../json/index.ts'
import { MAX_TASK_BYTES, MAX_TASKS, TASK_LIFETIME_SECONDS } from '../../limits.ts'

/** The indexed fields of a task. The owner of an anonymous caller's task is empty, its principal a hash of the address. */
type TaskKeys = { id: string; owner: string; principal: string; context: string; state: string; changed: number }

/** A task as JSON of A2A 1.0. */
type TaskRow = TaskKeys & { task: JsonObject }

/** A place in the list of tasks, which is in descending order of these. */
export type TaskPosition = { changed: number; id: string }

/** Which of an owner's tasks to list, the last changed first. */
type TaskQuery = {
  owner: string
  context?: string | undefined
  state?: string | undefined
  changedAfter?: number | undefined
  after?: TaskPosition | undefined
  withArtifacts: boolean
  limit: number
}

/** `total` counts the tasks of all pages. `last` is the position of the page's last task, unless no page follows. */
type TaskPage = { tasks: JsonObject[]; total: number; last: TaskPosition | undefined }

/** A page of tasks is one response, which has to fit into memory. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024

/** The terminal states of A2A, as SQL. */
const terminalStates = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`

/** The tasks of an agent in the SQLite database of its Durable Object. */
export class TaskTable {
  readonly #storage: DurableObjectStorage
  readonly #texts: TaskTexts
  readonly #maxTasks: number
  readonly #maxBytes: number

  constructor(storage: DurableObjectStorage, { maxTasks = MAX_TASKS, maxBytes = MAX_TASK_BYTES } = {}) {
    this.#storage = storage
    this.#maxTasks = maxTasks
    this.#maxBytes = maxBytes
    storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS tasks (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, principal TEXT NOT NULL, context TEXT NOT NULL,
        state TEXT NOT NULL, changed INTEGER NOT NULL, bytes INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS tasks_changed ON tasks (changed, id)`)
    this.#texts = new TaskTexts(storage.sql)
  }

  save({ task, id, owner, principal, context, state, changed }: TaskRow): void {
    const { artifacts = [], ...rest } = task
    this.#storage.transactionSync(() => {
      const bytes = this.#texts.write(id, { task: JSON.stringify(rest), artifacts: JSON.stringify(artifacts) })
      this.#storage.sql.exec(
        'INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)',
        ...[id, owner, principal, context, state, changed, bytes],
      )
      this.#evict(changed)
    })
  }

  load(id: string, owner: string): JsonObject | undefined {
    const [row] = this.#storage.sql.exec('SELECT id FROM tasks WHERE id = ? AND owner = ?', id, owner).toArray()
    return row && this.#read(id, true)
  }

  /** Returns a page of tasks, with fewer than `limit` where these would be too long together. */
  list({ owner, context, state, changedAfter = -1, after, withArtifacts, limit }: TaskQuery): TaskPage {
    const { sql } = this.#storage
    const matches = 'owner = ?1 AND (?2 IS NULL OR context = ?2) AND (?3 IS NULL OR state = ?3) AND changed > ?4'
    const filters = [owner, context ?? null, state ?? null, changedAfter]
    const { total } = sql
      .exec<{ total: number }>(`SELECT count(*) AS total FROM tasks WHERE ${matches}`, ...filters)
      .one()
    const { changed, id } = after ?? { changed: Number.MAX_SAFE_INTEGER, id: '' }
    // One more than the page has, to find out whether another page follows.
    const found = sql
      .exec<TaskPosition & { bytes: number }>(
        `SELECT id, changed, bytes FROM tasks WHERE ${matches} AND (changed, id) < (?5, ?6)
         ORDER BY changed DESC, id DESC LIMIT ?7`,
        ...[...filters, changed, id, limit + 1],
      )
      .toArray()
    let pageBytes = 0
    const page = found.slice(0, limit).filter(({ bytes }, index) => {
      pageBytes += bytes
      return index === 0 || pageBytes <= MAX_PAGE_BYTES
    })
    return {
      tasks: page.map(({ id }) => this.#read(id, withArtifacts)).filter(task => task !== undefined),
      total,
      last: found.length > page.length ? page.at(-1) : undefined,
    }
  }

  /** Fails the tasks whose tools an earlier instance of the object was running. */
  failInterrupted(): void {
    const rows = this.#storage.sql.exec<TaskKeys>(
      `SELECT id, owner, principal, context, state, changed FROM tasks WHERE state NOT IN ${terminalStates}`,
    )
    for (const keys of rows.toArray()) {
      const task = this.#read(keys.id, true)
      if (task) this.save({ ...keys, state: 'TASK_STATE_FAILED', changed: Date.now(), task: interrupted(task) })
    }
  }

  /** Deletes expired tasks. Returns when to do so again, in ms since the epoch, unless there are no tasks. */
  deleteExpired(now: number): number | undefined {
    this.#storage.transactionSync(() => this.#evict(now))
    const { changed } = this.#storage.sql
      .exec<{ changed: number | null }>('SELECT min(changed) AS changed FROM tasks')
      .one()
    return changed === null ? undefined : changed + TASK_LIFETIME_SECONDS * 1000
  }

  #read(id: string, withArtifacts: boolean): JsonObject | undefined {
    const task = this.#texts.read(id, 'task')
    const artifacts = withArtifacts && this.#texts.read(id, 'artifacts')
    return task === undefined
      ? undefined
      : { ...JSON.parse(task), ...(artifacts && { artifacts: JSON.parse(artifacts) }) }
  }

  /**
   * Deletes finished tasks that are too old, too many, or too large together. The newest task of every owner comes before the
   * second of any owner, and so on, so that no caller loses tasks to a busier one. The same applies to the addresses of anonymous
   * callers, who together count as one owner.
   */
  #evict(now: number): void {
    const { sql } = this.#storage
    const expired = now - TASK_LIFETIME_SECONDS * 1000
    const { count, bytes, oldest } = sql
      .exec<{ count: number; bytes: number | null; oldest: number | null }>(
        `SELECT count(*) AS count, sum(bytes) AS bytes, min(changed) AS oldest
         FROM tasks WHERE state IN ${terminalStates}`,
      )
      .one()
    if (count <= this.#maxTasks && (bytes ?? 0) <= this.#maxBytes && (oldest ?? now) > expired) return
    const evicted = sql
      .exec<{ id: string }>(
        `WITH
           by_principal AS (
             SELECT *, row_number() OVER (PARTITION BY owner, principal ORDER BY changed DESC, id DESC) AS nth
             FROM tasks WHERE state IN ${terminalStates}
           ),
           by_owner AS (
             SELECT *, row_number() OVER newest AS turn, sum(bytes) OVER newest AS owner_bytes
             FROM by_principal WINDOW newest AS (PARTITION BY owner ORDER BY nth, changed DESC, id DESC)
           ),
           ranked AS (
             SELECT id, changed,
               row_number() OVER (ORDER BY turn, changed DESC, id DESC) AS rank,
               sum(bytes) OVER (ORDER BY owner_bytes, changed DESC, id DESC) AS total_bytes
             FROM by_owner
           )
         SELECT id FROM ranked WHERE changed <= ? OR rank > ? OR total_bytes > ?`,
        ...[expired, this.#maxTasks, this.#maxBytes],
      )
      .toArray()
    for (const { id } of evicted) {
      this.#texts.delete(id)
      sql.exec('DELETE FROM tasks WHERE id = ?', id)
    }
  }
}

/** Returns an open task as one that has failed. */
const interrupted = (task: JsonObject): JsonObject => ({
  ...task,
  status: {
    state: 'TASK_STATE_FAILED',
    timestamp: new Date().toISOString(),
    message: {
      messageId: crypto.randomUUID(),
      ...(typeof task.id === 'string' && { taskId: task.id }),
      ...(typeof task.contextId === 'string' && { contextId: task.contextId }),
      role: 'ROLE_AGENT',
      parts: [{ text: interruptedText, mediaType: 'text/plain' }],
    },
  },
})

const interruptedText =
  'This host was interrupted while the tool ran, and does not know whether it finished. Send the message again.'

/** The two texts of a task: all but its artifacts, and the artifacts, which a list may omit. */
type TextName = 'task' | 'artifacts'

/** SQLite stores at most 2 MB in one value of a Durable Object. */
const PIECE_BYTES = 1_500_000

const encoder = new TextEncoder()

/** The JSON texts of tasks, in pieces that SQLite can store. */
class TaskTexts {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`CREATE TABLE IF NOT EXISTS pieces (
      task TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL,
      PRIMARY KEY (task, name, number)
    ) WITHOUT ROWID`)
  }

  /** Replaces a task's texts. Returns their length in bytes. */
  write(task: string, texts: Record<TextName, string>): number {
    let length = 0
    this.delete(task)
    for (const [name, text] of Object.entries(texts)) {
      const bytes = encoder.encode(text)
      length += bytes.byteLength
      for (let number = 0; number * PIECE_BYTES < bytes.byteLength; number++) {
        const piece = bytes.slice(number * PIECE_BYTES, (number + 1) * PIECE_BYTES)
        this.#sql.exec('INSERT INTO pieces VALUES (?, ?, ?, ?)', task, name, number, piece)
      }
    }
    return length
  }

  read(task: string, name: TextName): string | undefined {
    const pieces = this.#sql
      .exec<{ bytes: ArrayBuffer }>('SELECT bytes FROM pieces WHERE task = ? AND name = ? ORDER BY number', task, name)
      .toArray()
    const decoder = new TextDecoder()
    const texts = pieces.map(({ bytes }) => decoder.decode(bytes, { stream: true }))
    return texts.length > 0 ? texts.join('') : undefined
  }

  delete(task: string): void {
    this.#sql.exec('DELETE FROM pieces WHERE task = ?', task)
  }
}

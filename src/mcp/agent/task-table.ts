import { type ListTasksRequest, type ListTasksResponse, Task, taskStateToJSON } from '@a2a-js/sdk'
import { RequestMalformedError } from '@a2a-js/sdk/errors'
import type { TaskStore } from '@a2a-js/sdk/server'
import type { Json, JsonObject } from '../../json/index.ts'
import {
  MAX_CONTEXT_ID_LENGTH,
  MAX_TASK_BYTES,
  MAX_TASK_ID_LENGTH,
  MAX_TASKS,
  TASK_LIFETIME_SECONDS,
} from '../../limits.ts'
import type { CallerIdentity } from './quotas.ts'

/** The indexed fields of a task. An anonymous caller's has the owner '', and a hash of the address as principal. */
type TaskKeys = { id: string; owner: string; principal: string; context: string; state: string; changed: number }

type TaskPosition = { changed: number; id: string }

type TaskQuery = {
  owner: string
  context?: string | undefined
  state?: string | undefined
  changedAfter?: number | undefined
  after?: TaskPosition | undefined
  withArtifacts: boolean
  limit: number
}

/** A page of tasks is one response, which has to fit into memory. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024

/** The two texts of a task in the table: all but its artifacts, and the artifacts, which a list may omit. */
type TextName = 'task' | 'artifacts'

/** SQLite stores at most 2 MB in one value of a Durable Object, so texts are in pieces. */
const PIECE_BYTES = 1_500_000

const terminalStates = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`

/** The tasks of an agent in the SQLite database of its Durable Object. */
export class TaskTable {
  readonly #storage: DurableObjectStorage
  readonly #limits: { maxTasks: number; maxBytes: number }

  constructor(storage: DurableObjectStorage, { maxTasks = MAX_TASKS, maxBytes = MAX_TASK_BYTES } = {}) {
    this.#storage = storage
    this.#limits = { maxTasks, maxBytes }
    storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS tasks (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, principal TEXT NOT NULL, context TEXT NOT NULL,
        state TEXT NOT NULL, changed INTEGER NOT NULL, bytes INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS tasks_changed ON tasks (changed, id);
      CREATE TABLE IF NOT EXISTS pieces (
        task TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL,
        PRIMARY KEY (task, name, number)
      ) WITHOUT ROWID`)
  }

  /** Stores a task, as JSON of A2A 1.0. */
  save({ task, id, owner, principal, context, state, changed }: TaskKeys & { task: JsonObject }): void {
    const { artifacts = [], ...rest } = task
    this.#storage.transactionSync(() => {
      this.#storage.sql.exec('DELETE FROM pieces WHERE task = ?', id)
      const bytes = this.#writeText(id, 'task', rest) + this.#writeText(id, 'artifacts', artifacts)
      const query = 'INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)'
      this.#storage.sql.exec(query, id, owner, principal, context, state, changed, bytes)
      this.#evict(changed)
    })
  }

  load(id: string, owner: string): JsonObject | undefined {
    const [row] = this.#storage.sql.exec('SELECT id FROM tasks WHERE id = ? AND owner = ?', id, owner).toArray()
    return row && this.#read(id, true)
  }

  /**
   * Returns a page of tasks, fewer than `limit` if these would be too long together, the number of tasks on all pages,
   * and the position of the last task if another page follows.
   */
  list({ owner, context, state, changedAfter = -1, after, withArtifacts, limit }: TaskQuery) {
    const { sql } = this.#storage
    const matches = 'owner = ?1 AND (?2 IS NULL OR context = ?2) AND (?3 IS NULL OR state = ?3) AND changed > ?4'
    const filters = [owner, context ?? null, state ?? null, changedAfter]
    const count = `SELECT count(*) AS total FROM tasks WHERE ${matches}`
    const { total } = sql.exec<{ total: number }>(count, ...filters).one()
    const { changed, id } = after ?? { changed: Number.MAX_SAFE_INTEGER, id: '' }
    // One more than the page has, to find out whether another page follows.
    const query = `SELECT id, changed, bytes FROM tasks WHERE ${matches} AND (changed, id) < (?5, ?6)
         ORDER BY changed DESC, id DESC LIMIT ?7`
    const found = sql.exec<TaskPosition & { bytes: number }>(query, ...filters, changed, id, limit + 1).toArray()
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
    const query = `SELECT id, owner, principal, context, state, changed FROM tasks WHERE state NOT IN ${terminalStates}`
    for (const keys of this.#storage.sql.exec<TaskKeys>(query).toArray()) {
      const task = this.#read(keys.id, true)
      const failed = { ...keys, state: 'TASK_STATE_FAILED', changed: Date.now() }
      if (task) this.save({ ...failed, task: interrupted(task, keys) })
    }
  }

  /** Deletes expired tasks. Returns when to do so again, in ms since the epoch, unless there are no tasks. */
  deleteExpired(now: number): number | undefined {
    this.#storage.transactionSync(() => this.#evict(now))
    const oldest = 'SELECT min(changed) AS changed FROM tasks'
    const { changed } = this.#storage.sql.exec<{ changed: number | null }>(oldest).one()
    return changed === null ? undefined : changed + TASK_LIFETIME_SECONDS * 1000
  }

  #read(id: string, withArtifacts: boolean): JsonObject | undefined {
    const task = this.#readText(id, 'task')
    const artifacts = withArtifacts && this.#readText(id, 'artifacts')
    if (task === undefined) return undefined
    return { ...JSON.parse(task), ...(artifacts && { artifacts: JSON.parse(artifacts) }) }
  }

  /** Stores a part of a task as JSON text. Returns its length in bytes. */
  #writeText(task: string, name: TextName, value: Json): number {
    const bytes = new TextEncoder().encode(JSON.stringify(value))
    for (let number = 0; number * PIECE_BYTES < bytes.byteLength; number++) {
      const piece = bytes.slice(number * PIECE_BYTES, (number + 1) * PIECE_BYTES)
      this.#storage.sql.exec('INSERT INTO pieces VALUES (?, ?, ?, ?)', task, name, number, piece)
    }
    return bytes.byteLength
  }

  #readText(task: string, name: TextName): string | undefined {
    const query = 'SELECT bytes FROM pieces WHERE task = ? AND name = ? ORDER BY number'
    const pieces = this.#storage.sql.exec<{ bytes: ArrayBuffer }>(query, task, name)
    const decoder = new TextDecoder()
    const texts = Array.from(pieces, ({ bytes }) => decoder.decode(bytes, { stream: true }))
    return texts.length > 0 ? texts.join('') : undefined
  }

  /**
   * Deletes finished tasks that are too old, too many, or too large together. The newest task of every owner comes
   * before the second of any owner, and so on, so that no caller loses tasks to a busier one. The same applies to the
   * addresses of anonymous callers, who together count as one owner.
   */
  #evict(now: number): void {
    const { sql } = this.#storage
    const { maxTasks, maxBytes } = this.#limits
    const expired = now - TASK_LIFETIME_SECONDS * 1000
    const totals = `SELECT count(*) AS count, sum(bytes) AS bytes, min(changed) AS oldest
      FROM tasks WHERE state IN ${terminalStates}`
    type Totals = { count: number; bytes: number | null; oldest: number | null }
    const { count, bytes, oldest } = sql.exec<Totals>(totals).one()
    if (count <= maxTasks && (bytes ?? 0) <= maxBytes && (oldest ?? now) > expired) return
    const query = `
      WITH
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
      SELECT id FROM ranked WHERE changed <= ? OR rank > ? OR total_bytes > ?`
    for (const { id } of sql.exec<{ id: string }>(query, expired, maxTasks, maxBytes).toArray()) {
      sql.exec('DELETE FROM pieces WHERE task = ?', id)
      sql.exec('DELETE FROM tasks WHERE id = ?', id)
    }
  }
}

const interrupted = (task: JsonObject, { id, context }: TaskKeys): JsonObject => ({
  ...task,
  status: {
    state: 'TASK_STATE_FAILED',
    timestamp: new Date().toISOString(),
    message: {
      ...{ messageId: crypto.randomUUID(), taskId: id, contextId: context, role: 'ROLE_AGENT' },
      parts: [{ text: interruptedText, mediaType: 'text/plain' }],
    },
  },
})

const interruptedText =
  'This host was interrupted while the tool ran, and does not know whether it finished. Send the message again.'

/** The limit of a task's history: the first message, which created the task, and the newest. */
const MAX_HISTORY = 50

/** The page size of a request without one (A2A 1.0 §3.1.4). */
const DEFAULT_PAGE_SIZE = 50

/** The tasks that one caller may see. Anonymous callers find theirs only by id, which cannot be guessed. */
export class CallerTaskStore implements TaskStore {
  readonly #table: TaskTable
  readonly #caller: Pick<TaskKeys, 'owner' | 'principal'>

  constructor(table: TaskTable, { authenticated, name }: CallerIdentity) {
    this.#table = table
    this.#caller = { owner: authenticated ? name : '', principal: name }
  }

  async save(task: Task): Promise<void> {
    const [first, ...others] = task.history
    const history = first && others.length >= MAX_HISTORY ? [first, ...others.slice(1 - MAX_HISTORY)] : task.history
    this.#table.save({
      ...{ id: task.id, ...this.#caller },
      context: task.contextId,
      state: taskStateToJSON(task.status?.state ?? 0),
      changed: Date.parse(task.status?.timestamp ?? '') || Date.now(),
      task: Task.toJSON({ ...task, history }) as JsonObject,
    })
  }

  async load(id: string): Promise<Task | undefined> {
    // Task ids are UUIDs. SQLite refuses to look up much longer ones.
    const task = id.length <= MAX_TASK_ID_LENGTH ? this.#table.load(id, this.#caller.owner) : undefined
    return task && Task.fromJSON(task)
  }

  async list(request: ListTasksRequest): Promise<ListTasksResponse> {
    const pageSize = request.pageSize ?? DEFAULT_PAGE_SIZE
    const { owner } = this.#caller
    if (owner === '') return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 }
    const { tasks, total, last } = this.#table.list({
      owner,
      // Longer than any context is, and not too long for SQLite.
      context: request.contextId.slice(0, MAX_CONTEXT_ID_LENGTH + 1) || undefined,
      state: request.status ? taskStateToJSON(request.status) : undefined,
      changedAfter: request.statusTimestampAfter ? Date.parse(request.statusTimestampAfter) : undefined,
      after: request.pageToken ? parsePageToken(request.pageToken) : undefined,
      withArtifacts: request.includeArtifacts ?? false,
      limit: pageSize,
    })
    return {
      tasks: tasks.map(task => Task.fromJSON(task)),
      nextPageToken: last ? `${last.changed}.${last.id}` : '',
      pageSize,
      totalSize: total,
    }
  }
}

const parsePageToken = (token: string): TaskPosition => {
  const [, changed, id] = /^(\d{1,15})\.(.{1,200})$/s.exec(token) ?? []
  if (changed === undefined || id === undefined) throw new RequestMalformedError('`pageToken` is not from this agent.')
  return { changed: Number(changed), id }
}

import type { JsonObject } from '../json/json.ts'
import type { Principal } from './quotas.ts'

/** A task of A2A v1.0 that nobody is at any more, as one that has failed. */
const interruptedTask = (task: JsonObject): JsonObject => ({
  ...task,
  status: {
    state: 'TASK_STATE_FAILED',
    timestamp: new Date().toISOString(),
    message: {
      messageId: crypto.randomUUID(),
      ...(typeof task.id === 'string' && { taskId: task.id }),
      ...(typeof task.contextId === 'string' && { contextId: task.contextId }),
      role: 'ROLE_AGENT',
      parts: [{ text: words, mediaType: 'text/plain' }],
    },
  },
})

const words =
  'This host was interrupted while the tool ran: whether it ran to its end is not known. Send the message again.'

/** What of a task says whether it is kept. */
export type KeptTask = { id: string; account: Principal; changed: number; length: number; open: boolean }

/** How many tasks that have ended are kept, for how long in ms, and how much text of all. */
const most = 200
const longestKept = 24 * 60 * 60 * 1000
const mostText = 64 * 1024 * 1024

/**
 * Which tasks are forgotten: those that are too old, and, where there are too many, the oldest of whoever has most: nobody's are
 * forgotten for somebody who has more. Callers that the host does not know count as one beside the known ones, and each of their
 * addresses as one among them. Tasks that have not ended stay: they are few. The newest task is the first.
 */
export const selectEvictions = (tasks: readonly KeptTask[], now: number): string[] => {
  const isOld = (task: KeptTask) => !task.open && task.changed <= now - longestKept
  const forgotten = tasks.filter(isOld)
  let kept = tasks.filter(task => !isOld(task))
  for (;;) {
    const ended = kept.filter(({ open }) => !open)
    const tooMany = ended.length > most
    if (!tooMany && sumOf(kept, lengthOf) <= mostText) break
    const victim = oldestOfLargest(ended, tooMany ? one : lengthOf)
    if (victim === undefined) break
    forgotten.push(victim)
    kept = kept.filter(task => task !== victim)
  }
  return forgotten.map(({ id }) => id)
}

type Measure = (task: KeptTask) => number

const one: Measure = () => 1

const lengthOf: Measure = ({ length }) => length

const sumOf = (tasks: readonly KeptTask[], measure: Measure): number =>
  tasks.reduce((sum, task) => sum + measure(task), 0)

const oldestOfLargest = (tasks: readonly KeptTask[], measure: Measure): KeptTask | undefined => {
  const party = largest(tasks, ({ account }) => (account.known ? account.name : ''), measure)
  return largest(party, ({ account }) => account.name, measure).at(-1)
}

/** The tasks of whoever has most; of several, of whoever was active last. */
const largest = (
  tasks: readonly KeptTask[],
  keyOf: (task: KeptTask) => string,
  measure: Measure,
): readonly KeptTask[] => {
  const groups = [...Map.groupBy(tasks, keyOf).values()]
  return groups.reduce((most, each) => (sumOf(each, measure) > sumOf(most, measure) ? each : most), groups[0] ?? [])
}

/** What is kept of a task: itself, and what it has made, which is read only where it is asked for. */
type TextName = 'task' | 'artifacts'

/** SQLite takes at most 2 MB a value in a Durable Object. */
const pieceBytes = 1_500_000

const encoder = new TextEncoder()

/** The texts of tasks, in pieces. */
class TaskTexts {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`CREATE TABLE IF NOT EXISTS pieces (
      task TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL,
      PRIMARY KEY (task, name, number)
    ) WITHOUT ROWID`)
  }

  /** Writes a task's texts in place of those that it had; returns their length in bytes. */
  write(task: string, texts: Record<TextName, string>): number {
    let length = 0
    this.delete(task)
    for (const [name, text] of Object.entries(texts)) {
      const bytes = encoder.encode(text)
      length += bytes.byteLength
      for (let number = 0; number * pieceBytes < bytes.byteLength; number++) {
        const piece = bytes.slice(number * pieceBytes, (number + 1) * pieceBytes)
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

/** What a task is looked up by; an owner that the host does not know has no name, and `account` is the name of whose it counts as. */
type Facts = { id: string; owner: string; account: string; context: string; state: string; changed: number }

/** A task as JSON of A2A v1.0. */
type TaskRow = Facts & { task: JsonObject }

/** Which of an owner's tasks are listed, the last changed first. */
type TaskQuery = {
  owner: string
  context?: string | undefined
  state?: string | undefined
  changedAfter?: number | undefined
  /** The last of the page before. */
  before?: { changed: number; id: string } | undefined
  artifacts: boolean
  limit: number
}

/** `next` is after what the next page begins, where there is one. */
type TaskPage = { tasks: JsonObject[]; total: number; next: { changed: number; id: string } | undefined }

/** The most text of a page of a list: an answer must hold it. */
const mostListed = 2 * 1024 * 1024

const ended = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED']
const open = `state NOT IN (${ended.map(state => `'${state}'`).join(', ')})`

/** The tasks of an agent in its object's database: they outlive its memory. */
export class TaskTable {
  readonly #storage: DurableObjectStorage
  readonly #texts: TaskTexts

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS tasks (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, account TEXT NOT NULL, context TEXT NOT NULL,
        state TEXT NOT NULL, changed INTEGER NOT NULL, length INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS tasks_changed ON tasks (changed, id)`)
    this.#texts = new TaskTexts(storage.sql)
  }

  save({ task, id, owner, account, context, state, changed }: TaskRow): void {
    const { artifacts = [], ...rest } = task
    this.#storage.transactionSync(() => {
      const length = this.#texts.write(id, { task: JSON.stringify(rest), artifacts: JSON.stringify(artifacts) })
      this.#storage.sql.exec(
        'INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)',
        ...[id, owner, account, context, state, changed, length],
      )
      this.#prune(changed)
    })
  }

  load(id: string, owner: string): JsonObject | undefined {
    const [row] = this.#storage.sql.exec('SELECT id FROM tasks WHERE id = ? AND owner = ?', id, owner).toArray()
    return row && this.#read(id, true)
  }

  /** How many bytes of text are kept of a task. */
  length(id: string, owner: string): number {
    const [row] = this.#storage.sql
      .exec<{ length: number }>('SELECT length FROM tasks WHERE id = ? AND owner = ?', id, owner)
      .toArray()
    return row?.length ?? 0
  }

  /** A page of tasks: fewer than asked for where they would be too long together. */
  list(query: TaskQuery): TaskPage {
    const { limit, artifacts } = query
    const found = this.#found(query)
    let length = 0
    const page = found.slice(0, limit).filter((row, index) => {
      length += row.length
      return index === 0 || length <= mostListed
    })
    return {
      tasks: page.map(({ id }) => this.#read(id, artifacts)).filter(task => task !== undefined),
      total: found[0]?.total ?? 0,
      next: found.length > page.length ? page.at(-1) : undefined,
    }
  }

  /** Ends the tasks that nobody is at any more, as failed. */
  endOpen(): void {
    const rows = this.#storage.sql.exec<Facts>(
      `SELECT id, owner, account, context, state, changed FROM tasks WHERE ${open}`,
    )
    for (const facts of rows.toArray()) {
      const task = this.#read(facts.id, true)
      if (task) this.save({ ...facts, state: 'TASK_STATE_FAILED', changed: Date.now(), task: interruptedTask(task) })
    }
  }

  /** Forgets what is too old; returns when to do so again, in ms, if ever. */
  forgetOld(now: number): number | undefined {
    this.#storage.transactionSync(() => this.#prune(now))
    const [oldest] = this.#storage.sql
      .exec<{ changed: number | null }>(`SELECT min(changed) AS changed FROM tasks`)
      .toArray()
    return oldest?.changed == null ? undefined : oldest.changed + longestKept
  }

  /** One more than the page has, if there are. */
  #found({ owner, context, state, changedAfter = -1, before, limit }: TaskQuery) {
    const { changed, id } = before ?? { changed: Number.MAX_SAFE_INTEGER, id: '' }
    return this.#storage.sql
      .exec<{ id: string; changed: number; length: number; total: number }>(
        `WITH wanted AS (
           SELECT id, changed, length FROM tasks
           WHERE owner = ?1 AND (?2 IS NULL OR context = ?2) AND (?3 IS NULL OR state = ?3) AND changed > ?4
         )
         SELECT *, (SELECT count(*) FROM wanted) AS total FROM wanted WHERE (changed, id) < (?5, ?6)
         ORDER BY changed DESC, id DESC LIMIT ?7`,
        ...[owner, context ?? null, state ?? null, changedAfter, changed, id, limit + 1],
      )
      .toArray()
  }

  #read(id: string, artifacts: boolean): JsonObject | undefined {
    const task = this.#texts.read(id, 'task')
    const made = artifacts && this.#texts.read(id, 'artifacts')
    return task === undefined ? undefined : { ...JSON.parse(task), ...(made && { artifacts: JSON.parse(made) }) }
  }

  #prune(now: number): void {
    const { sql } = this.#storage
    const rows = sql
      .exec<Facts & { length: number; open: number }>(
        `SELECT *, ${open} AS open FROM tasks ORDER BY changed DESC, id DESC`,
      )
      .toArray()
    const tasks = rows.map(({ id, owner, account, changed, length, open }) => ({
      ...{ id, changed, length, open: open === 1 },
      account: { known: owner !== '', name: account },
    }))
    for (const id of selectEvictions(tasks, now)) {
      this.#texts.delete(id)
      sql.exec('DELETE FROM tasks WHERE id = ?', id)
    }
  }
}

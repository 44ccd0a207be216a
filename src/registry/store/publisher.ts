import { log, logUnexpected } from '../../http/index.ts'
import type { Alarm } from '../alarm.ts'
import { redactKey } from '../kv-format.ts'
import { type Row, selectColumn, selectFirst, selectValue } from '../sql.ts'
import type { outbox } from '../tables/index.ts'
import { publishKey } from './kv-entries.ts'

/** The pause after a write, or the first failed attempt, until the alarm publishes what is still in the outbox. */
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000

/** Keys that one alarm publishes: after an import there are many, and an alarm is limited in time. */
const KEYS_PER_ALARM = 500

/** Keys that an alarm publishes at once: each loads all documents of an agent into memory. */
const KEYS_AT_ONCE = 10

/**
 * Publishes the Registry's state to KV, and to the objects that refresh remote cards. A commit puts the keys that
 * changed into the outbox. Each is published from the tables as they are then, by one writer at a time, so that the
 * newest state wins. A key that fails stays in the outbox, and an alarm retries it.
 */
export class Publisher {
  readonly #storage: DurableObjectStorage
  readonly #env: Env
  readonly #queues = new Map<string, Promise<boolean>>()
  readonly #alarm: Alarm

  constructor(storage: DurableObjectStorage, env: Env, alarm: Alarm) {
    this.#storage = storage
    this.#env = env
    this.#alarm = alarm
  }

  /** Adds keys to the outbox, in the caller's transaction, and sets the alarm. A key that fails keeps its back-off. */
  enqueue(keys: readonly string[]): void {
    for (const key of keys)
      this.#storage.sql.exec(
        'INSERT INTO outbox (key, version) VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET version = version + 1',
        key,
      )
    if (keys.length > 0) this.wakeAt(Date.now() + FIRST_RETRY_MS)
  }

  /** Adds the keys that a query selects: one write for each that is not in the outbox yet, and none for the others. */
  enqueueMissing(query: string, ...values: SqlStorageValue[]): void {
    const { rowsWritten } = this.#storage.sql.exec(
      `INSERT OR IGNORE INTO outbox (key, version) SELECT key, 1 FROM (${query})`,
      ...values,
    )
    if (rowsWritten > 0) this.wakeAt(Date.now() + FIRST_RETRY_MS)
  }

  /** Publishes those of the keys that are in the outbox. Returns whether none of them is left there. */
  async publish(keys: readonly string[]): Promise<boolean> {
    const published = await Promise.all([...new Set(keys)].map(key => this.#serialize(key)))
    return published.every(done => done)
  }

  /** Publishes keys of the outbox that are due, those without a failure first, and sets the alarm for the rest. */
  async retry(): Promise<void> {
    const sql = this.#storage.sql
    const query = 'SELECT key FROM outbox WHERE due <= ? ORDER BY due LIMIT ?'
    const keys = selectColumn<string>(sql, query, Date.now(), KEYS_PER_ALARM)
    let pause = 0
    for (let first = 0; first < keys.length; first += KEYS_AT_ONCE) {
      const isPublished = await this.publish(keys.slice(first, first + KEYS_AT_ONCE))
      // A failure that the outbox does not take is due at once.
      if (!isPublished) pause = FIRST_RETRY_MS
    }
    const due = selectValue<number | null>(sql, 'SELECT MIN(due) FROM outbox') ?? null
    if (due !== null) this.wakeAt(Math.max(due, Date.now() + pause))
  }

  /** Sets the alarm, for work that is not in the outbox. */
  wakeAt(at: number): void {
    this.#alarm.wakeAt(at).catch(logUnexpected)
  }

  #serialize(key: string): Promise<boolean> {
    const last = (this.#queues.get(key) ?? Promise.resolve(true)).then(() =>
      // The write is committed, and must not be reported as failed because the outbox cannot be written.
      this.#publishOne(key).catch(error => logFailure(key, error)),
    )
    this.#queues.set(key, last)
    return last.finally(() => {
      if (this.#queues.get(key) === last) this.#queues.delete(key)
    })
  }

  async #publishOne(key: string): Promise<boolean> {
    const sql = this.#storage.sql
    const entry = selectFirst<Row<typeof outbox>>(sql, 'SELECT * FROM outbox WHERE key = ?', key)
    if (!entry) return true
    try {
      this.enqueue(await publishKey(this.#storage, key, this.#env))
    } catch (error) {
      const due = Date.now() + Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** entry.attempts)
      sql.exec('UPDATE outbox SET attempts = attempts + 1, due = ? WHERE key = ?', due, key)
      return logFailure(key, error)
    }
    sql.exec('DELETE FROM outbox WHERE key = ? AND version = ?', key, entry.version)
    return true
  }
}

const logFailure = (key: string, error: unknown): false => {
  log('error', 'publication-failed', { 'calling_card.key': redactKey(key), 'exception.message': String(error) })
  return false
}

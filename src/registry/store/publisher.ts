import { log, logUnexpected } from '../../http/index.ts'
import type { Alarm } from '../alarm.ts'
import { redactKey } from '../kv-format.ts'
import { type Row, selectColumn, selectFirst, selectValue } from '../sql.ts'
import type { outbox } from '../tables/index.ts'
import { publishKey, takesOwners } from './kv-entries.ts'

/** The pause after a write, or the first failed attempt, until the alarm publishes what is still in the outbox. */
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000

/** Keys that one alarm publishes: after an import there are many, and an alarm is limited in time. */
const KEYS_PER_ALARM = 500

/** Keys that an alarm publishes at once: each loads all documents of an agent into memory. */
const KEYS_AT_ONCE = 10

/**
 * Creates what publishes the Registry's state to KV, and to the objects that refresh remote cards. A commit puts the
 * keys that changed into the outbox. Each is published from the tables as they are then, by one writer at a time, so
 * that the newest state wins. A key that fails stays in the outbox, and an alarm retries it.
 */
export const createPublisher = (storage: DurableObjectStorage, env: Env, alarm: Alarm) => {
  const { sql } = storage
  const queues = new Map<string, Promise<boolean>>()
  /** What is published but still in the outbox, with the versions that are. */
  const published = new Map<string, number>()

  /** Sets the alarm, for work that is not in the outbox. */
  const wakeAt = (at: number): void => void alarm.wakeAt(at).catch(logUnexpected)

  /** Adds keys to the outbox, in the caller's transaction, and sets the alarm. A key that fails keeps its back-off. */
  const enqueue = (keys: readonly string[]): void => {
    if (keys.length === 0) return
    const query = `INSERT INTO outbox (key, version) SELECT value, 1 FROM json_each(?) WHERE TRUE
      ON CONFLICT (key) DO UPDATE SET version = version + 1`
    sql.exec(query, JSON.stringify(keys))
    wakeAt(Date.now() + FIRST_RETRY_MS)
  }

  /** Adds the keys that a query selects: one write for each that is not in the outbox yet, and none for the others. */
  const enqueueMissing = (query: string, ...values: SqlStorageValue[]): void => {
    const missing = `INSERT OR IGNORE INTO outbox (key, version) SELECT key, 1 FROM (${query})`
    if (sql.exec(missing, ...values).rowsWritten > 0) wakeAt(Date.now() + FIRST_RETRY_MS)
  }

  /**
   * Deletes what is published from the outbox, unless it has changed since. The alarm does that for many keys at once,
   * because each commit takes time: after a crash, what is left is published again, which changes nothing. Returns
   * false if the outbox cannot be written.
   */
  const settle = (): boolean => {
    if (published.size === 0) return true
    const query = `DELETE FROM outbox WHERE (key, version) IN (
      SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))`
    try {
      sql.exec(query, JSON.stringify([...published]))
    } catch (error) {
      return logFailure('', error)
    }
    published.clear()
    return true
  }

  const publishOne = async (key: string): Promise<boolean> => {
    const entry = selectFirst<Row<typeof outbox>>(sql, 'SELECT * FROM outbox WHERE key = ?', key)
    if (!entry || published.get(key) === entry.version) return true
    try {
      enqueue(await publishKey(storage, key, env))
    } catch (error) {
      const due = Date.now() + Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** entry.attempts)
      sql.exec('UPDATE outbox SET attempts = attempts + 1, due = ? WHERE key = ?', due, key)
      return logFailure(key, error)
    }
    published.set(key, entry.version)
    if (entry.attempts > 0 || takesOwners(key)) settle()
    return true
  }

  const publishInTurn = (key: string): Promise<boolean> => {
    const last = (queues.get(key) ?? Promise.resolve(true)).then(() =>
      // The write is committed, and must not be reported as failed because the outbox cannot be written.
      publishOne(key).catch(error => logFailure(key, error)),
    )
    queues.set(key, last)
    return last.finally(() => {
      if (queues.get(key) === last) queues.delete(key)
    })
  }

  /** Publishes those of the keys that are in the outbox. Returns whether none of them is left there. */
  const publish = async (keys: readonly string[]): Promise<boolean> =>
    (await Promise.all([...new Set(keys)].map(publishInTurn))).every(done => done)

  /** Publishes keys of the outbox that are due, those without a failure first, and sets the alarm for the rest. */
  const retry = async (): Promise<void> => {
    settle()
    const query = 'SELECT key FROM outbox WHERE due <= ? ORDER BY due LIMIT ?'
    const keys = selectColumn<string>(sql, query, Date.now(), KEYS_PER_ALARM)
    let pause = 0
    for (let first = 0; first < keys.length; first += KEYS_AT_ONCE) {
      // A failure that the outbox does not take is due at once.
      if (!(await publish(keys.slice(first, first + KEYS_AT_ONCE)))) pause = FIRST_RETRY_MS
    }
    if (!settle()) pause = FIRST_RETRY_MS
    const due = selectValue<number | null>(sql, 'SELECT MIN(due) FROM outbox') ?? null
    if (due !== null) wakeAt(Math.max(due, Date.now() + pause))
  }

  return { wakeAt, enqueue, enqueueMissing, publish, retry, settle }
}

/** What publishes the Registry's state. */
export type Publisher = ReturnType<typeof createPublisher>

const logFailure = (key: string, error: unknown): false => {
  log('error', 'publication-failed', { 'calling_card.key': redactKey(key), 'exception.message': String(error) })
  return false
}

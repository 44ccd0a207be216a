import { log } from '../../http/log.ts'
import { redactKey } from '../kv-format.ts'

/** How long after a write, or a failed try, the alarm looks for what KV still lacks. In ms. */
const firstRetry = 1_000
const lastRetry = 60_000

/** An alarm works on so many keys: each brings all documents of an agent into memory. */
const batch = 10

/**
 * Brings KV to what the Registry says. A commit owes KV its keys; publishing reads the truth anew for each, so that the
 * newest wins, and one key is published by one writer at a time. What fails stays owed, and an alarm tries it again.
 */
export class Publisher {
  readonly #storage: DurableObjectStorage
  readonly #kv: KVNamespace
  readonly #turns = new Map<string, Promise<boolean>>()
  #alarm = Number.POSITIVE_INFINITY

  constructor(storage: DurableObjectStorage, kv: KVNamespace) {
    this.#storage = storage
    this.#kv = kv
  }

  /** Notes, in the caller's transaction, that KV lacks the truth of these keys; the alarm stands in case we die before. */
  enqueue(keys: readonly string[]): void {
    for (const key of keys)
      this.#storage.sql.exec(
        'INSERT INTO pending (key, version) VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET version = version + 1, attempts = 0',
        key,
      )
    if (keys.length > 0) this.#wakeIn(firstRetry)
  }

  /** Publishes those of the keys that are owed; whether KV now has them all. */
  async publish(keys: readonly string[]): Promise<boolean> {
    const published = await Promise.all([...new Set(keys)].map(key => this.#inTurn(key)))
    return published.every(done => done)
  }

  /** Publishes what is owed, what failed least first, and comes back for the rest and for what fails again. */
  async retry(): Promise<void> {
    this.#alarm = Number.POSITIVE_INFINITY
    const sql = this.#storage.sql
    const owed = sql.exec<{ key: string }>('SELECT key FROM pending ORDER BY attempts LIMIT ?', batch).toArray()
    await this.publish(owed.map(({ key }) => key))
    const [left] = sql.exec<{ attempts: number }>('SELECT attempts FROM pending ORDER BY attempts LIMIT 1').toArray()
    if (left) this.#wakeIn(left.attempts === 0 ? 0 : Math.min(lastRetry, firstRetry * 2 ** left.attempts))
  }

  /** There is one alarm: it is never put off by a later need. */
  #wakeIn(milliseconds: number): void {
    const at = Date.now() + milliseconds
    if (this.#alarm <= at) return
    this.#alarm = at
    void this.#storage.setAlarm(at)
  }

  #inTurn(key: string): Promise<boolean> {
    const turn = (this.#turns.get(key) ?? Promise.resolve(true)).then(() => this.#publishOne(key))
    this.#turns.set(key, turn)
    return turn.finally(() => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key)
    })
  }

  async #publishOne(key: string): Promise<boolean> {
    const sql = this.#storage.sql
    const [owed] = sql.exec<{ version: number }>('SELECT version FROM pending WHERE key = ?', key).toArray()
    if (!owed) return true
    try {
      await this.#write(key)
    } catch (error) {
      sql.exec('UPDATE pending SET attempts = attempts + 1 WHERE key = ?', key)
      log('error', 'publication-failed', { key: redactKey(key), error: String(error) })
      return false
    }
    sql.exec('DELETE FROM pending WHERE key = ? AND version = ?', key, owed.version)
    return true
  }

  async #write(key: string): Promise<void> {
    const { buildEntry } = await import('./kv-entries.ts')
    const { value, metadata, seconds } = buildEntry(this.#storage.sql, key)
    await this.#kv.put(key, value, { metadata, ...(seconds !== undefined && { expirationTtl: seconds }) })
  }
}

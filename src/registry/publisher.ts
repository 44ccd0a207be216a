import type { RepresentationName } from '../card/representations.ts'
import { log } from '../http/log.ts'
import { encodeEnvelope, type Representations } from './envelope.ts'

/** How long after a write, or a failed try, the alarm looks for what KV still lacks. */
const firstRetry = 1_000
const lastRetry = 60_000

/**
 * Brings KV to what the Registry says. A commit owes KV its keys; publishing reads the truth anew for each, so that the
 * newest wins, and one key is published by one writer at a time. What fails stays owed, and an alarm tries it again.
 */
export class Publisher {
  readonly #storage: DurableObjectStorage
  readonly #kv: KVNamespace
  readonly #turns = new Map<string, Promise<boolean>>()

  constructor(storage: DurableObjectStorage, kv: KVNamespace) {
    this.#storage = storage
    this.#kv = kv
  }

  /** Notes, in the caller's transaction, that KV lacks the truth of these keys; the alarm stands in case we die before. */
  owe(keys: readonly string[]): void {
    for (const key of keys)
      this.#storage.sql.exec(
        'INSERT INTO pending (key, version) VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET version = version + 1, attempts = 0',
        key,
      )
    void this.#storage.setAlarm(Date.now() + firstRetry)
  }

  /** Publishes those of the keys that are owed; whether KV now has them all. */
  async publish(keys: readonly string[]): Promise<boolean> {
    const published = await Promise.all(keys.map(key => this.#inTurn(key)))
    return published.every(done => done)
  }

  /** Publishes whatever is owed, and comes back later for what still fails. */
  async retry(): Promise<void> {
    const owed = this.#storage.sql.exec<{ key: string }>('SELECT key FROM pending').toArray()
    await this.publish(owed.map(({ key }) => key))
    const { attempts } = this.#storage.sql
      .exec<{ attempts: number | null }>('SELECT MIN(attempts) AS attempts FROM pending')
      .one()
    if (attempts !== null) await this.#storage.setAlarm(Date.now() + Math.min(lastRetry, firstRetry * 2 ** attempts))
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
      log('error', 'publication-failed', { key, error: String(error) })
      return false
    }
    sql.exec('DELETE FROM pending WHERE key = ? AND version = ?', key, owed.version)
    return true
  }

  async #write(key: string): Promise<void> {
    const [kind, name] = [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)]
    const entry = kind === 'card' ? this.#card(name) : this.#host(name)
    if (entry) await this.#kv.put(key, entry.value, { metadata: entry.metadata })
    else await this.#kv.delete(key)
  }

  #host(hostname: string): { value: string; metadata: unknown } | undefined {
    const [row] = this.#storage.sql
      .exec<{ id: string; seq: number }>('SELECT id, seq FROM hosts WHERE hostname = ?', hostname)
      .toArray()
    return row && { value: row.id, metadata: { seq: row.seq } }
  }

  #card(id: string): { value: Uint8Array; metadata: unknown } | undefined {
    const sql = this.#storage.sql
    const [agent] = sql
      .exec<{ seq: number; modified: number; etag: string }>(
        `SELECT seq, modified, manifest_etag AS etag FROM agents WHERE id = ? AND visibility = 'public'`,
        id,
      )
      .toArray()
    if (!agent) return undefined
    const representations: Representations = {}
    for (const { names, etag, body } of sql.exec<{ names: string; etag: string; body: ArrayBuffer }>(
      'SELECT names, etag, body FROM representations WHERE id = ?',
      id,
    ))
      for (const name of JSON.parse(names) as RepresentationName[])
        representations[name] = { etag, bytes: new Uint8Array(body) }
    const modified = new Date(agent.modified).toUTCString()
    return {
      value: encodeEnvelope({ seq: agent.seq, modified, representations }),
      metadata: { seq: agent.seq, etag: agent.etag },
    }
  }
}

import { log, logUnexpected } from '../../http/index.ts'
import type { Alarm } from '../alarm.ts'
import { toAgentEnvelope, toEnvelope } from '../documents.ts'
import { encodeEnvelope, redactKey } from '../kv-format.ts'
import { type Row, selectColumn, selectFirst, selectValue } from '../sql.ts'
import * as tables from '../tables/index.ts'

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
    const entry = selectFirst<Row<typeof tables.outbox>>(sql, 'SELECT * FROM outbox WHERE key = ?', key)
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

/** The value of a key in KV, which expires after `seconds`; without them, never. */
type KvEntry = { value: string | Uint8Array; metadata: { seq: number; etag?: string }; seconds?: number }

/** The lifetime of a tombstone in KV: longer than any isolate lives, whose memory may still have the last value. */
const TOMBSTONE_SECONDS = 30 * 86_400

/** The lifetimes that KV accepts. */
const MAX_LIFETIME_SECONDS = 2 ** 31 - 1
const MIN_LIFETIME_SECONDS = 60

/** Publishes the current state of a key to KV or to an object. Returns further keys that are to be published. */
export const publishKey = async (storage: DurableObjectStorage, key: string, env: Env): Promise<readonly string[]> => {
  const { kind, name } = parseKey(key)
  if (kind === 'sign') return (await import('./resign.ts')).resign(storage, name, env)
  const work = works[kind]
  if (work) await work(storage, name, env)
  else {
    const { value, metadata, seconds } = buildEntry(storage.sql, key)
    await env.CARDS.put(key, value, { metadata, ...(seconds !== undefined && { expirationTtl: seconds }) })
  }
  return []
}

/** Checks whether a key takes tasks from their owners: twice is too often, as there may be new tasks meanwhile. */
const takesOwners = (key: string): boolean => ['task-owners', 'tasks'].includes(parseKey(key).kind)

/** Publishes what is not in KV, by the kind of its key. */
const works: Record<string, (storage: DurableObjectStorage, name: string, env: Env) => Promise<void>> = {
  refresh: ({ sql }, id, env) => env.REMOTE_CARDS.getByName(id).schedule(id, tables.selectSource(sql, id)?.due ?? null),
  'task-owners': async ({ sql }, id, env) => {
    // Another agent that has the id now keeps the owners of its tasks.
    if (!tables.selectAgent(sql, id)) await env.TASK_OWNERS.getByName(id).clear()
  },
  tasks: (_, id, env) => env.TASK_OWNERS.getByName(id).release(),
  events: (storage, _, env) => sendChanges(storage, env),
  index: async (storage, id) => storage.transactionSync(() => tables.indexStored(storage.sql, id)),
}

/** Changes that `Events` is sent at once. */
const CHANGES_PER_REQUEST = 100

/** The last change that `Events` is known to have. */
const sent = new WeakMap<DurableObjectStorage, number>()

/** Sends `Events` the changes that it does not have. Those up to `imported` were delivered by another host. */
const sendChanges = async (storage: DurableObjectStorage, env: Env): Promise<void> => {
  const { sql } = storage
  const imported = tables.selectImportedChanges(sql)
  const events = env.EVENTS.getByName('default')
  let changes: tables.StoredChange[]
  do {
    const after = sent.get(storage) ?? (await events.append([], imported))
    changes = tables.selectChanges(sql, after, CHANGES_PER_REQUEST)
    if (changes.length > 0) sent.set(storage, await events.append(changes, imported))
  } while (changes.length === CHANGES_PER_REQUEST)
}

/** Builds the entry of a key of KV from the tables as they are now. */
export const buildEntry = (sql: SqlStorage, key: string): KvEntry => {
  const { kind, name } = parseKey(key)
  const build = builders[kind]
  if (build === undefined) throw new Error(`KV has no keys such as "${key}"`)
  return build(sql, name)
}

const parseKey = (key: string): { kind: string; name: string } => {
  const colon = key.indexOf(':')
  return { kind: key.slice(0, colon), name: key.slice(colon + 1) }
}

const builders: Record<string, (sql: SqlStorage, name: string) => KvEntry> = {
  card: (sql, id) => {
    const agent = tables.selectAgent(sql, id)
    if (!agent) return emptyEntry(sql, id)
    const source = tables.selectSource(sql, id)?.health
    const { published: seq, manifest_etag: etag } = agent
    const value = encodeEnvelope(toAgentEnvelope({ ...agent, seq, source }, tables.selectDocuments(sql, id)))
    return { value, metadata: { seq, etag } }
  },
  extended: (sql, name) => {
    const [id = '', tier] = name.split(':')
    const agent = tables.selectAgent(sql, id)
    const card = tables.selectDocuments(sql, id, tier)
    if (!agent || !card) return emptyEntry(sql, id)
    const source = tables.selectSource(sql, id)?.health
    const { published: seq } = agent
    return { value: encodeEnvelope(toEnvelope({ ...agent, seq, source }, card)), metadata: { seq } }
  },
  host: (sql, hostname) => {
    const host = selectFirst<Row<typeof tables.hosts>>(sql, 'SELECT * FROM hosts WHERE hostname = ?', hostname)
    const { id = null, seq = 0 } = host ?? {}
    return id === null ? tombstone(seq) : { value: id, metadata: { seq } }
  },
  token: (sql, hash) => {
    const token = selectFirst<Row<typeof tables.tokens>>(sql, 'SELECT * FROM tokens WHERE hash = ?', hash)
    if (!token) return tombstone(tables.TOKEN_SEQ.revoked)
    const lifetime = token.expires === null ? {} : { seconds: secondsUntil(token.expires) }
    return { value: token.record, metadata: { seq: tables.TOKEN_SEQ.issued }, ...lifetime }
  },
  // Empty once the agent is removed, under a later number than any receipt before.
  receipt: (sql, id) => {
    const stored = tables.selectReceipt(sql, id)
    return stored ? { value: stored.receipt, metadata: { seq: stored.checked } } : tombstone(Date.now())
  },
}

/** Builds an envelope without documents, as of the agent's last revision. */
const emptyEntry = (sql: SqlStorage, id: string): KvEntry => {
  const seq = selectValue<number>(sql, 'SELECT MAX(seq) FROM revisions WHERE id = ?', id) ?? 0
  return tombstone(seq, encodeEnvelope({ seq, modified: '', representations: {} }))
}

const tombstone = (seq: number, value: KvEntry['value'] = ''): KvEntry => ({
  value,
  metadata: { seq },
  seconds: TOMBSTONE_SECONDS,
})

const secondsUntil = (time: number): number =>
  Math.min(Math.max(MIN_LIFETIME_SECONDS, Math.ceil((time - Date.now()) / 1000)), MAX_LIFETIME_SECONDS)

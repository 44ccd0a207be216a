import { toAgentEnvelope, toEnvelope } from '../documents.ts'
import { encodeEnvelope } from '../kv-format.ts'
import { type Row, selectFirst, selectValue } from '../sql.ts'
import * as tables from '../tables/index.ts'

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
export const takesOwners = (key: string): boolean => ['task-owners', 'tasks'].includes(parseKey(key).kind)

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

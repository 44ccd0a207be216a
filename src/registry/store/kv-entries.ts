import { type DocumentName, type Envelope, encodeEnvelope, type Representations } from '../kv-format.ts'
import type { StoredChange } from '../records.ts'
import { selectPublishedHealth, selectReceipt, selectSigning, selectSource, TOKEN_SEQ } from '../tables/index.ts'
import { selectChanges, selectImportedChanges } from './changes.ts'
import { selectNewestRevision } from './revisions.ts'
import { indexStored } from './search.ts'

/** The value of a key in KV, which expires after `seconds`; without them, never. */
export type KvEntry = { value: string | Uint8Array; metadata: { seq: number; etag?: string }; seconds?: number }

/** How long a tombstone stays in KV: longer than any isolate lives, whose memory may still have the last value. */
const TOMBSTONE_SECONDS = 30 * 86_400

/** The lifetimes that KV accepts. */
const MAX_LIFETIME_SECONDS = 2 ** 31 - 1
const MIN_LIFETIME_SECONDS = 60

/** Returns the key in the outbox for the object that refreshes an agent's remote card. It is not a KV key. */
export const refreshKey = (id: string): string => `refresh:${id}`

/** Returns the key in the outbox for an imported agent that is not in the search index yet. It is not a KV key. */
export const indexKey = (id: string): string => `index:${id}`

/** Returns the key in the outbox for the object that knows who started the tasks of an agent that was removed. */
export const taskOwnersKey = (id: string): string => `task-owners:${id}`

/** Returns the key in the outbox for an agent whose tasks lose their owners. It is not a KV key. */
export const tasksKey = (id: string): string => `tasks:${id}`

/**
 * Publishes the current state of a key to KV, or to the object of the agent that the key is for. Returns keys that are to be published
 * as well.
 */
export const publishKey = async (storage: DurableObjectStorage, key: string, env: Env): Promise<readonly string[]> => {
  const { sql } = storage
  const { kind, name } = parseKey(key)
  if (kind === 'refresh') {
    await env.REMOTE_CARDS.getByName(name).schedule(name, selectSource(sql, name)?.due ?? null)
    return []
  }
  if (kind === 'task-owners') {
    // Another agent that has the id now keeps the owners of its tasks.
    if (!selectNewestRevision(sql, name)) await env.TASK_OWNERS.getByName(name).clear()
    return []
  }
  if (kind === 'tasks') {
    await env.TASK_OWNERS.getByName(name).release()
    return []
  }
  if (kind === 'events') return sendChanges(sql, env)
  if (kind === 'index') {
    storage.transactionSync(() => indexStored(sql, name))
    return []
  }
  if (kind === 'sign') {
    const { resign } = await import('./resign.ts')
    return resign(storage, name, env)
  }
  const { value, metadata, seconds } = buildEntry(sql, key)
  await env.CARDS.put(key, value, { metadata, ...(seconds !== undefined && { expirationTtl: seconds }) })
  return []
}

/** Changes that `Events` is sent at once. */
const CHANGES_PER_REQUEST = 100

/**
 * Sends `Events` the changes that it does not have: it answers with the number of the newest that it has. Those up to `imported` were
 * made on another host, which has told its own webhook.
 */
const sendChanges = async (sql: SqlStorage, env: Env): Promise<readonly string[]> => {
  const imported = selectImportedChanges(sql)
  const events = env.EVENTS.getByName('default')
  for (let changes: StoredChange[] = []; ; ) {
    changes = selectChanges(sql, await events.append(changes, imported), CHANGES_PER_REQUEST)
    if (changes.length === 0) return []
  }
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

/** Of an internal agent, the edge has only the profile, which calls with a token are checked against. */
const cardEntry = (sql: SqlStorage, id: string): KvEntry => {
  const [agent] = sql
    .exec<{ seq: number; modified: number; etag: string; visibility: string }>(
      'SELECT seq, modified, manifest_etag AS etag, visibility FROM agents WHERE id = ?',
      id,
    )
    .toArray()
  if (!agent) return tombstone(sql, id)
  const { seq, modified, etag, visibility } = agent
  const { profile, ...cards } = representationsOf(
    sql.exec<DocumentRow>('SELECT names, etag, body FROM representations WHERE id = ?', id),
  )
  const health = selectPublishedHealth(sql, id)
  const signedSeq = selectSigning(sql, id)?.publishedSeq ?? 0
  const isPublic = visibility === 'public'
  const envelope = {
    seq: Math.max(health?.seq ?? seq, signedSeq),
    modified: new Date(modified).toUTCString(),
    representations: { ...(isPublic && cards), ...(profile && { profile }) },
    ...(isPublic && health && { source: health.health }),
  }
  return { value: encodeEnvelope(envelope), metadata: { seq: envelope.seq, etag } }
}

/** The documents of one tier's extended card, or a tombstone where the tier has none. */
const extendedEntry = (sql: SqlStorage, name: string): KvEntry => {
  const [id = '', tier = ''] = name.split(':')
  const rows = sql
    .exec<DocumentRow & { seq: number; modified: number }>(
      'SELECT etag, names, body, seq, modified FROM agents JOIN extended USING (id) WHERE id = ? AND tier = ?',
      ...[id, tier],
    )
    .toArray()
  const [first] = rows
  if (!first) return tombstone(sql, id)
  const health = selectPublishedHealth(sql, id)
  const signedSeq = selectSigning(sql, id)?.publishedSeq ?? 0
  const envelope: Envelope = {
    seq: Math.max(health?.seq ?? first.seq, signedSeq),
    modified: new Date(first.modified).toUTCString(),
    representations: representationsOf(rows),
    ...(health && { source: health.health }),
  }
  return { value: encodeEnvelope(envelope), metadata: { seq: envelope.seq } }
}

type DocumentRow = { names: string; etag: string; body: ArrayBuffer }

const representationsOf = (rows: Iterable<DocumentRow>): Representations => {
  const representations: Representations = {}
  for (const { names, etag, body } of rows)
    for (const name of JSON.parse(names) as DocumentName[])
      representations[name] = { etag, bytes: new Uint8Array(body) }
  return representations
}

/** An envelope without documents, as of the agent's last revision. */
const tombstone = (sql: SqlStorage, id: string): KvEntry => {
  const { seq } = sql.exec<{ seq: number }>('SELECT MAX(seq) AS seq FROM revisions WHERE id = ?', id).one()
  const value = encodeEnvelope({ seq, modified: '', representations: {} })
  return { value, metadata: { seq }, seconds: TOMBSTONE_SECONDS }
}

const hostEntry = (sql: SqlStorage, hostname: string): KvEntry => {
  const { id, seq } = sql
    .exec<{ id: string | null; seq: number }>('SELECT id, seq FROM hosts WHERE hostname = ?', hostname)
    .one()
  return { value: id ?? '', metadata: { seq }, ...(id === null && { seconds: TOMBSTONE_SECONDS }) }
}

const tokenEntry = (sql: SqlStorage, hash: string): KvEntry => {
  const [token] = sql
    .exec<{ record: string; expires: number | null }>('SELECT record, expires FROM tokens WHERE hash = ?', hash)
    .toArray()
  if (!token) return { value: '', metadata: { seq: TOKEN_SEQ.revoked }, seconds: TOMBSTONE_SECONDS }
  return {
    value: token.record,
    metadata: { seq: TOKEN_SEQ.issued },
    ...(token.expires !== null && { seconds: secondsUntil(token.expires) }),
  }
}

/** The receipt of an agent; empty once the agent is removed, under a later number than any receipt before. */
const receiptEntry = (sql: SqlStorage, id: string): KvEntry => {
  const stored = selectReceipt(sql, id)
  return stored
    ? { value: stored.receipt, metadata: { seq: stored.checked } }
    : { value: '', metadata: { seq: Date.now() }, seconds: TOMBSTONE_SECONDS }
}

const secondsUntil = (time: number): number =>
  Math.min(Math.max(MIN_LIFETIME_SECONDS, Math.ceil((time - Date.now()) / 1000)), MAX_LIFETIME_SECONDS)

const builders: Record<string, (sql: SqlStorage, name: string) => KvEntry> = {
  card: cardEntry,
  extended: extendedEntry,
  host: hostEntry,
  token: tokenEntry,
  receipt: receiptEntry,
}

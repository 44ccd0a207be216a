import { type DocumentName, type Envelope, encodeEnvelope, type Representations } from '../kv-format.ts'
import { type Row, selectAll, selectFirst, selectValue } from '../sql.ts'
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

/** Publishes what is not in KV, by the kind of its key. */
const works: Record<string, (storage: DurableObjectStorage, name: string, env: Env) => Promise<void>> = {
  refresh: ({ sql }, id, env) => env.REMOTE_CARDS.getByName(id).schedule(id, tables.selectSource(sql, id)?.due ?? null),
  'task-owners': async ({ sql }, id, env) => {
    // Another agent that has the id now keeps the owners of its tasks.
    if (!tables.selectNewestRevision(sql, id)) await env.TASK_OWNERS.getByName(id).clear()
  },
  tasks: (_, id, env) => env.TASK_OWNERS.getByName(id).release(),
  events: ({ sql }, _, env) => sendChanges(sql, env),
  index: async (storage, id) => storage.transactionSync(() => tables.indexStored(storage.sql, id)),
}

/** Changes that `Events` is sent at once. */
const CHANGES_PER_REQUEST = 100

/** Sends `Events` the changes that it does not have. Those up to `imported` were delivered by another host. */
const sendChanges = async (sql: SqlStorage, env: Env): Promise<void> => {
  const imported = tables.selectImportedChanges(sql)
  const events = env.EVENTS.getByName('default')
  let changes: tables.StoredChange[] = []
  do changes = tables.selectChanges(sql, await events.append(changes, imported), CHANGES_PER_REQUEST)
  while (changes.length > 0)
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
    const agent = selectFirst<Row<typeof tables.agents>>(sql, 'SELECT * FROM agents WHERE id = ?', id)
    if (!agent) return emptyEntry(sql, id)
    const rows = selectAll<DocumentRow>(sql, 'SELECT names, etag, body FROM representations WHERE id = ?', id)
    const envelope = envelopeOf(sql, agent, rows)
    const { seq, modified, representations } = envelope
    // The edge has only the profile of an internal agent, for calls with a token.
    const profile = representations.profile && { profile: representations.profile }
    const shown = agent.visibility === 'public' ? envelope : { seq, modified, representations: { ...profile } }
    return { value: encodeEnvelope(shown), metadata: { seq, etag: agent.manifest_etag } }
  },
  extended: (sql, name) => {
    const [id = '', tier = ''] = name.split(':')
    const query =
      'SELECT id, etag, names, body, seq, modified FROM agents JOIN extended USING (id) WHERE id = ? AND tier = ?'
    const rows = selectAll<DocumentRow & AgentRow>(sql, query, id, tier)
    const [first] = rows
    if (!first) return emptyEntry(sql, id)
    const envelope = envelopeOf(sql, first, rows)
    return { value: encodeEnvelope(envelope), metadata: { seq: envelope.seq } }
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

type AgentRow = Pick<Row<typeof tables.agents>, 'id' | 'seq' | 'modified'>
type DocumentRow = Pick<Row<typeof tables.representations>, 'names' | 'etag' | 'body'>

const envelopeOf = (sql: SqlStorage, { id, seq, modified }: AgentRow, rows: readonly DocumentRow[]): Envelope => {
  const health = tables.selectSource(sql, id)?.publishedHealth
  const representations: Representations = {}
  for (const { names, etag, body } of rows)
    for (const name of JSON.parse(names) as DocumentName[])
      representations[name] = { etag, bytes: new Uint8Array(body) }
  return {
    seq: Math.max(health?.seq ?? seq, tables.selectSigning(sql, id)?.publishedSeq ?? 0),
    modified: new Date(modified).toUTCString(),
    representations,
    ...(health && { source: health.health }),
  }
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

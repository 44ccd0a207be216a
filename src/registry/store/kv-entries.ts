import { type DocumentName, encodeEnvelope, type Representations } from '../kv-format.ts'
import { type Entry, tombstone, tombstoneSeconds } from './entry.ts'
import { extendedEntry } from './extended.ts'
import { changesEntry } from './recent-changes.ts'
import { publishedHealth } from './sources.ts'
import { tokenEntry } from './tokens.ts'

/** What KV is to hold under a key, as the Registry says now. */
export const buildEntry = (sql: SqlStorage, key: string): Entry => {
  const colon = key.indexOf(':')
  const kind = kinds[key.slice(0, colon)]
  if (kind === undefined) throw new Error(`KV has no keys such as "${key}"`)
  return kind(sql, key.slice(colon + 1))
}

/** Of an internal agent the edge has the profile alone, which calls with a token are checked against. */
const cardEntry = (sql: SqlStorage, id: string): Entry => {
  const [agent] = sql
    .exec<{ seq: number; modified: number; etag: string; visibility: string }>(
      'SELECT seq, modified, manifest_etag AS etag, visibility FROM agents WHERE id = ?',
      id,
    )
    .toArray()
  if (!agent) return tombstone(sql, id)
  const { seq, modified, etag, visibility } = agent
  const { profile, ...rest } = representationsOf(sql, id)
  // One that an older version of this host registered has none.
  if (visibility !== 'public' && profile === undefined) return tombstone(sql, id)
  const told = publishedHealth(sql, id)
  const isPublic = visibility === 'public'
  const envelope = {
    seq: told?.seq ?? seq,
    modified: new Date(modified).toUTCString(),
    representations: { ...(isPublic && rest), ...(profile && { profile }) },
    ...(isPublic && told && { source: told.health }),
  }
  return { value: encodeEnvelope(envelope), metadata: { seq: envelope.seq, etag } }
}

const representationsOf = (sql: SqlStorage, id: string): Representations => {
  const representations: Representations = {}
  for (const { names, etag, body } of sql.exec<{ names: string; etag: string; body: ArrayBuffer }>(
    'SELECT names, etag, body FROM representations WHERE id = ?',
    id,
  ))
    for (const name of JSON.parse(names) as DocumentName[])
      representations[name] = { etag, bytes: new Uint8Array(body) }
  return representations
}

const hostEntry = (sql: SqlStorage, hostname: string): Entry => {
  const { id, seq } = sql
    .exec<{ id: string | null; seq: number }>('SELECT id, seq FROM hosts WHERE hostname = ?', hostname)
    .one()
  return { value: id ?? '', metadata: { seq }, ...(id === null && { seconds: tombstoneSeconds }) }
}

/** What stands under the keys of each kind. */
const kinds: Record<string, (sql: SqlStorage, name: string) => Entry> = {
  card: cardEntry,
  extended: extendedEntry,
  changes: changesEntry,
  host: hostEntry,
  token: tokenEntry,
}

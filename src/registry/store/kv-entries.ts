import type { RepresentationName } from '../../card/model/constants.ts'
import { type ChangesText, type DocumentName, encodeEnvelope, type Representations } from '../kv-format.ts'
import { publishedHealth } from './sources.ts'
import { tokenSeqs } from './tokens.ts'

/** What KV is to hold under a key, and for how long: for ever, unless `seconds` says otherwise. */
export type Entry = { value: string | Uint8Array; metadata: { seq: number; etag?: string }; seconds?: number }

/**
 * How long KV remembers that something is gone, which readers must be told rather than not find: longer than any isolate
 * lives, which may hold it still.
 */
export const tombstoneSeconds = 30 * 86_400

/** That there is nothing of an agent any more, as of its last revision. */
export const tombstone = (sql: SqlStorage, id: string): Entry => {
  const { seq } = sql.exec<{ seq: number }>('SELECT MAX(seq) AS seq FROM revisions WHERE id = ?', id).one()
  const value = encodeEnvelope({ seq, modified: '', representations: {} })
  return { value, metadata: { seq }, seconds: tombstoneSeconds }
}

/** How far back KV tells of changes, in ms, and of how many agents at most: what is left out, readers look up one by one. */
const window = 15 * 60_000
const most = 2_000

/** What KV is to say of the changes of the last minutes: owed with all that the edge is told of agents, and written by the alarm, for all of a second. */
const changesEntry = (sql: SqlStorage): Entry => {
  const now = Date.now()
  const rows = sql
    .exec<{ id: string; seq: number; at: number }>(
      `SELECT id, MAX(seq) AS seq, MAX(at) AS at FROM (
        SELECT id, seq, created AS at FROM revisions WHERE created > ?1
        UNION ALL SELECT id, told, told_at FROM sources WHERE told_at > ?1
      ) GROUP BY id ORDER BY at DESC LIMIT ?2`,
      now - window,
      most,
    )
    .toArray()
  const last = rows.length === most ? rows.at(-1) : undefined
  const text: ChangesText = { since: last ? last.at + 1 : now - window, seqs: rows.map(({ id, seq }) => [id, seq]) }
  return { value: JSON.stringify(text), metadata: { seq: now } }
}

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

/** What KV is to hold under the key of an extended card: all its documents, or that there is none of that tier. */
const extendedEntry = (sql: SqlStorage, name: string): Entry => {
  const [id = '', tier = ''] = name.split(':')
  const rows = sql
    .exec<{ etag: string; names: string; body: ArrayBuffer; seq: number; modified: number }>(
      'SELECT etag, names, body, seq, modified FROM agents JOIN extended USING (id) WHERE id = ? AND tier = ?',
      ...[id, tier],
    )
    .toArray()
  const [first] = rows
  if (!first) return tombstone(sql, id)
  const told = publishedHealth(sql, id)
  const seq = told?.seq ?? first.seq
  const representations: Representations = {}
  for (const { etag, names, body } of rows)
    for (const name of JSON.parse(names) as RepresentationName[])
      representations[name] = { etag, bytes: new Uint8Array(body) }
  const modified = new Date(first.modified).toUTCString()
  const value = encodeEnvelope({ seq, modified, representations, ...(told && { source: told.health }) })
  return { value, metadata: { seq } }
}

/** What KV is to hold of a token: its record for as long as it holds, or nothing, said for longer than any isolate lives. */
const tokenEntry = (sql: SqlStorage, hash: string): Entry => {
  const [token] = sql
    .exec<{ record: string; expires: number | null }>('SELECT record, expires FROM tokens WHERE hash = ?', hash)
    .toArray()
  if (!token) return { value: '', metadata: { seq: tokenSeqs.revoked }, seconds: tombstoneSeconds }
  return {
    value: token.record,
    metadata: { seq: tokenSeqs.issued },
    ...(token.expires !== null && { seconds: secondsUntil(token.expires) }),
  }
}

const secondsUntil = (time: number): number =>
  Math.min(Math.max(60, Math.ceil((time - Date.now()) / 1000)), longestSeconds)

const longestSeconds = 2 ** 31 - 1

/** What stands under the keys of each kind. */
const kinds: Record<string, (sql: SqlStorage, name: string) => Entry> = {
  card: cardEntry,
  extended: extendedEntry,
  changes: changesEntry,
  host: hostEntry,
  token: tokenEntry,
}

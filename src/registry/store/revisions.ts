import { groupByEtag } from '../kv-format.ts'
import type { Registration } from '../records.ts'
import { serializeDrift } from './drift-text.ts'
import { isExtendedBy, storeExtended } from './extended.ts'
import { matchesFetched } from './fetched-cards.ts'
import { lastSeq } from './last-seq.ts'
import { namedSince } from './names.ts'
import { pruneFetched } from './revision-rows.ts'

/** What is registered of an agent. */
type Revision = { seq: number; origin: string; modified: number; manifestEtag: string }

/** The newest revision of an agent; undefined where there is no such agent. */
export const newestRevision = (sql: SqlStorage, id: string): Revision | undefined =>
  sql
    .exec<Revision>('SELECT seq, origin, modified, manifest_etag AS manifestEtag FROM agents WHERE id = ?', id)
    .toArray()[0]

/** The entity tags of all that is served of an agent, the manifest's among them. */
export const etagsOf = (sql: SqlStorage, id: string, { manifestEtag }: Revision): string[] => {
  const rows = sql
    .exec<{ etag: string }>(`SELECT etag FROM representations WHERE id = ? AND names <> '["profile"]'`, id)
    .toArray()
  return [manifestEtag, ...rows.map(({ etag }) => etag)]
}

/** Whether a registration says what is registered already, and kept under each name. */
export const isCurrent = (sql: SqlStorage, newest: Revision, registration: Registration): boolean => {
  const { id, origin, manifestEtag, representations, profile, extended } = registration
  if (origin !== newest.origin || manifestEtag !== newest.manifestEtag) return false
  const rows = sql
    .exec<{ etag: string; names: string }>('SELECT etag, names FROM representations WHERE id = ?', id)
    .toArray()
  const served = rows.map(({ etag, names }) => `${etag} ${names}`).sort()
  const given = groupByEtag({ ...representations, profile }).map(
    ({ etag, names }) => `${etag} ${JSON.stringify(names)}`,
  )
  if (served.join() !== given.sort().join() || !isExtendedBy(sql, id, extended)) return false
  return matchesFetched(sql, id, registration.source?.card)
}

/** Makes a registration the newest revision; its `seq`. */
export const appendRevision = (sql: SqlStorage, registration: Registration, modified: number): number => {
  const { id, visibility, origin, manifest, source, ...made } = registration
  const seq = lastSeq(sql, id) + 1
  const summary = { ...made.summary, named: namedSince(sql, id, made.summary.name, modified) }
  sql.exec(
    'INSERT INTO revisions (id, seq, created, origin, manifest, made_by, drift) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ...[id, seq, modified, origin, manifest, source?.by ?? 'manifest'],
    source?.drift?.length ? serializeDrift(source.drift) : null,
  )
  sql.exec(
    'INSERT OR REPLACE INTO agents (id, seq, visibility, origin, modified, manifest_etag, summary) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ...[id, seq, visibility, origin, modified, made.manifestEtag, JSON.stringify(summary)],
  )
  sql.exec('DELETE FROM representations WHERE id = ?', id)
  for (const { names, etag, bytes } of groupByEtag({ ...made.representations, profile: made.profile }))
    sql.exec(
      'INSERT INTO representations (id, etag, names, body) VALUES (?, ?, ?, ?)',
      ...[id, etag, JSON.stringify(names), bytes],
    )
  storeExtended(sql, id, made.extended)
  if (source?.by === 'fetch') pruneFetched(sql, id)
  return seq
}

/** Ends an agent with a revision that says so; its `seq`. */
export const appendTombstone = (sql: SqlStorage, id: string): number => {
  const seq = lastSeq(sql, id) + 1
  sql.exec('INSERT INTO revisions (id, seq, created) VALUES (?, ?, ?)', id, seq, Date.now())
  sql.exec('DELETE FROM agents WHERE id = ?', id)
  sql.exec('DELETE FROM representations WHERE id = ?', id)
  storeExtended(sql, id, [])
  return seq
}

import type { Drift } from '../../card/diff/drift.ts'
import { MAX_PAGE_SIZE } from '../../limits.ts'
import { groupByEtag } from '../kv-format.ts'
import type { Extended, Registration, SourceRecord } from '../records.ts'

import { namedSince } from './agents.ts'
import { lastSeq, matchesFetched, serializeDrift } from './sources.ts'

/** The tiers of an agent of which there are extended cards. */
export const storedTiers = (sql: SqlStorage, id: string): string[] =>
  sql
    .exec<{ tier: string }>('SELECT DISTINCT tier FROM extended WHERE id = ?', id)
    .toArray()
    .map(({ tier }) => tier)

/** Keeps the extended cards of an agent in the place of those that it had. */
const storeExtended = (sql: SqlStorage, id: string, extended: readonly Extended[]): void => {
  sql.exec('DELETE FROM extended WHERE id = ?', id)
  for (const { tier, representations } of extended)
    for (const { names, etag, bytes } of groupByEtag(representations))
      sql.exec(
        'INSERT INTO extended (id, tier, etag, names, body) VALUES (?, ?, ?, ?, ?)',
        ...[id, tier, etag, JSON.stringify(names), bytes],
      )
}

/** Whether the extended cards of an agent are these. */
const isExtendedBy = (sql: SqlStorage, id: string, extended: readonly Extended[]): boolean => {
  const kept = sql
    .exec<{ tier: string; etag: string; names: string }>('SELECT tier, etag, names FROM extended WHERE id = ?', id)
    .toArray()
    .map(({ tier, etag, names }) => `${tier} ${etag} ${names}`)
  const given = extended.flatMap(({ tier, representations }) =>
    groupByEtag(representations).map(({ etag, names }) => `${tier} ${etag} ${JSON.stringify(names)}`),
  )
  return kept.sort().join() === given.sort().join()
}

/** One revision of an agent as its history shows it; `created` in ms since 1970. */
export type RevisionRow = {
  seq: number
  created: number
  by: 'manifest' | 'fetch' | 'removal'
  /** What differs from what was fetched before, where that has changed. */
  drift?: Drift
}

/** How many revisions that refreshes made are kept of an agent: a source may change its card whenever it is asked. */
const mostFetched = 100

/** A page of an agent's revisions, the newest first, of those before a `seq`. Those of an older host were all made by manifests. */
export const revisionRows = (sql: SqlStorage, id: string, before: number, limit: number): RevisionRow[] =>
  sql
    .exec<{ seq: number; created: number; by: RevisionRow['by']; drift: string | null }>(
      `SELECT seq, created, CASE WHEN manifest IS NULL THEN 'removal' ELSE COALESCE(made_by, 'manifest') END AS "by", drift
        FROM revisions WHERE id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
      ...[id, before, Math.min(limit, MAX_PAGE_SIZE + 1)],
    )
    .toArray()
    .map(({ drift, ...row }) => ({ ...row, ...(drift !== null && { drift: JSON.parse(drift) as Drift }) }))

/** Who made a revision that is no removal. */
export const authorOf = (sql: SqlStorage, id: string, seq: number): SourceRecord['by'] =>
  sql
    .exec<{ by: SourceRecord['by'] }>(
      `SELECT COALESCE(made_by, 'manifest') AS "by" FROM revisions WHERE id = ? AND seq = ?`,
      ...[id, seq],
    )
    .one().by

/** Drops the oldest of the revisions that refreshes made, where there are too many. */
const pruneFetched = (sql: SqlStorage, id: string): void => {
  sql.exec(
    `DELETE FROM revisions WHERE id = ?1 AND made_by = 'fetch' AND seq <= (
      SELECT seq FROM revisions WHERE id = ?1 AND made_by = 'fetch' ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
    ...[id, mostFetched],
  )
}

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

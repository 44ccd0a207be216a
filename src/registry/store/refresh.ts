import { changesKey } from '../edge/kv-cache.ts'
import { keysOf } from '../kv-format.ts'
import {
  healthOf,
  type Leased,
  type NotLeased,
  type RefreshResult,
  type SourceRecord,
  type SourceState,
  type Written,
} from '../records.ts'
import { getManifest } from './agents.ts'
import { authorOf, newestRevision, storedTiers } from './revisions.ts'
import {
  deletePending,
  getFetched,
  getPending,
  lastSeq,
  leaseMilliseconds,
  nextRefreshAt,
  type SourceRow,
  savePending,
  saveValidators,
  sourceRow,
} from './sources.ts'

/** All that is kept of the source of an agent's card, what was fetched of it included; null where there is none. */
export const sourceRecord = (sql: SqlStorage, id: string): SourceRecord | null => {
  const row = sourceRow(sql, id)
  const newest = newestRevision(sql, id)
  if (!row || !newest) return null
  const { source, checked, failure } = row
  return {
    source,
    by: authorOf(sql, id, newest.seq),
    ...(checked !== undefined && { checked }),
    ...(failure && { failure }),
    ...getFetched(sql, id),
  }
}

/** Gives somebody the right to refresh an agent's card, if nobody has it and, unless `force`, it is time. */
export const leaseSource = (sql: SqlStorage, id: string, force: boolean): Leased | NotLeased => {
  const now = Date.now()
  const row = sourceRow(sql, id)
  const kept = getManifest(sql, id)
  const newest = newestRevision(sql, id)
  if (!row || !kept || !newest) return { outcome: 'none' }
  if (row.leasedUntil > now) return { outcome: 'busy' }
  if (!force && row.due > now) return { outcome: 'fresh', due: row.due }
  const { manifest, etag: manifestEtag, origin } = kept
  const record = sourceRecord(sql, id)
  if (!record) return { outcome: 'none' }
  return { outcome: 'leased', lease: take(sql, id, row, now), manifest, manifestEtag, origin, seq: newest.seq, record }
}

/** Gives a lease back of which nothing was learned; one that is over is somebody else's by now, or nobody's. */
export const releaseSource = (sql: SqlStorage, id: string, lease: string): void => {
  sql.exec('UPDATE sources SET lease = NULL, leased_until = 0 WHERE id = ? AND lease = ?', id, lease)
}

/**
 * The agents whose cards were to be read again before a time, those first that were longest not read: where not all can be, each
 * has its turn, and who wants to be read often keeps nobody waiting who does not.
 */
export const dueSources = (sql: SqlStorage, before: number, limit: number): string[] =>
  sql
    .exec<{ id: string }>(
      'SELECT id FROM sources WHERE due <= ? AND leased_until <= ? ORDER BY asked, id LIMIT ?',
      ...[before, Date.now(), limit],
    )
    .toArray()
    .map(({ id }) => id)

/** A refresh of which nothing is heard again counts as one that failed: it must not keep its place before all others. */
const take = (sql: SqlStorage, id: string, { source, failures, due }: SourceRow, now: number): string => {
  const lease = crypto.randomUUID()
  sql.exec(
    'UPDATE sources SET lease = ?, leased_until = ?, asked = ?, due = ? WHERE id = ?',
    ...[lease, now + leaseMilliseconds, now, Math.max(due, nextRefreshAt(source.ttl, failures + 1, now)), id],
  )
  return lease
}

/**
 * Ends a refresh of revision `seq` with what was learned. Of an agent that was registered anew meanwhile, or that somebody else
 * was given the right to refresh as this took too long, nothing is overwritten.
 * The edge is told whether the source fails, and how; not each time that it does not.
 */
export const recordResult = (
  sql: SqlStorage,
  id: string,
  seq: number,
  check: RefreshResult,
  lease: string,
): Written<Record<never, never>, never> => {
  const row = sourceRow(sql, id)
  if (!row || row.lease !== lease || newestRevision(sql, id)?.seq !== seq) return nothing
  const now = Date.now()
  const failure = 'failure' in check ? check.failure : undefined
  if (failure === undefined) keepWell(sql, id, row, now)
  else keepFailure(sql, id, row, failure, now)
  if ('held' in check) savePending(sql, id, check.held)
  if ('unchanged' in check) {
    deletePending(sql, id)
    if (check.validators) saveValidators(sql, id, check.validators)
  }
  if (row.failure?.status === failure?.status) return nothing
  sql.exec('UPDATE sources SET told = ?, told_at = ? WHERE id = ?', lastSeq(sql, id) + 1, now, id)
  const keys = keysOf(id, [], storedTiers(sql, id))
  return { made: {}, owed: [...keys, changesKey], publish: keys }
}

const nothing = { made: {}, owed: [], publish: [] } as const

const keepWell = (sql: SqlStorage, id: string, { source }: SourceRow, now: number): void => {
  sql.exec(
    `UPDATE sources SET checked = ?, due = ?, lease = NULL, leased_until = 0, failures = 0, failing_since = NULL, failure = NULL
      WHERE id = ?`,
    ...[now, nextRefreshAt(source.ttl, 0, now), id],
  )
}

const keepFailure = (
  sql: SqlStorage,
  id: string,
  { source, failures, failingSince }: SourceRow,
  failure: NonNullable<SourceRow['failure']>,
  now: number,
): void => {
  sql.exec(
    'UPDATE sources SET due = ?, lease = NULL, leased_until = 0, failures = ?, failing_since = ?, failure = ? WHERE id = ?',
    ...[nextRefreshAt(source.ttl, failures + 1, now), failures + 1, failingSince ?? now, JSON.stringify(failure), id],
  )
}

/** How the source of an agent's card stands; null where there is none. */
export const sourceState = (sql: SqlStorage, id: string): SourceState | null => {
  const row = sourceRow(sql, id)
  const newest = newestRevision(sql, id)
  if (!row || !newest) return null
  const { source, checked, due, failure, failingSince = 0, told } = row
  const { kind, url, ttl, staleIfError, pin } = source
  const held = getPending(sql, id)
  return {
    ...{ kind, url, ttl, staleIfError, pin, due },
    ...(checked !== undefined && { checked }),
    ...(failure && { failing: { ...failure, since: failingSince } }),
    ...(held && { held }),
    seq: newest.seq,
    told: { seq: told, health: healthOf(row) },
  }
}

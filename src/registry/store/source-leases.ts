import type { Leased, NotLeased } from '../source-record.ts'
import { getManifest } from './agents.ts'
import { newestRevision } from './revisions.ts'
import { sourceRecord } from './source-records.ts'
import { leaseMilliseconds, nextRefreshAt } from './source-times.ts'
import { type SourceRow, sourceRow } from './sources.ts'

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

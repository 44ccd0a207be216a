import type { Drift } from '../../card/diff/drift.ts'
import { limits } from '../../limits.ts'
import type { SourceRecord } from '../source-record.ts'

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
      ...[id, before, Math.min(limit, limits.page + 1)],
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
export const pruneFetched = (sql: SqlStorage, id: string): void => {
  sql.exec(
    `DELETE FROM revisions WHERE id = ?1 AND made_by = 'fetch' AND seq <= (
      SELECT seq FROM revisions WHERE id = ?1 AND made_by = 'fetch' ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
    ...[id, mostFetched],
  )
}

import { changesKey } from '../edge/changes.ts'
import { keysOf } from '../keys.ts'
import type { RefreshResult } from '../source-check.ts'
import type { Written } from '../written.ts'
import { storedTiers } from './extended.ts'
import { deletePending, savePending, saveValidators } from './fetched-cards.ts'
import { lastSeq } from './last-seq.ts'
import { newestRevision } from './revisions.ts'
import { nextRefreshAt } from './source-times.ts'
import { type SourceRow, sourceRow } from './sources.ts'

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

import { agentKeys } from '../kv-format.ts'
import type {
  Expected,
  RefreshBase,
  RefreshRecorded,
  RefreshWithoutCard,
  SourceFailure,
  SourceRecord,
  SourceState,
  WriteRejection,
  WriteResult,
} from '../records.ts'
import {
  deletePending,
  healthOf,
  nextRefreshAt,
  type SourceRow,
  savePending,
  saveValidators,
  saveVerification,
  selectFetched,
  selectLastSeq,
  selectPending,
  selectSource,
  selectVerification,
} from '../tables/index.ts'
import { selectManifest } from './agents.ts'
import { madeBy, selectNewestRevision, selectTiers } from './revisions.ts'

/** Returns all that is stored about the source of an agent's card, fetched documents included; null for none. */
export const sourceRecord = (sql: SqlStorage, id: string): SourceRecord | null => {
  const row = selectSource(sql, id)
  const newest = selectNewestRevision(sql, id)
  if (!row || !newest) return null
  const { source, checked, failure } = row
  return {
    source,
    by: madeBy(sql, id, newest.seq),
    ...(checked !== undefined && { checked }),
    ...(failure && { failure }),
    ...selectFetched(sql, id),
  }
}

/** Returns what a refresh of an agent's card is computed from; null for an agent without a remote card. */
export const refreshBase = (sql: SqlStorage, id: string): RefreshBase | null => {
  const record = sourceRecord(sql, id)
  const row = selectSource(sql, id)
  const stored = selectManifest(sql, id)
  const newest = selectNewestRevision(sql, id)
  if (!record || !row || !stored || !newest) return null
  return { manifest: stored.manifest, origin: stored.origin, seq: newest.seq, due: row.due, record }
}

/** Whether an agent and its source record are still those that a write was computed from. */
export const isUnchanged = (sql: SqlStorage, id: string, { seq, checked }: Expected): boolean =>
  (seq === undefined || (selectNewestRevision(sql, id)?.seq ?? null) === seq) &&
  (checked === undefined || (selectSource(sql, id)?.checked ?? null) === checked)

/**
 * Records a refresh that brought no new card to serve. The edge learns whether the source fails, and how; it does not learn of
 * each success.
 */
export const recordRefresh = (
  sql: SqlStorage,
  id: string,
  expected: Expected,
  result: RefreshWithoutCard,
): WriteResult<RefreshRecorded, WriteRejection> => {
  const row = selectSource(sql, id)
  if (!row || !isUnchanged(sql, id, expected)) return { error: { outcome: 'conflict' } }
  const failure = 'failure' in result ? result.failure : undefined
  if (failure === undefined) recordSuccess(sql, id, row)
  else recordFailure(sql, id, row, failure)
  if ('pending' in result) savePending(sql, id, result.pending)
  if ('unchanged' in result) {
    deletePending(sql, id)
    if (result.validators) saveValidators(sql, id, result.validators)
    if (result.verification) saveVerification(sql, id, result.verification)
  }
  const isPublished = row.failure?.status === failure?.status
  if (!isPublished) sql.exec('UPDATE sources SET published_seq = ? WHERE id = ?', selectLastSeq(sql, id) + 1, id)
  const keys = isPublished ? [] : agentKeys(id, [], selectTiers(sql, id))
  const state = sourceState(sql, id)
  if (!state) return { error: { outcome: 'conflict' } }
  return { value: { outcome: 'recorded', state }, staleKeys: keys, publishKeys: keys }
}

/** Returns the state of an agent's remote card; null for none. */
export const sourceState = (sql: SqlStorage, id: string): SourceState | null => {
  const row = selectSource(sql, id)
  const newest = selectNewestRevision(sql, id)
  if (!row || !newest) return null
  const { source, checked, due, failure, failingSince = 0, publishedSeq } = row
  const { kind, url, ttl, staleIfError, pin, verification } = source
  const pending = selectPending(sql, id)
  return {
    ...{ kind, url, ttl, staleIfError, pin, due },
    ...(checked !== undefined && { checked }),
    ...(failure && { failing: { ...failure, since: failingSince } }),
    ...(pending && { pending }),
    ...(verification && { verify: verification.policy, ...selectVerification(sql, id) }),
    seq: newest.seq,
    publishedHealth: { seq: publishedSeq, health: healthOf(row) },
  }
}

const recordSuccess = (sql: SqlStorage, id: string, { source }: SourceRow): void => {
  const now = Date.now()
  sql.exec(
    'UPDATE sources SET checked = ?, due = ?, failures = 0, failing_since = NULL, failure = NULL WHERE id = ?',
    ...[now, nextRefreshAt(source.ttl, 0, now), id],
  )
}

const recordFailure = (
  sql: SqlStorage,
  id: string,
  { source, failures, failingSince }: SourceRow,
  failure: SourceFailure,
): void => {
  const now = Date.now()
  sql.exec(
    'UPDATE sources SET due = ?, failures = ?, failing_since = ?, failure = ? WHERE id = ?',
    ...[nextRefreshAt(source.ttl, failures + 1, now), failures + 1, failingSince ?? now, JSON.stringify(failure), id],
  )
}

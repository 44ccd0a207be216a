import { agentKeys } from '../kv-format.ts'
import type { Expected } from '../prepare.ts'
import type { PendingCard, RefreshBase, RefreshWithoutCard, SourceRecord, SourceState } from '../source-record.ts'
import { selectValue, type WriteResult } from '../sql.ts'
import {
  deletePending,
  healthOf,
  nextRefreshAt,
  savePending,
  saveValidators,
  saveVerification,
  selectFetched,
  selectLastSeq,
  selectManifest,
  selectNewestRevision,
  selectSource,
  selectTiers,
} from '../tables/index.ts'

/** Returns all that is stored about the source of an agent's card, fetched documents included; null for none. */
export const sourceRecord = (sql: SqlStorage, id: string): SourceRecord | null => {
  const row = selectSource(sql, id)
  const newest = selectNewestRevision(sql, id)
  if (!row || !newest) return null
  const { source, checked, failure } = row
  const query = 'SELECT made_by FROM revisions WHERE id = ? AND seq = ?'
  return {
    source,
    by: selectValue<SourceRecord['by']>(sql, query, id, newest.seq) ?? 'manifest',
    ...(checked !== undefined && { checked }),
    ...(failure && { failure }),
    ...selectFetched(sql, id),
  }
}

/** Returns what a refresh of an agent's card is computed from; null for an agent without a remote card. */
export const refreshBase = (sql: SqlStorage, id: string): RefreshBase | null => {
  const record = sourceRecord(sql, id)
  const due = selectSource(sql, id)?.due
  const stored = selectManifest(sql, id)
  if (!record || due === undefined || !stored) return null
  const { manifest, origin, seq } = stored
  return { manifest, origin, seq, due, record }
}

/** Checks whether an agent and its source record are still those that a write was computed from. */
export const isUnchanged = (sql: SqlStorage, id: string, { seq, checked }: Expected): boolean =>
  (seq === undefined || (selectNewestRevision(sql, id)?.seq ?? null) === seq) &&
  (checked === undefined || (selectSource(sql, id)?.checked ?? null) === checked)

/**
 * Records a refresh that brought no new card to serve. The edge learns whether the source fails, and how; it does not learn
 * of each success.
 */
export const recordRefresh = (
  sql: SqlStorage,
  id: string,
  expected: Expected,
  result: RefreshWithoutCard,
): WriteResult<{ outcome: 'recorded'; state: SourceState }, { outcome: 'conflict' }> => {
  const row = selectSource(sql, id)
  if (!row || !isUnchanged(sql, id, expected)) return { error: { outcome: 'conflict' } }
  const failure = 'failure' in result ? result.failure : undefined
  const failures = failure ? row.failures + 1 : 0
  const now = Date.now()
  sql.exec(
    `UPDATE sources SET checked = ?, due = ?, failures = ?, failing_since = ?, failure = ? WHERE id = ?`,
    ...[failure ? (row.checked ?? null) : now, nextRefreshAt(row.source.ttl, failures, now), failures],
    ...[failure ? (row.failingSince ?? now) : null, failure ? JSON.stringify(failure) : null, id],
  )
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
  return { value: { outcome: 'recorded', state }, staleKeys: keys }
}

/** Returns the state of an agent's remote card; null for none. */
export const sourceState = (sql: SqlStorage, id: string): SourceState | null => {
  const row = selectSource(sql, id)
  const newest = selectNewestRevision(sql, id)
  if (!row || !newest) return null
  const { source, checked, due, failure, failingSince = 0, publishedSeq } = row
  const { kind, url, ttl, staleIfError, pin, verification } = source
  const { pending, verification: verified } = selectFetched(sql, id)
  return {
    ...{ kind, url, ttl, staleIfError, pin, due },
    ...(checked !== undefined && { checked }),
    ...(failure && { failing: { ...failure, since: failingSince } }),
    ...(pending && { pending: withoutCard(pending) }),
    ...(verification && { verify: verification.policy, ...(verified && { verification: verified }) }),
    seq: newest.seq,
    publishedHealth: { seq: publishedSeq, health: healthOf(row) },
  }
}

const withoutCard = ({ card: _, ...pending }: PendingCard): Omit<PendingCard, 'card'> => pending

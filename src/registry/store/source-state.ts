import { agentKeys } from '../kv-format.ts'
import type { Expected } from '../prepare.ts'
import type { RefreshWithoutCard, SourceRecord, SourceState } from '../source-record.ts'
import { selectValue, type WriteResult } from '../sql.ts'
import * as tables from '../tables/index.ts'

/** Returns all that is stored about the source of an agent's card, fetched documents included; null for none. */
export const sourceRecord = (sql: SqlStorage, id: string): SourceRecord | null => {
  const row = tables.selectSource(sql, id)
  if (!row) return null
  const { due, failures, failingSince, health, ...known } = row
  const query = 'SELECT made_by FROM agents JOIN revisions USING (id, seq) WHERE id = ?'
  return {
    ...known,
    by: selectValue<SourceRecord['by']>(sql, query, id) ?? 'manifest',
    ...tables.selectFetched(sql, id),
  }
}

/** The state that a refresh is computed from. `due` is when the card is to be fetched again, in ms since 1970. */
export type RefreshBase = NonNullable<ReturnType<typeof refreshBase>>

/** Returns the state that a refresh of an agent's card is computed from; null for an agent without a remote card. */
export const refreshBase = (sql: SqlStorage, id: string) => {
  const record = sourceRecord(sql, id)
  const due = tables.selectSource(sql, id)?.due
  const stored = tables.selectManifest(sql, id)
  if (!record || due === undefined || !stored) return null
  return { manifest: stored.manifest, origin: stored.origin, seq: stored.seq, due, record }
}

/** Checks whether an agent and its source record are still those that a write was computed from. */
export const isUnchanged = (
  sql: SqlStorage,
  id: string,
  agent: tables.Agent | undefined,
  { seq, checked }: Expected,
): boolean =>
  (seq === undefined || (agent?.seq ?? null) === seq) &&
  (checked === undefined || (tables.selectSource(sql, id)?.checked ?? null) === checked)

/** Records a refresh that brought no new card to serve. The edge learns of failures, but not of each success. */
export const recordRefresh = (
  sql: SqlStorage,
  id: string,
  expected: Expected,
  result: RefreshWithoutCard,
): WriteResult<{ outcome: 'recorded'; state: SourceState }, { outcome: 'conflict' }> => {
  const row = tables.selectSource(sql, id)
  const agent = tables.selectAgent(sql, id)
  if (!row || !agent || !isUnchanged(sql, id, agent, expected)) return { error: { outcome: 'conflict' } }
  const attempted = 'failure' in result ? { ...row, ...result } : { source: row.source, checked: Date.now() }
  const isHealthNew = tables.saveAttempt(sql, id, attempted)
  if (isHealthNew) tables.publishAgain(sql, agent)
  if ('pending' in result) tables.savePending(sql, id, result.pending)
  if ('unchanged' in result) {
    sql.exec("DELETE FROM fetched WHERE id = ? AND name = 'pending'", id)
    const validators = result.validators && JSON.stringify(result.validators)
    if (validators) sql.exec("UPDATE fetched SET validators = ? WHERE id = ? AND name = 'served'", validators, id)
    if (result.verification) tables.saveVerification(sql, id, result.verification)
  }
  const staleKeys = isHealthNew ? agentKeys(id, [], tables.selectExtendedTiers(sql, id)) : []
  const state = sourceState(sql, id)
  return state ? { value: { outcome: 'recorded', state }, staleKeys } : { error: { outcome: 'conflict' } }
}

/** Returns the state of an agent's remote card; null for none. */
export const sourceState = (sql: SqlStorage, id: string) => {
  const row = tables.selectSource(sql, id)
  const agent = tables.selectAgent(sql, id)
  if (!row || !agent) return null
  const { source, checked, due, failure, failingSince = 0, health } = row
  const { kind, url, ttl, staleIfError, pin, verification } = source
  const { pending, verification: verified } = tables.selectFetched(sql, id, false)
  return {
    ...{ kind, url, ttl, staleIfError, pin, due },
    ...(checked !== undefined && { checked }),
    ...(failure && { failing: { ...failure, since: failingSince } }),
    ...(pending && { pending }),
    ...(verification && { verify: verification.policy, ...(verified && { verification: verified }) }),
    ...{ seq: agent.seq, publishedHealth: { seq: agent.published, health } },
  }
}

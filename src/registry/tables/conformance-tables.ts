import { mergeObservations, Observations, StoredReceipt, timestamp } from '../../card/model/index.ts'
import { CHECK_SECONDS, CHECK_SEND_SECONDS, CHECK_TIMEOUT_SECONDS, OBSERVATION_SECONDS } from '../../limits.ts'
import { keyOf } from '../kv-format.ts'
import type { Row, WriteResult } from '../sql.ts'
import { defineTable, exists, selectFirst, selectJson, selectValue, storeRow } from '../sql.ts'
import { agentId, count, json } from './column-formats.ts'

/** The newest receipt of each agent. */
export const receipts = defineTable(
  'receipts',
  { id: 'text', checked: 'integer', receipt: 'text' },
  { keys: 'PRIMARY KEY (id)', formats: () => ({ id: agentId, checked: timestamp, receipt: json(StoredReceipt) }) },
)

/** The running checks: the agents, each with the time when its check has ended for certain. */
const running = new WeakMap<SqlStorage, Map<string, number>>()

/** The longest check: the last requests before its time is up, a message and a stream. */
const MAX_CHECK_MS = 1000 * (CHECK_SECONDS + 2 * CHECK_TIMEOUT_SECONDS + 2 * CHECK_SEND_SECONDS)

/** Begins a check of an agent. Returns false while another one runs. */
export const beginCheck = (sql: SqlStorage, id: string, now = Date.now()): boolean => {
  const checks = running.get(sql) ?? new Map<string, number>()
  running.set(sql, checks)
  if ((checks.get(id) ?? 0) > now) return false
  checks.set(id, now + MAX_CHECK_MS)
  return true
}

/** Ends the check of an agent, and stores its receipt in place of the one before; null if it brought none. */
export const endCheck = (
  sql: SqlStorage,
  id: string,
  stored: StoredReceipt | null,
): WriteResult<{ outcome: 'ended' }, never> => {
  running.get(sql)?.delete(id)
  // The agent may have been removed meanwhile.
  const isStored = stored !== null && exists(sql, 'agents WHERE id = ?', id)
  if (isStored)
    storeRow(sql, receipts, { id, checked: Date.parse(stored.receipt.checked), receipt: JSON.stringify(stored) })
  return { value: { outcome: 'ended' }, staleKeys: isStored ? [keyOf('receipt', id)] : [] }
}

/** Returns the receipt of an agent as JSON text, and when its check was made, in ms since 1970; undefined for none. */
export const selectReceipt = (sql: SqlStorage, id: string): Row<typeof receipts> | undefined =>
  selectFirst(sql, 'SELECT * FROM receipts WHERE id = ?', id)

/** Deletes the receipt of an agent. Returns the keys of KV that have it. */
export const deleteReceipt = (sql: SqlStorage, id: string): string[] =>
  sql.exec('DELETE FROM receipts WHERE id = ?', id).rowsWritten > 0 ? [keyOf('receipt', id)] : []

/** The observations of the calls of an agent on one day, counted from 1970. */
export const observations = defineTable(
  'observations',
  { id: 'text', day: 'integer', counts: 'text' },
  { keys: 'PRIMARY KEY (id, day)', formats: () => ({ id: agentId, day: count, counts: json(Observations) }) },
)

const DAY_MS = 86_400_000
const MAX_DAYS = OBSERVATION_SECONDS / 86_400

/** Adds the observations of an isolate to those of today, unless they began before the agent's newest revision. */
export const recordObservations = (sql: SqlStorage, id: string, observed: Observations, now = Date.now()): void => {
  const modified = selectValue<number>(sql, 'SELECT modified FROM agents WHERE id = ?', id)
  if (modified === undefined || observed.first < modified) return
  const today = Math.floor(now / DAY_MS)
  const [stored] = selectCounts(sql, id, today)
  if (stored) mergeObservations(stored, observed)
  storeRow(sql, observations, { id, day: today, counts: JSON.stringify(stored ?? observed) })
  sql.exec('DELETE FROM observations WHERE id = ? AND day <= ?', id, today - MAX_DAYS)
}

/** Returns the recent observations of an agent; null for none. */
export const selectObservations = (sql: SqlStorage, id: string, now = Date.now()): Observations | null => {
  // The newest first: what they have is kept where there are too many media types.
  const [total, ...others] = selectCounts(sql, id, Math.floor(now / DAY_MS) - MAX_DAYS + 1)
  for (const day of others) if (total) mergeObservations(total, day)
  return total ?? null
}

/** Returns the counts of an agent since a day, the newest day first. */
const selectCounts = (sql: SqlStorage, id: string, since: number): Observations[] =>
  selectJson(sql, 'SELECT counts FROM observations WHERE id = ? AND day >= ? ORDER BY day DESC', id, since)

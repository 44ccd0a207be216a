import { StoredReceipt, timestamp } from '../../card/model/index.ts'
import { CHECK_SECONDS, CHECK_SEND_SECONDS, CHECK_TIMEOUT_SECONDS } from '../../limits.ts'
import { keyOf } from '../kv-format.ts'
import { defineTable, exists, type Row, selectFirst, storeRow, type WriteResult } from '../sql.ts'
import { agentId, json } from './column-formats.ts'

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

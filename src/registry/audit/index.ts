import { canonicalJson } from '../../json/index.ts'
import { MAX_PAGE_SIZE, MAX_RECORDED_REFUSALS } from '../../limits.ts'
import { defineTable, type Row, selectFirst, selectJson, selectValue, storeRow } from '../sql.ts'
import { type AuditEntry, type AuditEvent, NO_ENTRY_HASH, sealEntry } from './chain.ts'

export * from './shared.ts'

/** The entries of the audit. The columns to filter by are computed, not stored. */
export const audit = defineTable(
  'audit',
  { number: 'integer', entry: 'text' },
  {
    keys: `time TEXT AS (json_extract(entry, '$.time')),
      actor TEXT AS (json_extract(entry, '$.actor')), agent TEXT AS (json_extract(entry, '$.agent')),
      what TEXT AS (json_extract(entry, '$.what')), PRIMARY KEY (number)`,
    indexes: {
      audit_by_actor: '(actor)',
      audit_by_agent: '(agent) WHERE agent IS NOT NULL',
      audit_by_event: '(what)',
    },
  },
)

/** The refused writes of an actor in one hour, counted from 1970. */
export const refusals = defineTable(
  'refusals',
  { actor: 'text', hour: 'integer', recorded: 'integer', omitted: 'integer' },
  { keys: 'PRIMARY KEY (actor)' },
)

/** A page of the audit, newest first: at most `limit` entries before a number. Times are in ms since 1970. */
export type AuditQuery = { [Filter in 'agent' | 'actor' | 'what']?: AuditEvent[Filter] | undefined } & {
  before: number
  limit: number
  since?: number | undefined
  until?: number | undefined
}

/** A refused write; `omitted` counts those of the same actor that the sender did not report. */
export type Refusal = { actor: string; agent?: string; code: string; status: number; omitted: number }

/** The newest entry of the audit, by which all others are fixed. */
export type AuditHead = Pick<AuditEntry, 'number' | 'time' | 'hash'>

/** Appends an entry in the transaction of what it records: no two entries have the same predecessor. */
export const appendEntry = (sql: SqlStorage, event: AuditEvent, at = Date.now()): AuditEntry => {
  const head = selectHead(sql)
  // The clock may be set back.
  const time = new Date(Math.max(at, head ? Date.parse(head.time) : 0)).toISOString()
  const previous = head?.hash ?? NO_ENTRY_HASH
  const entry = sealEntry({ ...event, number: (head?.number ?? 0) + 1, time, previous })
  storeEntry(sql, entry)
  return entry
}

/** Stores an entry as it is, in the audit or in a table with the same columns. */
export const storeEntry = (sql: SqlStorage, entry: AuditEntry, table = 'audit'): void => {
  sql.exec(`INSERT INTO ${table} (number, entry) VALUES (?, ?)`, entry.number, canonicalJson(entry))
}

/** Returns the newest entry; undefined for none. */
export const selectHead = (sql: SqlStorage): AuditHead | undefined =>
  selectJson<AuditEntry>(sql, 'SELECT entry FROM audit ORDER BY number DESC LIMIT 1')[0]

/** A page of the audit, and the newest entry of all; null for none. */
export type AuditPage = { entries: AuditEntry[]; head: AuditHead | null }

/** Returns a page of the audit with the newest entry of all. */
export const selectPage = (sql: SqlStorage, query: AuditQuery): AuditPage => {
  const { before, limit, agent, actor, what, since, until } = query
  const filters = Object.entries({ agent, actor, what }).filter(([, value]) => value !== undefined)
  const first = since === undefined ? 1 : firstNumberFrom(sql, since)
  const end = until === undefined ? before : Math.min(before, firstNumberFrom(sql, until))
  const conditions = filters.map(([name]) => `AND ${name} = ?`).join(' ')
  const select = `SELECT entry FROM audit WHERE number >= ? AND number < ? ${conditions} ORDER BY number DESC LIMIT ?`
  const values = [first, end, ...filters.map(([, value]) => value ?? ''), Math.min(limit, MAX_PAGE_SIZE + 1)]
  return { entries: selectJson<AuditEntry>(sql, select, ...values), head: selectHead(sql) ?? null }
}

/**
 * Records a refused write. An actor's refusals beyond `MAX_RECORDED_REFUSALS` an hour are only counted, for the next
 * one that is recorded: callers without a token, who are one actor, cannot fill the audit.
 */
export const recordRefusal = (sql: SqlStorage, refusal: Refusal, now = Date.now()): void => {
  const { actor, agent, code, status } = refusal
  const hour = Math.floor(now / HOUR_MS)
  const known = selectFirst<Row<typeof refusals>>(sql, 'SELECT * FROM refusals WHERE actor = ?', actor)
  const recorded = known?.hour === hour ? known.recorded : 0
  const omitted = (known?.omitted ?? 0) + refusal.omitted
  const isRecorded = recorded < MAX_RECORDED_REFUSALS
  sql.exec('DELETE FROM refusals WHERE hour < ?', hour - KEPT_HOURS)
  const counts = isRecorded ? { recorded: recorded + 1, omitted: 0 } : { recorded, omitted: omitted + 1 }
  storeRow(sql, refusals, { actor, hour, ...counts })
  if (!isRecorded) return
  const details = { code, status, ...(omitted > 0 && { omitted }) }
  appendEntry(sql, { actor, what: 'write-refused', ...(agent !== undefined && { agent }), details }, now)
}

const HOUR_MS = 3_600_000

/** The time for which the Registry remembers the number of omitted refusals of an actor. */
const KEPT_HOURS = 24

/** Finds the number of the first entry at or after a time by bisection: times never decrease, so they need no index. */
const firstNumberFrom = (sql: SqlStorage, time: number): number => {
  let low = 1
  let high = (selectHead(sql)?.number ?? 0) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const at = selectValue<string>(sql, 'SELECT time FROM audit WHERE number = ?', middle) ?? ''
    if (Date.parse(at) < time) low = middle + 1
    else high = middle
  }
  return low
}

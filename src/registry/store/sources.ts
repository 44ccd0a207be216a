import type { Source } from '../../card/manifest/source.ts'
import type { SourceFailure } from '../source-failure.ts'
import { healthOf, type PublishedHealth } from '../source-health.ts'
import type { SourceRecord } from '../source-record.ts'
import { deleteFetched, saveFetched } from './fetched-cards.ts'
import { lastSeq } from './last-seq.ts'
import { nextRefreshAt } from './source-times.ts'

/** A source as its row says it, and the number under which the edge was last told of it. Times are in ms since 1970. */
export type SourceRow = {
  source: Source
  checked?: number
  due: number
  /** By what whoever reads it now ends that. */
  lease: string | null
  leasedUntil: number
  /** How many times in a row it could not be read. */
  failures: number
  failure?: SourceFailure
  failingSince?: number
  told: number
  toldAt: number
}

type Columns = {
  source: string
  checked: number | null
  due: number
  lease: string | null
  leased_until: number
  failures: number
  failing_since: number | null
  failure: string | null
  told: number
  told_at: number
}

/** The source of an agent; undefined where its card comes from nowhere else. */
export const sourceRow = (sql: SqlStorage, id: string): SourceRow | undefined => {
  const [row] = sql.exec<Columns>('SELECT * FROM sources WHERE id = ?', id).toArray()
  return (
    row && {
      source: JSON.parse(row.source) as Source,
      due: row.due,
      lease: row.lease,
      leasedUntil: row.leased_until,
      failures: row.failures,
      told: row.told,
      toldAt: row.told_at,
      ...(row.checked !== null && { checked: row.checked }),
      ...(row.failure !== null && { failure: JSON.parse(row.failure) as SourceFailure }),
      ...(row.failing_since !== null && { failingSince: row.failing_since }),
    }
  )
}

/** What the edge is to know of an agent's source. */
export const publishedHealth = (sql: SqlStorage, id: string): PublishedHealth | undefined => {
  const row = sourceRow(sql, id)
  return row && { seq: row.told, health: healthOf(row) }
}

/**
 * Keeps the source of a registration in the place of what was kept. The edge is told of a revision with the revision's `seq`;
 * where there is none, with the next number, and only of another state than it knows.
 */
export const saveSource = (
  sql: SqlStorage,
  id: string,
  record: SourceRecord,
  revised: number | undefined,
  now: number,
): PublishedHealth => {
  const before = sourceRow(sql, id)
  const { source, checked, failure } = record
  const known = before?.source.kind === source.kind && before.source.url === source.url ? before : undefined
  const failures = failure ? (known?.failures ?? 0) + 1 : 0
  const since = failure ? (known?.failingSince ?? now) : null
  const isKnown = before !== undefined && before.failure?.status === failure?.status
  const told = revised === undefined && isKnown ? before : { told: revised ?? lastSeq(sql, id) + 1, toldAt: now }
  const due = nextRefreshAt(source.ttl, failures, failures === 0 ? (checked ?? now) : now)
  sql.exec(
    `INSERT OR REPLACE INTO sources (id, source, checked, due, asked, failures, failing_since, failure, told, told_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, JSON.stringify(source), checked ?? null, due, now, failures, since],
    ...[failure ? JSON.stringify(failure) : null, told.told, told.toldAt],
  )
  saveFetched(sql, id, record)
  return { seq: told.told, health: healthOf(record) }
}

/** Forgets the source of an agent, and what was fetched of it. */
export const deleteSource = (sql: SqlStorage, id: string): void => {
  sql.exec('DELETE FROM sources WHERE id = ?', id)
  deleteFetched(sql, id)
}

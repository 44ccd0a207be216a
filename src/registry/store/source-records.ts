import type { SourceRecord } from '../source-record.ts'
import { getFetched } from './fetched-cards.ts'
import { authorOf } from './revision-rows.ts'
import { newestRevision } from './revisions.ts'
import { sourceRow } from './sources.ts'

/** All that is kept of the source of an agent's card, what was fetched of it included; null where there is none. */
export const sourceRecord = (sql: SqlStorage, id: string): SourceRecord | null => {
  const row = sourceRow(sql, id)
  const newest = newestRevision(sql, id)
  if (!row || !newest) return null
  const { source, checked, failure } = row
  return {
    source,
    by: authorOf(sql, id, newest.seq),
    ...(checked !== undefined && { checked }),
    ...(failure && { failure }),
    ...getFetched(sql, id),
  }
}

import { healthOf } from '../source-health.ts'
import type { SourceState } from '../source-state.ts'
import { getPending } from './fetched-cards.ts'
import { newestRevision } from './revisions.ts'
import { sourceRow } from './sources.ts'

/** How the source of an agent's card stands; null where there is none. */
export const sourceState = (sql: SqlStorage, id: string): SourceState | null => {
  const row = sourceRow(sql, id)
  const newest = newestRevision(sql, id)
  if (!row || !newest) return null
  const { source, checked, due, failure, failingSince = 0, told } = row
  const { kind, url, ttl, staleIfError, pin } = source
  const held = getPending(sql, id)
  return {
    ...{ kind, url, ttl, staleIfError, pin, due },
    ...(checked !== undefined && { checked }),
    ...(failure && { failing: { ...failure, since: failingSince } }),
    ...(held && { held }),
    seq: newest.seq,
    told: { seq: told, health: healthOf(row) },
  }
}

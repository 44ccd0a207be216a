import { mergeObservations, type Observations } from '../../card/model/index.ts'
import { OBSERVATION_SECONDS } from '../../limits.ts'

const DAY_MS = 86_400_000
const MAX_DAYS = OBSERVATION_SECONDS / 86_400

/**
 * Adds what an isolate has observed of an agent to the counts of today, and deletes those that are too old. Ignores observations
 * that began before the agent's newest revision.
 */
export const recordObservations = (sql: SqlStorage, id: string, observed: Observations, now = Date.now()): void => {
  const [agent] = sql.exec<{ modified: number }>('SELECT modified FROM agents WHERE id = ?', id).toArray()
  if (!agent || observed.first < agent.modified) return
  const today = Math.floor(now / DAY_MS)
  const [stored] = selectCounts(sql, id, today)
  if (stored) mergeObservations(stored, observed)
  sql.exec(
    'INSERT OR REPLACE INTO observations (id, day, counts) VALUES (?, ?, ?)',
    ...[id, today, JSON.stringify(stored ?? observed)],
  )
  sql.exec('DELETE FROM observations WHERE id = ? AND day <= ?', id, today - MAX_DAYS)
}

/** Returns what the calls of an agent have shown lately; null for nothing. */
export const selectObservations = (sql: SqlStorage, id: string, now = Date.now()): Observations | null => {
  // The newest first: what they have is kept where there are too many media types.
  const [total, ...others] = selectCounts(sql, id, Math.floor(now / DAY_MS) - MAX_DAYS + 1)
  for (const day of others) if (total) mergeObservations(total, day)
  return total ?? null
}

/** Deletes what was observed of an agent. */
export const deleteObservations = (sql: SqlStorage, id: string): void => {
  sql.exec('DELETE FROM observations WHERE id = ?', id)
}

/** Returns the counts of an agent since a day, the newest day first. */
const selectCounts = (sql: SqlStorage, id: string, since: number): Observations[] =>
  sql
    .exec<{ counts: string }>('SELECT counts FROM observations WHERE id = ? AND day >= ? ORDER BY day DESC', id, since)
    .toArray()
    .map(({ counts }) => JSON.parse(counts) as Observations)

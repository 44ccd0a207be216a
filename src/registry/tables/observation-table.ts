import { mergeObservations, Observations } from '../../card/model/index.ts'
import { OBSERVATION_SECONDS } from '../../limits.ts'
import { defineTable, selectJson, selectValue, storeRow } from '../sql.ts'
import { agentId, count, json } from './column-formats.ts'

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

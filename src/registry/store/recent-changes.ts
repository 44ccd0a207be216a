import type { ChangesText } from '../edge/changes.ts'
import type { Entry } from './entry.ts'

/** How far back KV tells of changes, in ms, and of how many agents at most: what is left out, readers look up one by one. */
const window = 15 * 60_000
const most = 2_000

/** What KV is to say of the changes of the last minutes: owed with all that the edge is told of agents, and written by the alarm, for all of a second. */
export const changesEntry = (sql: SqlStorage): Entry => {
  const now = Date.now()
  const rows = sql
    .exec<{ id: string; seq: number; at: number }>(
      `SELECT id, MAX(seq) AS seq, MAX(at) AS at FROM (
        SELECT id, seq, created AS at FROM revisions WHERE created > ?1
        UNION ALL SELECT id, told, told_at FROM sources WHERE told_at > ?1
      ) GROUP BY id ORDER BY at DESC LIMIT ?2`,
      now - window,
      most,
    )
    .toArray()
  const last = rows.length === most ? rows.at(-1) : undefined
  const text: ChangesText = { since: last ? last.at + 1 : now - window, seqs: rows.map(({ id, seq }) => [id, seq]) }
  return { value: JSON.stringify(text), metadata: { seq: now } }
}

import { type Precondition, preconditionHolds } from '../../http/conditional.ts'
import { changesKey } from '../edge/changes.ts'
import { keysOf } from '../keys.ts'
import type { Rejection, Removed } from '../records.ts'
import type { Written } from '../written.ts'
import { storedTiers } from './extended.ts'
import { releaseHosts } from './host-claims.ts'
import { appendTombstone, etagsOf, newestRevision } from './revisions.ts'
import { deleteSource } from './sources.ts'

/** Removes an agent, if the condition holds; its revisions stay. */
export const remove = (
  sql: SqlStorage,
  id: string,
  condition: Precondition,
): Written<Omit<Removed, 'published'>, Rejection> => {
  const before = newestRevision(sql, id)
  if (!before)
    return {
      refused: condition.ifMatch ? { outcome: 'precondition-failed', exists: false } : { outcome: 'unknown-agent' },
    }
  if (!preconditionHolds(condition, etagsOf(sql, id, before)))
    return { refused: { outcome: 'precondition-failed', exists: true } }
  const changed = releaseHosts(sql, id)
  const tiersGone = storedTiers(sql, id)
  const seq = appendTombstone(sql, id)
  deleteSource(sql, id)
  const freed = changed.map(({ hostname }) => hostname)
  const keys = keysOf(id, freed, tiersGone)
  return { made: { outcome: 'removed', seq, changed, tiersGone }, owed: [...keys, changesKey], publish: keys }
}

import { type Condition, holds } from '../../http/conditional.ts'
import { changesKey } from '../edge/changes.ts'
import { keysOf } from '../keys.ts'
import type { Declined, Removed } from '../records.ts'
import type { Written } from '../written.ts'
import { tiersKept } from './extended.ts'
import { releaseHosts } from './host-claims.ts'
import { endRevisions, etagsOf, newestRevision } from './revisions.ts'
import { dropSource } from './sources.ts'

/** Removes an agent, if the condition holds; its revisions stay. */
export const remove = (
  sql: SqlStorage,
  id: string,
  condition: Condition,
): Written<Omit<Removed, 'published'>, Declined> => {
  const before = newestRevision(sql, id)
  if (!before)
    return {
      refused: condition.ifMatch ? { outcome: 'precondition-failed', exists: false } : { outcome: 'unknown-agent' },
    }
  if (!holds(condition, etagsOf(sql, id, before))) return { refused: { outcome: 'precondition-failed', exists: true } }
  const changed = releaseHosts(sql, id)
  const tiersGone = tiersKept(sql, id)
  const seq = endRevisions(sql, id)
  dropSource(sql, id)
  const freed = changed.map(({ hostname }) => hostname)
  const keys = keysOf(id, freed, tiersGone)
  return { made: { outcome: 'removed', seq, changed, tiersGone }, owed: [...keys, changesKey], publish: keys }
}

import { type Condition, holds } from '../http/condition.ts'
import { changesKey } from './changes.ts'
import { tiersKept } from './extended.ts'
import { releaseHosts } from './host-claims.ts'
import { keysOf } from './keys.ts'
import { endRevisions, etagsOf, newestRevision } from './revisions.ts'
import { dropSource } from './sources.ts'
import type { Declined, Removed } from './write.ts'
import type { Written } from './written.ts'

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

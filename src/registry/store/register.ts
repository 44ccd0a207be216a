import { holds } from '../../http/conditional.ts'
import { changesKey } from '../edge/changes.ts'
import { hostKey, keysOf } from '../keys.ts'
import type { Declined, Registered, Registration } from '../records.ts'
import type { Told } from '../source-health.ts'
import type { Written } from '../written.ts'
import { tiersKept } from './extended.ts'
import { claimHosts, keptHosts } from './host-claims.ts'
import { etagsOf, isRevision, newestRevision, revise } from './revisions.ts'
import { dropSource, keepSource, sourceRow } from './sources.ts'

/** Registers or replaces an agent, if its condition holds; with host names that are not its own already only where `mayClaim`. */
export const register = (
  sql: SqlStorage,
  registration: Registration,
  mayClaim: boolean,
): Written<Omit<Registered, 'published'>, Declined> => {
  const { id, source, beside } = registration
  if (beside && sourceRow(sql, id)?.checked !== beside.checked) return { refused: { outcome: 'overtaken' } }
  const before = newestRevision(sql, id)
  if (!isExpected(sql, registration, before))
    return { refused: { outcome: 'precondition-failed', exists: before !== undefined } }
  const same = before && isRevision(sql, before, registration) ? before : undefined
  const claim = source?.by === 'fetch' ? keptHosts(sql, id) : claimHosts(sql, registration, mayClaim)
  if ('outcome' in claim) return { refused: claim }
  const modified = same?.modified ?? Date.now()
  const tiers = registration.extended.map(({ tier }) => tier)
  const tiersGone = tiersKept(sql, id).filter(tier => !tiers.includes(tier))
  const seq = same?.seq ?? revise(sql, registration, modified)
  const { told, isNews } = keepOrDropSource(sql, registration, same ? undefined : seq)
  const changed = claim.changed.map(({ hostname }) => hostname)
  const allTiers = [...tiers, ...tiersGone]
  const outcome = { outcome: 'registered', seq, modified, created: !before, revised: !same, tiersGone } as const
  return {
    made: { ...outcome, ...(told && { told }), ...claim },
    owed: same && !isNews ? changed.map(hostKey) : [...keysOf(id, changed, allTiers), changesKey],
    // All that it holds, and what it gave up.
    publish: keysOf(id, [...claim.hosts, ...changed], allTiers),
  }
}

/** A refresh is of one revision, and is late where there is another, or none; or where somebody else is at it by now. */
const isExpected = (
  sql: SqlStorage,
  { id, condition, refreshed }: Registration,
  before: ReturnType<typeof newestRevision>,
): boolean =>
  holds(condition, before && etagsOf(sql, id, before)) &&
  (refreshed === undefined || (before?.seq === refreshed.seq && sourceRow(sql, id)?.lease === refreshed.lease))

const keepOrDropSource = (
  sql: SqlStorage,
  { id, source }: Registration,
  revised: number | undefined,
): { told?: Told; isNews: boolean } => {
  if (!source) {
    dropSource(sql, id)
    return { isNews: false }
  }
  const before = sourceRow(sql, id)
  const told = keepSource(sql, id, source, revised, Date.now())
  return { told, isNews: told.seq !== before?.told }
}

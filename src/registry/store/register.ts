import { preconditionHolds } from '../../http/conditional.ts'
import { changesKey } from '../edge/changes.ts'
import { hostKey, keysOf } from '../keys.ts'
import type { Registered, Registration, Rejection } from '../records.ts'
import type { PublishedHealth } from '../source-health.ts'
import type { Written } from '../written.ts'
import { storedTiers } from './extended.ts'
import { claimHosts, currentHosts } from './host-claims.ts'
import { appendRevision, etagsOf, isCurrent, newestRevision } from './revisions.ts'
import { deleteSource, saveSource, sourceRow } from './sources.ts'

/** Registers or replaces an agent, if its condition holds; with host names that are not its own already only where `mayClaim`. */
export const register = (
  sql: SqlStorage,
  registration: Registration,
  mayClaim: boolean,
): Written<Omit<Registered, 'published'>, Rejection> => {
  const { id, source, beside } = registration
  if (beside && sourceRow(sql, id)?.checked !== beside.checked) return { refused: { outcome: 'overtaken' } }
  const before = newestRevision(sql, id)
  if (!isExpected(sql, registration, before))
    return { refused: { outcome: 'precondition-failed', exists: before !== undefined } }
  const same = before && isCurrent(sql, before, registration) ? before : undefined
  const claim = source?.by === 'fetch' ? currentHosts(sql, id) : claimHosts(sql, registration, mayClaim)
  if ('outcome' in claim) return { refused: claim }
  const modified = same?.modified ?? Date.now()
  const tiers = registration.extended.map(({ tier }) => tier)
  const tiersGone = storedTiers(sql, id).filter(tier => !tiers.includes(tier))
  const seq = same?.seq ?? appendRevision(sql, registration, modified)
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
  preconditionHolds(condition, before && etagsOf(sql, id, before)) &&
  (refreshed === undefined || (before?.seq === refreshed.seq && sourceRow(sql, id)?.lease === refreshed.lease))

const keepOrDropSource = (
  sql: SqlStorage,
  { id, source }: Registration,
  revised: number | undefined,
): { told?: PublishedHealth; isNews: boolean } => {
  if (!source) {
    deleteSource(sql, id)
    return { isNews: false }
  }
  const before = sourceRow(sql, id)
  const told = saveSource(sql, id, source, revised, Date.now())
  return { told, isNews: told.seq !== before?.told }
}

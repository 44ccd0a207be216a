import { type Precondition, preconditionHolds } from '../../http/conditional.ts'
import { changesKey } from '../edge/kv-cache.ts'
import { hostKey, keysOf } from '../kv-format.ts'
import type {
  HostChange,
  HostChanges,
  PublishedHealth,
  Registered,
  Registration,
  Rejection,
  Removed,
  Written,
} from '../records.ts'
import { appendRevision, appendTombstone, etagsOf, isCurrent, newestRevision, storedTiers } from './revisions.ts'
import { deleteSource, saveSource, sourceRow } from './sources.ts'

type Row = { hostname: string; id: string | null; seq: number; automatic: number }

const rowOf = (sql: SqlStorage, hostname: string): Row | undefined =>
  sql.exec<Row>('SELECT hostname, id, seq, automatic FROM hosts WHERE hostname = ?', hostname).toArray()[0]

/** The names that an agent holds. */
const held = (sql: SqlStorage, id: string): Row[] =>
  sql.exec<Row>('SELECT hostname, id, seq, automatic FROM hosts WHERE id = ?', id).toArray()

/**
 * Makes the host names of a manifest the agent's; only those that are so already, where `mayClaim` is false. A name belongs to
 * one agent; but the root that a host gave to its first public agent by itself yields to whoever claims it.
 */
const claimHosts = (sql: SqlStorage, registration: Registration, mayClaim: boolean): HostChanges | Rejection => {
  const { id, visibility, hosts } = registration
  for (const hostname of hosts) {
    const row = rowOf(sql, hostname)
    if (!mayClaim && (row?.id !== id || row.automatic)) return { outcome: 'host-not-held', hostname }
    if (row && row.id !== null && row.id !== id && !row.automatic)
      return { outcome: 'host-taken', hostname, holder: row.id }
  }
  const own = held(sql, id)
  const isPublic = visibility === 'public'
  const becameRoot = isPublic && !hosts.includes('*') && !rowOf(sql, '*')?.id && isFirstPublic(sql, id)
  const staysRoot = isPublic && own.some(({ automatic }) => automatic)
  const claimed = [...new Set([...hosts, ...(becameRoot || staysRoot ? ['*'] : [])])]
  const released = own.map(({ hostname }) => hostname).filter(hostname => !claimed.includes(hostname))
  return {
    hosts: claimed,
    becameRoot,
    changed: [
      ...released.map(hostname => assign(sql, hostname, null, false)),
      ...claimed.flatMap(hostname => {
        const automatic = !hosts.includes(hostname)
        const row = own.find(row => row.hostname === hostname)
        return row && Boolean(row.automatic) === automatic ? [] : [assign(sql, hostname, id, automatic)]
      }),
    ],
  }
}

/** The host names of an agent as they are: a card that was read anew claims none and gives none up. */
const currentHosts = (sql: SqlStorage, id: string): HostChanges => ({
  hosts: held(sql, id).map(({ hostname }) => hostname),
  becameRoot: false,
  changed: [],
})

/** Frees every host name of an agent. */
const releaseHosts = (sql: SqlStorage, id: string): HostChange[] =>
  held(sql, id).map(({ hostname }) => assign(sql, hostname, null, false))

const isFirstPublic = (sql: SqlStorage, id: string): boolean =>
  sql
    .exec<{ others: number }>(`SELECT COUNT(*) AS others FROM agents WHERE visibility = 'public' AND id <> ?`, id)
    .one().others === 0

/** A freed name keeps its row, so that its changes go on counting. */
const assign = (sql: SqlStorage, hostname: string, id: string | null, automatic: boolean): HostChange => {
  const seq = (rowOf(sql, hostname)?.seq ?? 0) + 1
  sql.exec(
    'INSERT OR REPLACE INTO hosts (hostname, id, seq, automatic) VALUES (?, ?, ?, ?)',
    ...[hostname, id, seq, automatic ? 1 : 0],
  )
  return { hostname, id, seq }
}

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

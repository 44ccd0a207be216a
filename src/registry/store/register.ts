import { type Precondition, preconditionHolds } from '../../http/index.ts'
import { appendEntry } from '../audit/index.ts'
import { agentKeys, EVENTS_KEY, hostKey } from '../kv-format.ts'
import type {
  BatchResult,
  HostChange,
  HostChanges,
  Registered,
  Registration,
  Removed,
  WriteRejection,
  WriteResult,
} from '../records.ts'
import {
  deleteObservations,
  deleteReceipt,
  deleteSigning,
  deleteSource,
  saveSigning,
  saveSource,
  selectSigning,
  selectSource,
} from '../tables/index.ts'
import { type Change, isPublic, recordChange } from './changes.ts'
import { refreshKey, taskOwnersKey, tasksKey } from './kv-entries.ts'
import type { Publisher } from './publisher.ts'
import { isUnchanged } from './refresh.ts'
import {
  appendRevision,
  appendTombstone,
  changeTime,
  etagsOf,
  findDifference,
  listTiers,
  selectNewestRevision,
  selectTiers,
  storeSigned,
} from './revisions.ts'

/** Registers or replaces an agent. Without `mayClaim`, only with host names that are its own already. */
export const register = (
  sql: SqlStorage,
  registration: Registration,
  mayClaim: boolean,
): WriteResult<Omit<Registered, 'published'>, WriteRejection> => {
  const { id, source, expected, extended } = registration
  const before = selectNewestRevision(sql, id)
  if (!isUnchanged(sql, id, expected)) return { error: { outcome: 'conflict' } }
  if (!preconditionHolds(expected, before && etagsOf(sql, id, before)))
    return { error: { outcome: 'precondition-failed', exists: before !== undefined } }
  const difference = before && findDifference(sql, before, registration)
  const same = difference === 'content' ? undefined : before
  const isRefresh = source?.by === 'fetch'
  const hosts = isRefresh ? currentHosts(sql, id) : claimHosts(sql, registration, mayClaim)
  if ('outcome' in hosts) return { error: hosts }
  const modified = same && !difference ? same.modified : changeTime(before)
  const tiers = extended.map(({ tier }) => tier)
  const removedTiers = selectTiers(sql, id).filter(tier => !tiers.includes(tier))
  // Another version of the agent may behave differently.
  if (before && versionOf(sql, id) !== registration.summary.version) deleteObservations(sql, id)
  const wasPublic = isPublic(sql, id)
  const seq = same?.seq ?? appendRevision(sql, registration, modified)
  if (!same) recordChange(sql, describeChange(registration, { seq, at: modified, isNew: !before, wasPublic }))
  const sourceBefore = selectSource(sql, id)
  const publishedHealth = source && saveSource(sql, id, source, same ? undefined : seq)
  if (!source) deleteSource(sql, id)
  if (registration.signing) saveSigning(sql, id, registration.signing)
  if (same && difference) storeSigned(sql, id, listTiers(registration), modified)
  const isHealthNew = publishedHealth?.seq !== sourceBefore?.publishedSeq
  const changed = hosts.changed.map(({ hostname }) => hostname)
  const allTiers = [...tiers, ...removedTiers]
  const publishedSeq = Math.max(publishedHealth?.seq ?? seq, selectSigning(sql, id)?.publishedSeq ?? 0)
  const outcome = { outcome: 'registered', seq, publishedSeq, modified, created: !before, revised: !same } as const
  return {
    value: { ...outcome, removedTiers, ...(publishedHealth && { publishedHealth }), ...hosts },
    staleKeys: [
      ...(same ? [] : [EVENTS_KEY]),
      ...(same && !difference && !isHealthNew ? changed.map(hostKey) : agentKeys(id, changed, allTiers)),
      // A refresh sets its own next time.
      ...((source || sourceBefore) && !isRefresh ? [refreshKey(id)] : []),
    ],
    publishKeys: agentKeys(id, [...hosts.hosts, ...changed], allTiers),
  }
}

const describeChange = (
  { id, actor, cause, changeClass, manifestEtag }: Registration,
  { isNew, ...more }: Pick<Change, 'seq' | 'at' | 'wasPublic'> & { isNew: boolean },
): Change => ({
  ...{ ...more, id, actor, manifestEtag, kind: isNew ? 'registered' : 'changed' },
  ...(cause && { cause }),
  ...(changeClass && { class: changeClass }),
})

/** Registers all of these agents or none: every registration is tried, so that each has a result of its own. */
export const registerAll = async (
  storage: DurableObjectStorage,
  publisher: Publisher,
  registrations: readonly Registration[],
  mayClaim: boolean,
): Promise<BatchResult[]> => {
  let results: ReturnType<typeof register>[] = []
  const rejected = new Error('A registration of the batch was rejected')
  try {
    storage.transactionSync(() => {
      results = registrations.map(registration => register(storage.sql, registration, mayClaim))
      if (results.some(result => 'error' in result)) throw rejected
      // Last, because the alarm that it sets is not part of the transaction.
      publisher.enqueue(results.flatMap(result => ('value' in result ? result.staleKeys : [])))
    })
  } catch (error) {
    if (error !== rejected) throw error
    return results.map(result => ('error' in result ? result.error : { outcome: 'withdrawn' }))
  }
  // Not awaited: no write waits for those who follow it.
  void publisher.publish([EVENTS_KEY])
  return Promise.all(
    results.map(async result => {
      if ('error' in result) return result.error
      return { ...result.value, published: await publisher.publish(result.publishKeys) }
    }),
  )
}

/** Removes an agent; its revisions stay. */
export const remove = (
  sql: SqlStorage,
  id: string,
  precondition: Precondition,
  actor: string,
): WriteResult<Omit<Removed, 'published'>, WriteRejection> => {
  const before = selectNewestRevision(sql, id)
  if (!before)
    return {
      error: precondition.ifMatch ? { outcome: 'precondition-failed', exists: false } : { outcome: 'unknown-agent' },
    }
  if (!preconditionHolds(precondition, etagsOf(sql, id, before)))
    return { error: { outcome: 'precondition-failed', exists: true } }
  const removedTiers = selectTiers(sql, id)
  const at = Date.now()
  const wasPublic = isPublic(sql, id)
  const seq = appendTombstone(sql, id, actor, at)
  const changed = ownHosts(sql, id).map(({ hostname }) => assignHost(sql, hostname, null, false))
  recordChange(sql, { id, seq, kind: 'removed', actor, at, wasPublic })
  const isRemote = selectSource(sql, id) !== undefined
  deleteSource(sql, id)
  deleteObservations(sql, id)
  deleteSigning(sql, id)
  const hostnames = changed.map(({ hostname }) => hostname)
  const keys = [...agentKeys(id, hostnames, removedTiers), ...deleteReceipt(sql, id), taskOwnersKey(id)]
  return {
    value: { outcome: 'removed', seq, changed, removedTiers },
    staleKeys: [EVENTS_KEY, ...keys, ...(isRemote ? [refreshKey(id)] : [])],
    publishKeys: keys,
  }
}

/** Records that the tasks of an agent lose their owners. */
export const clearTasks = (
  sql: SqlStorage,
  id: string,
  actor: string,
): WriteResult<{ outcome: 'cleared' }, WriteRejection> => {
  if (!selectNewestRevision(sql, id)) return { error: { outcome: 'unknown-agent' } }
  appendEntry(sql, { actor, what: 'tasks-cleared', agent: id })
  const keys = [tasksKey(id)]
  return { value: { outcome: 'cleared' }, staleKeys: keys, publishKeys: keys }
}

/** Returns the version of an agent as its card declares it. */
const versionOf = (sql: SqlStorage, id: string): string | undefined =>
  sql
    .exec<{ version: string }>(`SELECT json_extract(summary, '$.version') AS version FROM agents WHERE id = ?`, id)
    .toArray()[0]?.version

type HostRow = { hostname: string; id: string | null; seq: number; automatic: number }

/**
 * Makes the host names of a manifest the agent's. A name belongs to one agent; but the root name that the host assigned to its
 * first public agent yields to any agent that claims it.
 */
export const claimHosts = (
  sql: SqlStorage,
  registration: Registration,
  mayClaim: boolean,
): HostChanges | WriteRejection => {
  const { id, visibility, hosts } = registration
  for (const hostname of hosts) {
    const row = hostRow(sql, hostname)
    if (!mayClaim && (row?.id !== id || row.automatic)) return { outcome: 'host-not-owned', hostname }
    if (row && row.id !== null && row.id !== id && !row.automatic)
      return { outcome: 'host-taken', hostname, owner: row.id }
  }
  const own = ownHosts(sql, id)
  const isPublic = visibility === 'public'
  const becameRoot = isPublic && !hosts.includes('*') && !hostRow(sql, '*')?.id && isFirstPublicAgent(sql, id)
  const staysRoot = isPublic && own.some(({ automatic }) => automatic)
  const claimed = [...new Set([...hosts, ...(becameRoot || staysRoot ? ['*'] : [])])]
  const released = own.map(({ hostname }) => hostname).filter(hostname => !claimed.includes(hostname))
  return {
    hosts: claimed,
    becameRoot,
    changed: [
      ...released.map(hostname => assignHost(sql, hostname, null, false)),
      ...claimed.flatMap(hostname => {
        const automatic = !hosts.includes(hostname)
        const row = own.find(row => row.hostname === hostname)
        return row && Boolean(row.automatic) === automatic ? [] : [assignHost(sql, hostname, id, automatic)]
      }),
    ],
  }
}

/** A refresh claims no host name and gives none up. */
const currentHosts = (sql: SqlStorage, id: string): HostChanges => ({
  hosts: ownHosts(sql, id).map(({ hostname }) => hostname),
  becameRoot: false,
  changed: [],
})

const isFirstPublicAgent = (sql: SqlStorage, id: string): boolean =>
  sql
    .exec<{ others: number }>(`SELECT COUNT(*) AS others FROM agents WHERE visibility = 'public' AND id <> ?`, id)
    .one().others === 0

const hostRow = (sql: SqlStorage, hostname: string): HostRow | undefined =>
  sql.exec<HostRow>('SELECT hostname, id, seq, automatic FROM hosts WHERE hostname = ?', hostname).toArray()[0]

const ownHosts = (sql: SqlStorage, id: string): HostRow[] =>
  sql.exec<HostRow>('SELECT hostname, id, seq, automatic FROM hosts WHERE id = ?', id).toArray()

/** Assigns a host name to an agent, or to none. A name that nobody owns keeps its row, so that `seq` goes on counting. */
const assignHost = (sql: SqlStorage, hostname: string, id: string | null, automatic: boolean): HostChange => {
  const seq = (hostRow(sql, hostname)?.seq ?? 0) + 1
  sql.exec(
    'INSERT OR REPLACE INTO hosts (hostname, id, seq, automatic) VALUES (?, ?, ?, ?)',
    ...[hostname, id, seq, automatic ? 1 : 0],
  )
  return { hostname, id, seq }
}

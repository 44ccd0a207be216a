import { type Precondition, preconditionHolds } from '../../http/index.ts'
import { appendEntry } from '../audit/index.ts'
import { agentKeys, EVENTS_KEY, keyOf } from '../kv-format.ts'
import type { Registration } from '../prepare.ts'
import type { PublishedHealth } from '../source-record.ts'
import { deleteRows, type WriteResult } from '../sql.ts'
import * as tables from '../tables/index.ts'
import { isUnchanged } from './source-state.ts'

/** Result of a registration that was stored. */
export type Registered = {
  outcome: 'registered'
  seq: number
  /** Orders what is published of the agent: `seq`, or the later number of its health or its signatures. */
  publishedSeq: number
  /** In ms since 1970. */
  modified: number
  created: boolean
  /** False where the registration equals what was stored: no new revision was made. */
  revised: boolean
  /** False while KV has not been written; the Registry keeps retrying. */
  published: boolean
  /** Tiers that no longer have an extended card. */
  removedTiers: string[]
  /** Set for an agent with a remote card. */
  publishedHealth?: PublishedHealth
} & tables.HostChanges

/** Result of a removal. */
export type Removed = { outcome: 'removed' } & Pick<Registered, 'seq' | 'published' | 'changed' | 'removedTiers'>

type PreconditionFailed = { outcome: 'precondition-failed'; exists: boolean }

/** The reason why a registration was rejected; nothing was changed. */
export type WriteRejection =
  | tables.ClaimRejection
  | PreconditionFailed
  /** The agent or its source record changed since the write was computed. */
  | { outcome: 'conflict' }

/** Result of one of several registrations; `withdrawn` where another was rejected, and all or none are stored. */
export type BatchResult = Registered | WriteRejection | { outcome: 'withdrawn' }

/** Registers or replaces an agent. Without `mayClaim`, only with host names that are its own already. */
export const register = (
  sql: SqlStorage,
  registration: Registration,
  mayClaim: boolean,
): WriteResult<Omit<Registered, 'published'>, WriteRejection> => {
  const { id, source, expected, extended } = registration
  const before = tables.selectNewestRevision(sql, id)
  if (!isUnchanged(sql, id, expected)) return { error: { outcome: 'conflict' } }
  if (!preconditionHolds(expected, before && tables.etagsOf(sql, id, before)))
    return { error: { outcome: 'precondition-failed', exists: before !== undefined } }
  const difference = before && tables.findDifference(sql, before, registration)
  const same = difference === 'content' ? undefined : before
  const isRefresh = source?.by === 'fetch'
  const hosts = isRefresh ? tables.keepHosts(sql, id) : tables.claimHosts(sql, registration, mayClaim)
  if ('outcome' in hosts) return { error: hosts }
  const modified = same && !difference ? same.modified : tables.changeTime(before)
  const tiers = extended.map(({ tier }) => tier)
  const removedTiers = tables.selectTiers(sql, id).filter(tier => !tiers.includes(tier))
  // Another version of the agent may behave differently.
  if (before && tables.selectVersion(sql, id) !== registration.summary.version)
    deleteRows(sql, [tables.observations], id)
  const wasPublic = tables.isPublic(sql, id)
  const seq = same?.seq ?? tables.appendRevision(sql, registration, modified)
  const { actor, cause, changeClass, manifestEtag } = registration
  if (!same)
    tables.recordChange(sql, {
      ...{ id, seq, kind: before ? 'changed' : 'registered', at: modified, wasPublic, actor, manifestEtag },
      ...(cause && { cause }),
      ...(changeClass && { class: changeClass }),
    })
  const sourceBefore = tables.selectSource(sql, id)
  const publishedHealth = source && tables.saveSource(sql, id, source, same ? undefined : seq)
  if (!source) deleteRows(sql, [tables.sources, tables.fetched], id)
  if (registration.signing) tables.saveSigning(sql, id, registration.signing)
  if (same && difference) tables.storeSigned(sql, id, tables.listTiers(registration), modified)
  const isHealthNew = publishedHealth?.seq !== sourceBefore?.publishedHealth.seq
  const changed = hosts.changed.map(({ hostname }) => hostname)
  const allTiers = [...tiers, ...removedTiers]
  const publishedSeq = Math.max(publishedHealth?.seq ?? seq, tables.selectSigning(sql, id)?.publishedSeq ?? 0)
  const outcome = { outcome: 'registered', seq, publishedSeq, modified, created: !before, revised: !same } as const
  return {
    value: { ...outcome, removedTiers, ...(publishedHealth && { publishedHealth }), ...hosts },
    staleKeys: [
      ...(same ? [] : [EVENTS_KEY]),
      ...(same && !difference && !isHealthNew
        ? changed.map(name => keyOf('host', name))
        : agentKeys(id, changed, allTiers)),
      // A refresh sets its own next time.
      ...((source || sourceBefore) && !isRefresh ? [keyOf('refresh', id)] : []),
    ],
    publishKeys: agentKeys(id, [...hosts.hosts, ...changed], allTiers),
  }
}

/** Removes an agent; its revisions stay. */
export const remove = (
  sql: SqlStorage,
  id: string,
  precondition: Precondition,
  actor: string,
): WriteResult<Omit<Removed, 'published'>, PreconditionFailed | { outcome: 'unknown-agent' }> => {
  const before = tables.selectNewestRevision(sql, id)
  if (!before && !precondition.ifMatch) return { error: { outcome: 'unknown-agent' } }
  if (!before || !preconditionHolds(precondition, tables.etagsOf(sql, id, before)))
    return { error: { outcome: 'precondition-failed', exists: before !== undefined } }
  const removedTiers = tables.selectTiers(sql, id)
  const at = Date.now()
  const wasPublic = tables.isPublic(sql, id)
  const seq = tables.appendTombstone(sql, id, actor, at)
  const changed = tables.releaseHosts(sql, id)
  tables.recordChange(sql, { id, seq, kind: 'removed', actor, at, wasPublic })
  const isRemote = tables.selectSource(sql, id) !== undefined
  deleteRows(sql, [tables.sources, tables.fetched, tables.observations, tables.card_signatures], id)
  const hostnames = changed.map(({ hostname }) => hostname)
  const keys = [...agentKeys(id, hostnames, removedTiers), ...tables.deleteReceipt(sql, id), keyOf('task-owners', id)]
  return {
    value: { outcome: 'removed', seq, changed, removedTiers },
    staleKeys: [EVENTS_KEY, ...keys, ...(isRemote ? [keyOf('refresh', id)] : [])],
    publishKeys: keys,
  }
}

/** Records that the tasks of an agent lose their owners. */
export const clearTasks = (
  sql: SqlStorage,
  id: string,
  actor: string,
): WriteResult<{ outcome: 'cleared' }, { outcome: 'unknown-agent' }> => {
  if (!tables.selectNewestRevision(sql, id)) return { error: { outcome: 'unknown-agent' } }
  appendEntry(sql, { actor, what: 'tasks-cleared', agent: id })
  return { value: { outcome: 'cleared' }, staleKeys: [keyOf('tasks', id)] }
}

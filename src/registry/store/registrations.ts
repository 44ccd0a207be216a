import { type Precondition, preconditionHolds } from '../../http/index.ts'
import { appendEntry } from '../audit/index.ts'
import { etagsByName, publicTier } from '../documents.ts'
import { agentKeys, EVENTS_KEY, keyOf, type SourceHealth } from '../kv-format.ts'
import type { Registration } from '../prepare.ts'
import { deleteRows, type WriteResult } from '../sql.ts'
import * as tables from '../tables/index.ts'
import { isUnchanged } from './source-state.ts'

/** Result of a registration that was stored. */
export type Registered = {
  outcome: 'registered'
  seq: number
  /** Orders what is published of the agent: `seq`, or a later number of new signatures or a new health. */
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
  health?: SourceHealth
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
  const { id, source, expected, cards, signing } = registration
  const before = tables.selectAgent(sql, id)
  if (!isUnchanged(sql, id, before, expected)) return { error: { outcome: 'conflict' } }
  const stored = tables.selectAllDocuments(sql, id)
  if (!preconditionHolds(expected, before && etagsOf(before, stored)))
    return { error: { outcome: 'precondition-failed', exists: before !== undefined } }
  const difference = before && findDifference(sql, registration, before, stored)
  const same = difference === 'content' ? undefined : before
  const isRefresh = source?.by === 'fetch'
  const hosts = isRefresh ? tables.keepHosts(sql, id) : tables.claimHosts(sql, registration, mayClaim)
  if ('outcome' in hosts) return { error: hosts }
  const modified = same && !difference ? same.modified : tables.changeTime(before)
  const removed = stored.map(({ tier }) => tier).filter(tier => !cards.some(card => card.tier === tier))
  const sourceBefore = before && tables.selectSource(sql, id)
  const seq = same?.seq ?? tables.appendRevision(sql, registration, modified, before)
  if (!same)
    tables.recordChange(sql, {
      ...{ ...registration, seq, kind: before ? 'changed' : 'registered', at: modified },
      ...{ wasPublic: before?.listed === 1, isPublic: tables.isListed(registration) },
    })
  if (!same || difference) for (const card of cards) tables.storeDocuments(sql, id, card)
  for (const tier of removed) tables.deleteDocuments(sql, id, tier)
  const isHealthNew = source !== undefined && tables.saveSource(sql, id, source)
  if (!source && sourceBefore) deleteRows(sql, [tables.sources, tables.fetched], id)
  if (signing) tables.saveSigning(sql, id, signing)
  const isStale = !same || difference !== undefined || isHealthNew
  const publishedSeq = same && isStale ? tables.publishAgain(sql, same, modified) : (same?.published ?? seq)
  const changed = hosts.changed.map(({ hostname }) => hostname)
  const removedTiers = removed.filter(tier => tier !== publicTier)
  const tiers = [...cards.map(({ tier }) => tier).filter(tier => tier !== publicTier), ...removedTiers]
  const health = source && tables.selectSource(sql, id)?.health
  const outcome = { outcome: 'registered', seq, publishedSeq, modified, created: !before, revised: !same } as const
  return {
    value: { ...outcome, removedTiers, ...(health && { health }), ...hosts },
    staleKeys: [
      ...(same ? [] : [EVENTS_KEY]),
      ...(isStale ? agentKeys(id, changed, tiers) : changed.map(name => keyOf('host', name))),
      // A refresh sets its own next time.
      ...((source || sourceBefore) && !isRefresh ? [keyOf('refresh', id)] : []),
    ],
    publishKeys: agentKeys(id, [...hosts.hosts, ...changed], tiers),
  }
}

/**
 * Returns what differs in a registration from the newest revision; undefined for nothing. If only signatures of this
 * host differ, the agent offers the same, and the registration makes no new revision.
 */
const findDifference = (
  sql: SqlStorage,
  { id, origin, manifestEtag, profile, source, cards, signing }: Registration,
  before: tables.Agent,
  stored: readonly tables.TierDocuments[],
) => {
  const isSame = origin === before.origin && manifestEtag === before.manifest_etag && profile === before.profile
  if (!isSame || !tables.matchesFetched(sql, id, source?.card)) return 'content'
  const own = [tables.selectSigning(sql, id), signing].flatMap(each => Object.values(each?.signatures ?? {}))
  return tables.compareDocuments(stored, cards, new Set(own))
}

/** Returns the entity tags of all that is served of an agent, its manifest included. */
const etagsOf = (agent: tables.Agent, stored: readonly tables.TierDocuments[]): string[] => {
  const card = stored.find(({ tier }) => tier === publicTier)
  return [agent.manifest_etag, ...Object.values(etagsByName(card?.parts ?? []))]
}

/** Removes an agent; its revisions stay. */
export const remove = (
  sql: SqlStorage,
  id: string,
  precondition: Precondition,
  actor: string,
): WriteResult<Omit<Removed, 'published'>, PreconditionFailed | { outcome: 'unknown-agent' }> => {
  const before = tables.selectAgent(sql, id)
  if (!before && !precondition.ifMatch) return { error: { outcome: 'unknown-agent' } }
  const stored = tables.selectAllDocuments(sql, id)
  if (!before || !preconditionHolds(precondition, etagsOf(before, stored)))
    return { error: { outcome: 'precondition-failed', exists: before !== undefined } }
  const removedTiers = stored.map(({ tier }) => tier).filter(tier => tier !== publicTier)
  const at = Date.now()
  const seq = tables.appendTombstone(sql, before, actor, at)
  const changed = tables.releaseHosts(sql, id)
  tables.recordChange(sql, { id, seq, kind: 'removed', actor, at, wasPublic: before.listed === 1, isPublic: false })
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
  if (!tables.selectAgent(sql, id)) return { error: { outcome: 'unknown-agent' } }
  appendEntry(sql, { actor, what: 'tasks-cleared', agent: id })
  return { value: { outcome: 'cleared' }, staleKeys: [keyOf('tasks', id)] }
}

import type { ChangeClass } from '../../card/diff/index.ts'
import { MAX_STORED_CHANGES } from '../../limits.ts'
import { type Audited, appendEntry } from '../audit/index.ts'
import type { ChangeKind, StoredChange, WriteCause } from '../records.ts'

/** One change of what is registered, at `at` in ms since 1970. `seq` is the revision that it made. */
export type Change = {
  id: string
  seq: number
  kind: ChangeKind
  class?: ChangeClass
  cause?: WriteCause
  /** The entity tag of the manifest; absent for a removal. */
  manifestEtag?: string
  actor: string
  at: number
  /** Whether the agent was public before the change. */
  wasPublic: boolean
}

/**
 * Records a change in the transaction of the write that made it, and after that: for subscribers and in the audit. Changes are numbered in
 * the order of their commits. `EVENTS_KEY` is stale then.
 */
export const recordChange = (sql: SqlStorage, change: Change): void => {
  const { id, seq, kind, class: changeClass, cause, manifestEtag, actor, at, wasPublic } = change
  sql.exec(
    'INSERT INTO changes (id, seq, kind, public_kind, class, at) VALUES (?, ?, ?, ?, ?, ?)',
    ...[id, seq, kind, publicKindOf(wasPublic, isPublic(sql, id)), changeClass ?? null, at],
  )
  sql.exec('DELETE FROM changes WHERE number <= (SELECT MAX(number) FROM changes) - ?', MAX_STORED_CHANGES)
  const details = {
    ...(changeClass && { class: changeClass }),
    ...(manifestEtag !== undefined && { manifest: manifestEtag }),
    ...cause,
  }
  appendEntry(sql, { actor, what: describeCause(cause) ?? `agent-${kind}`, agent: id, seq, details }, at)
}

const describeCause = (cause: WriteCause | undefined): Audited | undefined =>
  cause && ('accepted' in cause ? 'card-accepted' : 'agent-rolled-back')

/** Returns at most `limit` changes after a number, the oldest first. */
export const selectChanges = (sql: SqlStorage, after: number, limit: number): StoredChange[] =>
  sql
    .exec<ChangeRow>(
      `SELECT number, id, seq, kind, public_kind AS publicKind, class, at FROM changes
        WHERE number > ? ORDER BY number LIMIT ?`,
      ...[after, limit],
    )
    .toArray()
    .map(({ publicKind, class: changeClass, ...row }) => ({
      ...row,
      ...(publicKind && { publicKind }),
      ...(changeClass && { class: changeClass }),
    }))

/** Returns the number of the last change that an import brought; 0 without an import. */
export const selectImportedChanges = (sql: SqlStorage): number =>
  sql
    .exec<{ changes: number }>(
      `SELECT json_extract(entry, '$.details.changes') AS changes FROM audit WHERE what = 'registry-imported'
        ORDER BY number DESC LIMIT 1`,
    )
    .toArray()[0]?.changes ?? 0

type ChangeRow = Omit<StoredChange, 'publicKind' | 'class'> & {
  publicKind: ChangeKind | null
  class: ChangeClass | null
}

/** Checks whether everybody sees an agent: one without a card is in no public list. */
export const isPublic = (sql: SqlStorage, id: string): boolean =>
  sql
    .exec(
      `SELECT 1 FROM agents WHERE id = ? AND visibility = 'public' AND EXISTS (
        SELECT 1 FROM representations WHERE representations.id = agents.id AND names <> '["profile"]')`,
      id,
    )
    .toArray().length > 0

/** Returns what a change of an agent is for those who see public agents only; null for nothing. */
const publicKindOf = (wasPublic: boolean, isPublic: boolean): ChangeKind | null => {
  if (isPublic) return wasPublic ? 'changed' : 'registered'
  return wasPublic ? 'removed' : null
}

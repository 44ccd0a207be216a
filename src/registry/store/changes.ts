import type { ChangeClass } from '../../card/diff/changes.ts'
import { MAX_STORED_CHANGES } from '../../limits.ts'
import type { Audited } from '../audit/chain.ts'
import { appendEntry } from '../audit/log.ts'
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
}

/**
 * Records a change in the transaction of the write that made it, and after that: for subscribers and in the audit. Changes are numbered in
 * the order of their commits. `EVENTS_KEY` is stale then.
 */
export const recordChange = (sql: SqlStorage, change: Change): void => {
  const { id, seq, kind, class: changeClass, cause, manifestEtag, actor, at } = change
  sql.exec(
    'INSERT INTO changes (id, seq, kind, public_kind, class, at) VALUES (?, ?, ?, ?, ?, ?)',
    ...[id, seq, kind, publicKindOf(sql, id), changeClass ?? null, at],
  )
  const details = {
    ...(changeClass && { class: changeClass }),
    ...(manifestEtag !== undefined && { manifest: manifestEtag }),
    ...cause,
  }
  appendEntry(sql, { actor, what: describeCause(cause) ?? `agent-${kind}`, agent: id, seq, details }, at)
}

const describeCause = (cause: WriteCause | undefined): Audited | undefined =>
  cause && ('accepted' in cause ? 'card-accepted' : 'agent-rolled-back')

/** Returns at most `limit` changes after a number, the oldest first; none but the newest that `Events` stores. */
export const selectChanges = (sql: SqlStorage, after: number, limit: number): StoredChange[] =>
  sql
    .exec<ChangeRow>(
      `SELECT number, id, seq, kind, public_kind AS publicKind, class, at FROM changes
        WHERE number > MAX(?1, (SELECT COALESCE(MAX(number), 0) FROM changes) - ?2) ORDER BY number LIMIT ?3`,
      ...[after, MAX_STORED_CHANGES, limit],
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

/** Returns what a change of an agent is for those who see public agents only; null for nothing. */
const publicKindOf = (sql: SqlStorage, id: string): ChangeKind | null => {
  const [last] = sql
    .exec<{ kind: ChangeKind }>(
      'SELECT public_kind AS kind FROM changes WHERE id = ? AND public_kind IS NOT NULL ORDER BY number DESC LIMIT 1',
      id,
    )
    .toArray()
  const wasPublic = last !== undefined && last.kind !== 'removed'
  // An agent without a card is in no public list.
  const isPublic =
    sql
      .exec(
        `SELECT 1 FROM agents WHERE id = ? AND visibility = 'public' AND EXISTS (
          SELECT 1 FROM representations WHERE representations.id = agents.id AND names <> '["profile"]')`,
        id,
      )
      .toArray().length > 0
  if (isPublic) return wasPublic ? 'changed' : 'registered'
  return wasPublic ? 'removed' : null
}

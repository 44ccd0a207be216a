import * as v from 'valibot'
import { type ChangeClass, revisionNumber, timestamp } from '../../card/model/index.ts'
import { MAX_STORED_CHANGES } from '../../limits.ts'
import { appendEntry } from '../audit/index.ts'
import type { WriteCause } from '../prepare.ts'
import { defineTable, insertRow, type Row, selectAll, selectValue } from '../sql.ts'
import { changeClass, ofRevision } from './column-formats.ts'

const changeKind = v.picklist(['registered', 'changed', 'removed'], 'must be registered, changed or removed')

/** The changes of what is registered. */
export const changes = defineTable(
  'changes',
  { number: 'counter', id: 'text', seq: 'integer', kind: 'text', public_kind: 'text?', class: 'text?', at: 'integer' },
  {
    formats: () => ({
      ...{ ...ofRevision, number: revisionNumber, kind: changeKind, public_kind: changeKind, at: timestamp },
      class: changeClass,
    }),
  },
)

type ChangeKind = v.InferOutput<typeof changeKind>

/** A stored change, at `at` in ms since 1970. `publicKind` is its effect for those who see public agents only. */
export type StoredChange = Pick<Row<typeof changes>, 'number' | 'id' | 'seq' | 'at'> & {
  kind: ChangeKind
  publicKind?: ChangeKind
  class?: ChangeClass
}

/** A change that a write makes. `seq` is its revision. */
type Change = Pick<StoredChange, 'id' | 'seq' | 'kind' | 'at'> & {
  changeClass?: ChangeClass
  cause?: WriteCause
  /** The entity tag of the manifest; absent for a removal. */
  manifestEtag?: string
  actor: string
  /** Whether everybody saw the agent before the change, and whether they see it now. */
  wasPublic: boolean
  isPublic: boolean
}

/** Records a change for subscribers and in the audit, at the end of its transaction. `EVENTS_KEY` is stale then. */
export const recordChange = (sql: SqlStorage, change: Change): void => {
  const { id, seq, kind, changeClass, cause, manifestEtag, actor, at, wasPublic, isPublic } = change
  const public_kind = publicKindOf(wasPublic, isPublic)
  insertRow(sql, changes, { id, seq, kind, public_kind, class: changeClass ?? null, at })
  sql.exec('DELETE FROM changes WHERE number <= (SELECT MAX(number) FROM changes) - ?', MAX_STORED_CHANGES)
  const details = {
    ...(changeClass && { class: changeClass }),
    ...(manifestEtag !== undefined && { manifest: manifestEtag }),
    ...cause,
  }
  const what = cause ? ('accepted' in cause ? 'card-accepted' : 'agent-rolled-back') : (`agent-${kind}` as const)
  appendEntry(sql, { actor, what, agent: id, seq, details }, at)
}

/** Returns at most `limit` changes after a number, the oldest first. */
export const selectChanges = (sql: SqlStorage, after: number, limit: number): StoredChange[] => {
  const query = 'SELECT * FROM changes WHERE number > ? ORDER BY number LIMIT ?'
  const rows = selectAll<Row<typeof changes>>(sql, query, after, limit)
  return rows.map(({ kind, public_kind, class: changeClass, ...row }) => ({
    ...{ ...row, kind: kind as ChangeKind },
    ...(public_kind && { publicKind: public_kind as ChangeKind }),
    ...(changeClass && { class: changeClass as ChangeClass }),
  }))
}

/** Returns the number of the newest change; 0 for none. */
export const lastChange = (sql: SqlStorage): number => selectValue<number>(sql, 'SELECT MAX(number) FROM changes') ?? 0

/** Returns the number of the last change that an import brought; 0 without an import. */
export const selectImportedChanges = (sql: SqlStorage): number => {
  const query = `SELECT json_extract(entry, '$.details.changes') FROM audit WHERE what = 'registry-imported'
    ORDER BY number DESC LIMIT 1`
  return selectValue<number>(sql, query) ?? 0
}

/** Returns the effect of a change for those who see public agents only; null for none. */
const publicKindOf = (wasPublic: boolean, isPublic: boolean): ChangeKind | null => {
  if (isPublic) return wasPublic ? 'changed' : 'registered'
  return wasPublic ? 'removed' : null
}

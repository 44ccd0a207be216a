import type { Audited } from '../audit/chain.ts'
import { appendEntry } from '../audit/log.ts'
import type { ChangeClass, WriteCause } from '../records.ts'

/** One change of what is registered, at `at` in ms since 1970. `seq` is the revision that it made. */
export type Change = {
  id: string
  seq: number
  kind: 'registered' | 'changed' | 'removed'
  class?: ChangeClass
  cause?: WriteCause
  /** The entity tag of the manifest; absent for a removal. */
  manifestEtag?: string
  actor: string
  at: number
}

/**
 * Records a change in the transaction of the write that made it, for subscribers and in the audit. Changes are numbered in the order of
 * their commits.
 */
export const recordChange = (sql: SqlStorage, change: Change): void => {
  const { id, seq, kind, class: changeClass, cause, manifestEtag, actor, at } = change
  sql.exec(
    'INSERT INTO changes (id, seq, kind, class, at) VALUES (?, ?, ?, ?, ?)',
    ...[id, seq, kind, changeClass ?? null, at],
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

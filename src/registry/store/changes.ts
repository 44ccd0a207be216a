import type { ChangeClass, WriteCause } from '../records.ts'

/** One change of what is registered, at `at` in ms since 1970. `seq` is the revision that it made. */
export type Change = {
  id: string
  seq: number
  kind: 'registered' | 'changed' | 'removed'
  class?: ChangeClass
  cause?: WriteCause
  actor: string
  at: number
}

/** Records a change in the transaction of the write that made it. Changes are numbered in the order of their commits. */
export const recordChange = (sql: SqlStorage, { id, seq, kind, class: changeClass, at }: Change): void => {
  sql.exec(
    'INSERT INTO changes (id, seq, kind, class, at) VALUES (?, ?, ?, ?, ?)',
    ...[id, seq, kind, changeClass ?? null, at],
  )
}

import { encodeEnvelope } from '../kv-format.ts'

/** What KV is to hold under a key, and for how long: for ever, unless `seconds` says otherwise. */
export type Entry = { value: string | Uint8Array; metadata: { seq: number; etag?: string }; seconds?: number }

/**
 * How long KV remembers that something is gone, which readers must be told rather than not find: longer than any isolate
 * lives, which may hold it still.
 */
export const tombstoneSeconds = 30 * 86_400

/** That there is nothing of an agent any more, as of its last revision. */
export const tombstone = (sql: SqlStorage, id: string): Entry => {
  const { seq } = sql.exec<{ seq: number }>('SELECT MAX(seq) AS seq FROM revisions WHERE id = ?', id).one()
  const value = encodeEnvelope({ seq, modified: '', representations: {} })
  return { value, metadata: { seq }, seconds: tombstoneSeconds }
}

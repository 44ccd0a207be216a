import type { RepresentationName } from '../../card/model/representation-names.ts'
import { encodeEnvelope, groupByEtag, type Representation, type Representations } from '../kv-format.ts'
import { type Entry, tombstone } from './entry.ts'
import { publishedHealth } from './sources.ts'

/** The extended card of one tier, hashed. */
export type Extended = { tier: string; representations: Record<RepresentationName, Representation> }

/** The tiers of an agent of which there are extended cards. */
export const storedTiers = (sql: SqlStorage, id: string): string[] =>
  sql
    .exec<{ tier: string }>('SELECT DISTINCT tier FROM extended WHERE id = ?', id)
    .toArray()
    .map(({ tier }) => tier)

/** Keeps the extended cards of an agent in the place of those that it had. */
export const storeExtended = (sql: SqlStorage, id: string, extended: readonly Extended[]): void => {
  sql.exec('DELETE FROM extended WHERE id = ?', id)
  for (const { tier, representations } of extended)
    for (const { names, etag, bytes } of groupByEtag(representations))
      sql.exec(
        'INSERT INTO extended (id, tier, etag, names, body) VALUES (?, ?, ?, ?, ?)',
        ...[id, tier, etag, JSON.stringify(names), bytes],
      )
}

/** Whether the extended cards of an agent are these. */
export const isExtendedBy = (sql: SqlStorage, id: string, extended: readonly Extended[]): boolean => {
  const kept = sql
    .exec<{ tier: string; etag: string; names: string }>('SELECT tier, etag, names FROM extended WHERE id = ?', id)
    .toArray()
    .map(({ tier, etag, names }) => `${tier} ${etag} ${names}`)
  const given = extended.flatMap(({ tier, representations }) =>
    groupByEtag(representations).map(({ etag, names }) => `${tier} ${etag} ${JSON.stringify(names)}`),
  )
  return kept.sort().join() === given.sort().join()
}

/** What KV is to hold under the key of an extended card: all its documents, or that there is none of that tier. */
export const extendedEntry = (sql: SqlStorage, name: string): Entry => {
  const [id = '', tier = ''] = name.split(':')
  const rows = sql
    .exec<{ etag: string; names: string; body: ArrayBuffer; seq: number; modified: number }>(
      'SELECT etag, names, body, seq, modified FROM agents JOIN extended USING (id) WHERE id = ? AND tier = ?',
      ...[id, tier],
    )
    .toArray()
  const [first] = rows
  if (!first) return tombstone(sql, id)
  const told = publishedHealth(sql, id)
  const seq = told?.seq ?? first.seq
  const representations: Representations = {}
  for (const { etag, names, body } of rows)
    for (const name of JSON.parse(names) as RepresentationName[])
      representations[name] = { etag, bytes: new Uint8Array(body) }
  const modified = new Date(first.modified).toUTCString()
  const value = encodeEnvelope({ seq, modified, representations, ...(told && { source: told.health }) })
  return { value, metadata: { seq } }
}

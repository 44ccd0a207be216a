import type { RepresentationName } from '../../card/model/representation-names.ts'
import type { Representation } from '../kv-format.ts'
import type { Summary } from '../records.ts'
import type { SourceHealth } from '../source-health.ts'
import { publishedHealth } from './sources.ts'

/** One agent as a list shows it. */
export type Listed = Summary & { id: string; origin: string }

/** A document of an agent; without `etag` and `bytes` where its card never came from its source. */
export type StoredDocument =
  | (Representation & { modified: number; source?: SourceHealth })
  | { etag?: never; source: SourceHealth }

/** The manifest of an agent as it was registered, with its entity tag, and where absolute URLs of this host started then. */
export type StoredManifest = { manifest: string; etag: string; modified: number; origin: string }

/** The manifest of an agent; null where there is no such agent. */
export const getManifest = (sql: SqlStorage, id: string): StoredManifest | null => {
  const [row] = sql
    .exec<StoredManifest>(
      `SELECT manifest, manifest_etag AS etag, modified, agents.origin FROM agents JOIN revisions USING (id, seq) WHERE id = ?`,
      id,
    )
    .toArray()
  return row ?? null
}

/** One document of an agent, internal ones included; null where there is no such agent. */
export const getDocument = (sql: SqlStorage, id: string, name: RepresentationName): StoredDocument | null => {
  const [row] = sql
    .exec<{ etag: string; body: ArrayBuffer; modified: number }>(
      `SELECT etag, body, modified FROM agents JOIN representations USING (id)
        WHERE id = ? AND EXISTS (SELECT 1 FROM json_each(names) WHERE value = ?)`,
      id,
      name,
    )
    .toArray()
  const source = publishedHealth(sql, id)?.health
  if (!row) return source ? { source } : null
  const { etag, modified, body } = row
  return { etag, modified, bytes: new Uint8Array(body), ...(source && { source }) }
}

/** A page of agents in the order of their ids, beginning after `after`; of the public ones alone those that have a card. */
export const listAgents = (sql: SqlStorage, after: string, limit: number, internal: boolean): Listed[] =>
  sql
    .exec<{ id: string; summary: string; origin: string }>(
      `SELECT id, summary, origin FROM agents
        WHERE id > ?1 AND (?2 OR (visibility = 'public' AND
          EXISTS (SELECT 1 FROM representations WHERE representations.id = agents.id AND names <> '["profile"]')))
        ORDER BY id LIMIT ?3`,
      after,
      internal ? 1 : 0,
      limit,
    )
    .toArray()
    .map(({ id, summary, origin }) => ({ id, origin, ...(JSON.parse(summary) as Summary) }))

import type { RepresentationName } from '../../card/model/constants.ts'
import type { Representation, SourceHealth } from '../kv-format.ts'
import type { Summary } from '../records.ts'

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

/** Who has a name, or is of that id: the public agent, and the internal ones that come before it. */
export type NamedAgents = { open: string | null; internal: string[] }

/** Internal agents of one name beyond so many are not found by it. */
const mostInternal = 10

/**
 * The agents of an id, else of a name, in lower case. Of several of one name it is who has had it longest: else who may write one
 * agent could take another's calls by its name. Which of the internal ones there are, nobody is to learn who may not read them.
 */
export const findNamed = (sql: SqlStorage, name: string): NamedAgents => {
  const rows = sql
    .exec<{ id: string; visibility: string }>(
      `SELECT id, visibility FROM agents WHERE lower(json_extract(summary, '$.name')) = ?1 OR id = ?1
        ORDER BY id <> ?1, json_extract(summary, '$.named'), id`,
      name,
    )
    .toArray()
  const open = rows.findIndex(({ visibility }) => visibility === 'public')
  const before = open === -1 ? rows : rows.slice(0, open)
  return { open: rows[open]?.id ?? null, internal: before.slice(0, mostInternal).map(({ id }) => id) }
}

/** Since when an agent that is being registered has its name, in ms; `now`, where it is new to it. */
export const namedSince = (sql: SqlStorage, id: string, name: string, now: number): number => {
  const [row] = sql
    .exec<{ since: number }>(
      // Before this was kept is longest ago.
      `SELECT COALESCE(json_extract(summary, '$.named'), 0) AS since FROM agents WHERE id = ? AND lower(json_extract(summary, '$.name')) = lower(?)`,
      ...[id, name],
    )
    .toArray()
  return row?.since ?? now
}

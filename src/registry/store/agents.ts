import { matchesGlob, type RepresentationName } from '../../card/model/index.ts'
import type {
  CatalogAgent,
  CatalogPage,
  CatalogQuery,
  ListedAgent,
  ListQuery,
  NamedAgents,
  SearchFields,
  Sitemap,
  SitemapQuery,
  StoredDocument,
  StoredManifest,
  Summary,
  UpstreamBindings,
} from '../records.ts'
import { IS_SIGNED_BY_HOST, selectPublishedHealth } from '../tables/index.ts'

/** Internal agents of one name beyond these are not found by it. */
const MAX_INTERNAL_AGENTS = 10

/** Returns the manifest of an agent; null for no agent. */
export const selectManifest = (sql: SqlStorage, id: string): StoredManifest | null => {
  const [row] = sql
    .exec<StoredManifest>(
      `SELECT seq, manifest, manifest_etag AS etag, modified, agents.origin
        FROM agents JOIN revisions USING (id, seq) WHERE id = ?`,
      id,
    )
    .toArray()
  return row ?? null
}

/** Returns a document of an agent, internal agents included; null for no agent. */
export const selectDocument = (sql: SqlStorage, id: string, name: RepresentationName): StoredDocument | null => {
  const [row] = sql
    .exec<{ etag: string; body: ArrayBuffer; modified: number }>(
      `SELECT etag, body, modified FROM agents JOIN representations USING (id)
        WHERE id = ? AND EXISTS (SELECT 1 FROM json_each(names) WHERE value = ?)`,
      id,
      name,
    )
    .toArray()
  const source = selectPublishedHealth(sql, id)?.health
  if (!row) return source ? { source } : null
  const { etag, modified, body } = row
  return { etag, modified, bytes: new Uint8Array(body), ...(source && { source }) }
}

/** Returns a page of a list. A public agent without a card is listed only where it is covered. */
export const selectAgents = (sql: SqlStorage, query: ListQuery): ListedAgent[] => {
  const { after, limit, covered, set, ids, writable = [], onlyCovered = false } = query
  const agents: ListedAgent[] = []
  type Row = {
    id: string
    summary: string
    origin: string
    visibility: string
    ownSet: string | null
    isPublic: number
    etag: string | null
  }
  const etag = 'SELECT manifest_etag FROM revisions WHERE revisions.id = agents.id AND revisions.seq = agents.seq'
  const rows = sql.exec<Row>(
    `SELECT id, summary, origin, visibility, set_name AS ownSet, visibility = 'public' AND EXISTS (
        SELECT 1 FROM representations WHERE representations.id = agents.id AND names <> '["profile"]') AS isPublic,
        ${writable.length === 0 ? 'NULL' : `(${etag})`} AS etag
      FROM agents WHERE ${set === undefined ? '' : 'set_name = ? AND'}
        ${ids === undefined ? '' : 'id IN (SELECT value FROM json_each(?)) AND'} id > ?
        ${covered.length === 0 ? "AND visibility = 'public'" : ''} ORDER BY id`,
    ...[set ?? [], ids === undefined ? [] : JSON.stringify(ids), after].flat(),
  )
  // Not with GLOB: SQLite limits its patterns to 50 bytes here.
  for (const { id, summary, origin, visibility, ownSet, isPublic, etag } of rows) {
    const isCovered = covered.some(glob => matchesGlob(glob, id))
    const ownedBy = isCovered && ownSet !== null ? { set: ownSet } : {}
    const written = etag !== null && writable.some(glob => matchesGlob(glob, id)) ? { manifestEtag: etag } : {}
    if (isCovered || (set === undefined && !onlyCovered && isPublic === 1))
      agents.push({ id, origin, visibility, ...ownedBy, ...written, ...(JSON.parse(summary) as Summary) })
    if (agents.length === limit) break
  }
  return agents
}

/** Returns a page of a catalog, which never has an internal agent, nor one without a card. */
export const selectCatalog = (sql: SqlStorage, { after, limit, origin, owner }: CatalogQuery): CatalogPage => {
  type Row = { id: string; origin: string; modified: number; summary: string; fields: string; isSigned: number }
  const rows = sql.exec<Row>(
    `SELECT id, origin, modified, summary, search_fields AS fields, ${IS_SIGNED_BY_HOST} AS isSigned FROM agents
      WHERE ${owner === undefined ? '' : '(id = ?4 OR origin = ?3) AND'} id > ?1 AND visibility = 'public' AND EXISTS (
        SELECT 1 FROM representations WHERE representations.id = agents.id AND names <> '["profile"]')
      ORDER BY id LIMIT ?2`,
    ...[after, limit, ...(owner === undefined ? [] : [origin, owner])],
  )
  const agents = rows.toArray().map(({ summary, fields, isSigned, ...rest }): CatalogAgent => {
    const { skillIds, tags, examples } = JSON.parse(fields) as SearchFields
    const isSignedByHost = isSigned === 1
    return { ...rest, ...(JSON.parse(summary) as Summary), skillIds, tags, examples, isSignedByHost }
  })
  const known = sql.exec("SELECT 1 FROM agents WHERE origin = ? AND visibility = 'public' LIMIT 1", origin).toArray()
  return { agents, isKnownOrigin: known.length > 0 }
}

/** Returns a sitemap, or one page of it. It has the agents that a catalog has. */
export const selectSitemap = (sql: SqlStorage, { origin, page, size }: SitemapQuery): Sitemap => {
  const listed = `FROM agents WHERE origin = ? AND visibility = 'public' AND EXISTS (
    SELECT 1 FROM representations WHERE representations.id = agents.id AND names <> '["profile"]')`
  const agents = sql
    .exec<{ id: string; modified: number }>(
      `SELECT id, modified ${listed} ORDER BY id LIMIT ? OFFSET ?`,
      ...[origin, size + 1, ((page ?? 1) - 1) * size],
    )
    .toArray()
  if (page !== undefined || agents.length <= size) return { agents: agents.slice(0, size) }
  const { count } = sql.exec<{ count: number }>(`SELECT COUNT(*) AS count ${listed}`, origin).one()
  return { pages: Math.ceil(count / size) }
}

/**
 * Returns the agents of an id, else of a name, in lower case. The oldest holder of a name wins: otherwise a writer of one agent
 * could take over another's calls by taking its name. Callers that may not read internal agents must not learn of them.
 */
export const selectAgentsByName = (sql: SqlStorage, name: string): NamedAgents => {
  const rows = sql
    .exec<{ id: string; visibility: string }>(
      `SELECT id, visibility FROM agents WHERE lower(json_extract(summary, '$.name')) = ?1 OR id = ?1
        ORDER BY id <> ?1, json_extract(summary, '$.named'), id`,
      name,
    )
    .toArray()
  const first = rows.findIndex(({ visibility }) => visibility === 'public')
  const internal = first === -1 ? rows : rows.slice(0, first)
  return { public: rows[first]?.id ?? null, internal: internal.slice(0, MAX_INTERNAL_AGENTS).map(({ id }) => id) }
}

/** Returns since when an agent has had a name, in ms since 1970; `now` where the name is new to it. */
export const namedSince = (sql: SqlStorage, id: string, name: string, now: number): number => {
  const [row] = sql
    .exec<{ since: number }>(
      `SELECT json_extract(summary, '$.named') AS since FROM agents
        WHERE id = ? AND lower(json_extract(summary, '$.name')) = lower(?)`,
      ...[id, name],
    )
    .toArray()
  return row?.since ?? now
}

/** Returns the secrets and service bindings that the manifests of agents name, each combination once. */
export const selectUpstreamBindings = (sql: SqlStorage): UpstreamBindings =>
  sql
    .exec<{ secret: string | null; service: string | null }>(
      `SELECT DISTINCT json_extract(manifest, '$.upstream.secret') AS secret,
          json_extract(manifest, '$.upstream.service') AS service
        FROM agents JOIN revisions USING (id, seq)`,
    )
    .toArray()
    .map(({ secret, service }) => ({ ...(secret !== null && { secret }), ...(service !== null && { service }) }))

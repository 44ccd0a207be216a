import * as v from 'valibot'
import { httpUrl, matchesGlob, type RepresentationName, revisionNumber, timestamp } from '../../card/model/index.ts'
import { unpackDocuments } from '../documents.ts'
import type { Representation, SourceHealth } from '../kv-format.ts'
import type { Registration } from '../prepare.ts'
import { type ListedAgent, SearchFields, Summary } from '../search-fields.ts'
import { defineTable, exists, insertRow, type Row, selectAll, selectFirst, selectValue, updateRow } from '../sql.ts'
import { etag, flag, json, ofRevision } from './column-formats.ts'
import { IS_SIGNED_BY_HOST, selectDocuments } from './document-table.ts'
import { selectSource } from './source-table.ts'

/**
 * The agents that are registered. `published` numbers what is published of an agent: it is the `seq` of the revision,
 * or a later number of new signatures or a new health. `listed` is 1 for a public agent with a card: everybody sees it.
 */
export const agents = defineTable(
  'agents',
  {
    ...{ id: 'text', seq: 'integer', published: 'integer', visibility: 'text', listed: 'integer', set_name: 'text?' },
    ...{ origin: 'text', modified: 'integer', manifest_etag: 'text', summary: 'text', search_fields: 'text' },
    profile: 'text',
  },
  {
    keys: 'PRIMARY KEY (id)',
    indexes: {
      agents_by_name: "(lower(json_extract(summary, '$.name')))",
      agents_by_origin: '(origin, id)',
      agents_listed: '(id) WHERE listed = 1',
      agents_by_set: '(set_name, id) WHERE set_name IS NOT NULL',
    },
    formats: ({ CallProfile, Manifest: { entries } }) => ({
      ...{ ...ofRevision, published: revisionNumber, visibility: entries.visibility.wrapped, listed: flag },
      ...{ set_name: entries.set.wrapped, origin: httpUrl, modified: timestamp, manifest_etag: etag },
      summary: json(v.object({ ...Summary.entries, named: timestamp })),
      ...{ search_fields: json(v.omit(SearchFields, ['text'])), profile: json(CallProfile) },
    }),
  },
)

/** A row of an agent. */
export type Agent = Row<typeof agents>

/**
 * A page of a list: agents whose ids follow `after`, in the order of their ids, at most `limit`. These are the agents
 * whose ids match one of the globs in `covered` and, unless the list is that of a `set` or `onlyCovered`, the public
 * ones; with `ids`, only agents with one of these. Agents that match one of the globs in `writable` have the entity
 * tags of their manifests.
 */
export type ListQuery = {
  after: string
  limit: number
  covered: readonly string[]
  set?: string
  ids?: readonly string[]
  writable?: readonly string[]
  onlyCovered?: boolean
}

/** An agent in a catalog; `modified` is in ms since 1970. */
export type CatalogAgent = Summary &
  Pick<SearchFields, 'skillIds' | 'tags' | 'examples'> &
  Pick<Agent, 'id' | 'origin' | 'modified'> & { isSignedByHost: boolean }

/** A page of public agents with a card, by id; with an `owner`, only it and those whose URLs begin with `origin`. */
export type CatalogQuery = { after: string; limit: number; origin: string; owner?: string }

/** A sitemap of public agents with a card at `origin`, at most `size` in a document; or one `page` of it, from 1. */
type SitemapQuery = { origin: string; page?: number | undefined; size: number }

/** The agents of a document, `modified` in ms since 1970; or the number of pages of a larger sitemap. */
export type Sitemap = { agents: { id: string; modified: number }[] } | { pages: number }

/** The agents of a name or an id: the public one, and the internal ones that take precedence over it. */
export type NamedAgents = { public: string | null; internal: string[] }

/** The manifest of the revision `seq`, its entity tag, and the origin of absolute URLs at that time. */
export type StoredManifest = { seq: number; manifest: string; etag: string; modified: number; origin: string }

/** A document of an agent; without `etag` and `bytes` while its remote card has never been fetched. */
type StoredDocument =
  | (Representation & { modified: number; source?: SourceHealth })
  | { etag?: never; source: SourceHealth }

/** Internal agents of one name beyond these are not found by it. */
const MAX_INTERNAL_AGENTS = 10

/** Returns the manifest of an agent; null for no agent. */
export const selectManifest = (sql: SqlStorage, id: string): StoredManifest | null => {
  const query = `SELECT seq, manifest, manifest_etag AS etag, modified, agents.origin
    FROM agents JOIN revisions USING (id, seq) WHERE id = ?`
  return selectFirst<StoredManifest>(sql, query, id) ?? null
}

/** Returns a document of an agent, internal agents included; null for no agent. */
export const selectDocument = (sql: SqlStorage, id: string, name: RepresentationName): StoredDocument | null => {
  const modified = selectValue<number>(sql, 'SELECT modified FROM agents WHERE id = ?', id)
  const packed = selectDocuments(sql, id)
  const source = selectSource(sql, id)?.health
  const document = packed && unpackDocuments(packed)[name]
  if (!document || modified === undefined) return source ? { source } : null
  return { etag: document.etag, bytes: document.bytes.slice(), modified, ...(source && { source }) }
}

/** Returns a page of a list. A public agent without a card is listed only where it is covered. */
export const selectAgents = (sql: SqlStorage, query: ListQuery): ListedAgent[] => {
  const { after, limit, covered, set, ids, writable = [], onlyCovered = false } = query
  const page: ListedAgent[] = []
  type Found = Omit<Agent, 'seq' | 'published' | 'modified' | 'search_fields' | 'profile'>
  const select = `SELECT id, summary, origin, visibility, set_name, manifest_etag, listed
    FROM agents WHERE ${set === undefined ? '' : 'set_name = ? AND'}
      ${ids === undefined ? '' : 'id IN (SELECT value FROM json_each(?)) AND'} id > ?
      ${covered.length === 0 ? 'AND listed = 1' : ''} ORDER BY id`
  const values = [set ?? [], ids === undefined ? [] : JSON.stringify(ids), after].flat()
  const rows = sql.exec<Found>(select, ...values)
  // Not with GLOB: SQLite limits its patterns to 50 bytes here.
  for (const { id, summary, origin, visibility, set_name, manifest_etag, listed } of rows) {
    const isCovered = covered.some(glob => matchesGlob(glob, id))
    const ownedBy = isCovered && set_name !== null ? { set: set_name } : {}
    const written = writable.some(glob => matchesGlob(glob, id)) ? { manifestEtag: manifest_etag } : {}
    if (isCovered || (set === undefined && !onlyCovered && listed === 1))
      page.push({ id, origin, visibility, ...ownedBy, ...written, ...(JSON.parse(summary) as Summary) })
    if (page.length === limit) break
  }
  return page
}

/** The columns of agents in catalogs and searches, without the profile, which can be long. */
export const FOUND_COLUMNS = `id, origin, visibility, set_name, modified, summary, search_fields,
  ${IS_SIGNED_BY_HOST} AS isSigned`

/** A row of these columns. */
export type FoundAgent = Omit<Agent, 'seq' | 'published' | 'listed' | 'manifest_etag' | 'profile'> & {
  isSigned: number
}

/** Returns a page of a catalog, and whether the URLs of any public agent begin with the origin of the query. */
export const selectCatalog = (sql: SqlStorage, { after, limit, origin, owner }: CatalogQuery) => {
  const [condition, ...values] = owner === undefined ? [''] : ['(id = ?4 OR origin = ?3) AND', origin, owner]
  const query = `SELECT ${FOUND_COLUMNS} FROM agents
    WHERE ${condition} id > ?1 AND listed = 1 ORDER BY id LIMIT ?2`
  const rows = selectAll<FoundAgent>(sql, query, after, limit, ...values)
  const page = rows.map(({ id, origin, modified, summary, search_fields, isSigned }): CatalogAgent => {
    const { skillIds, tags, examples } = JSON.parse(search_fields) as SearchFields
    const listed = { id, origin, modified, ...(JSON.parse(summary) as Summary) }
    return { ...listed, skillIds, tags, examples, isSignedByHost: isSigned === 1 }
  })
  return { agents: page, isKnownOrigin: exists(sql, "agents WHERE origin = ? AND visibility = 'public'", origin) }
}

/** Returns a sitemap, or one page of it. It has the agents that a catalog has. */
export const selectSitemap = (sql: SqlStorage, { origin, page, size }: SitemapQuery): Sitemap => {
  const listed = `FROM agents WHERE origin = ? AND listed = 1`
  const query = `SELECT id, modified ${listed} ORDER BY id LIMIT ? OFFSET ?`
  const values = [origin, size + 1, ((page ?? 1) - 1) * size]
  const found = selectAll<{ id: string; modified: number }>(sql, query, ...values)
  if (page !== undefined || found.length <= size) return { agents: found.slice(0, size) }
  return { pages: Math.ceil((selectValue<number>(sql, `SELECT COUNT(*) ${listed}`, origin) ?? 0) / size) }
}

/**
 * Returns the agents of an id, else of a name, in lower case. The oldest holder of a name wins: otherwise a writer of
 * one agent could take over another's calls. Callers that may not read internal agents must not learn of them.
 */
export const selectAgentsByName = (sql: SqlStorage, name: string): NamedAgents => {
  const query = `SELECT id, visibility FROM agents WHERE lower(json_extract(summary, '$.name')) = ?1 OR id = ?1
    ORDER BY id <> ?1, json_extract(summary, '$.named'), id`
  const rows = selectAll<{ id: string; visibility: string }>(sql, query, name)
  const first = rows.findIndex(({ visibility }) => visibility === 'public')
  const internal = first === -1 ? rows : rows.slice(0, first)
  return { public: rows[first]?.id ?? null, internal: internal.slice(0, MAX_INTERNAL_AGENTS).map(({ id }) => id) }
}

/** Returns the row of an agent; undefined for no agent. */
export const selectAgent = (sql: SqlStorage, id: string): Agent | undefined =>
  selectFirst(sql, 'SELECT * FROM agents WHERE id = ?', id)

/** Returns the next number for what is published of an agent, as a revision or not. None is used twice. */
export const nextPublication = (sql: SqlStorage, id: string, agent: Pick<Agent, 'published'> | undefined): number =>
  1 + (agent?.published ?? selectValue<number | null>(sql, 'SELECT MAX(seq) FROM revisions WHERE id = ?', id) ?? 0)

/** Checks whether everybody sees an agent: one without a card is in no public list. */
export const isListed = ({ visibility, cards }: Pick<Registration, 'visibility' | 'cards'>): boolean =>
  visibility === 'public' && cards.length > 0

/** Stores a registration as the state of its agent from the revision `seq` on. */
export const storeAgent = (
  sql: SqlStorage,
  { id, visibility, set, origin, manifestEtag, profile, cards, summary, search }: Registration,
  { before, seq, modified }: { before: Agent | undefined; seq: number; modified: number },
): void => {
  const { text: _, ...fields } = search
  const named = (before && namedSince(sql, before, summary.name)) ?? modified
  const agent = {
    ...{ id, seq, published: seq, visibility, listed: isListed({ visibility, cards }) ? 1 : 0 },
    ...{ set_name: set ?? null, origin, modified, manifest_etag: manifestEtag, profile },
    ...{ summary: JSON.stringify({ ...summary, named }), search_fields: JSON.stringify(fields) },
  }
  if (before) updateRow(sql, agents, before, agent)
  else insertRow(sql, agents, agent)
}

/** Publishes an agent again, whose revision stays the same. Returns the number of the publication. */
export const publishAgain = (sql: SqlStorage, agent: Agent, modified = agent.modified): number => {
  const published = nextPublication(sql, agent.id, agent)
  updateRow(sql, agents, agent, { published, modified })
  return published
}

/** Returns the version of an agent as its card declares it. */
export const versionOf = ({ summary }: Agent): string => (JSON.parse(summary) as Summary).version

/** Returns since when an agent has had a name, in ms since 1970; undefined where the name is new to it. */
const namedSince = (sql: SqlStorage, { summary }: Agent, name: string): number | undefined => {
  const before = JSON.parse(summary) as Summary & { named: number }
  const isSame = before.name === name || selectValue(sql, 'SELECT lower(?) = lower(?)', before.name, name) === 1
  return isSame ? before.named : undefined
}

/** Returns the secrets and service bindings that the manifests of agents name, each combination once. */
export const selectUpstreamBindings = (sql: SqlStorage): { secret?: string; service?: string }[] =>
  selectAll<{ secret: string | null; service: string | null }>(
    sql,
    `SELECT DISTINCT json_extract(manifest, '$.upstream.secret') AS secret,
        json_extract(manifest, '$.upstream.service') AS service
      FROM agents JOIN revisions USING (id, seq)`,
  ).map(({ secret, service }) => ({ ...(secret !== null && { secret }), ...(service !== null && { service }) }))

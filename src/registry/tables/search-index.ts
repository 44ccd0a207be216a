import { type AgentCard, matchesGlob } from '../../card/model/index.ts'
import { MAX_FACET_VALUES, MAX_SEARCH_CANDIDATES, MAX_SEARCH_HITS } from '../../limits.ts'
import { sha256 } from '../audit/index.ts'
import { publicTier } from '../documents.ts'
import type { SearchFields, SearchHit, Summary } from '../search-fields.ts'
import { type FilterName, type Terms, toIndexedText, toSearchText, toTerms } from '../search-terms.ts'
import { defineTable, selectAll, selectFirst, selectValue } from '../sql.ts'
import { type Agent, FOUND_COLUMNS, type FoundAgent, type ListQuery } from './agent-table.ts'

/** The agents in the index. */
export const search_documents = defineTable(
  'search_documents',
  { number: 'counter', id: 'text', terms: 'text', digest: 'text' },
  { keys: 'UNIQUE (id)' },
)

/** Matches agents that have one of these values, in lower case, or one that begins with `prefix`. */
export type Filter = { name: FilterName; values: readonly string[]; prefix?: string }

/** An agent in a ranking, by the number of its document in the index. */
export type RankedAgent = { number: number; score: number }

/**
 * A page of a search: agents that match one of the FTS5 expressions in `matches` and every filter, as far as `covered`
 * and `set` of a list allow. The last expression includes the others; agents that match an earlier one rank first.
 * Without expressions, those whose numbers follow `after`. `order` is the rest of a ranking.
 */
export type SearchQuery = Omit<ListQuery, 'after'> & {
  after: number
  matches?: readonly string[]
  filters: readonly Filter[]
  facets: readonly FilterName[]
  order?: readonly RankedAgent[]
}

/** A page of a search. The next has the agents of `rest`, or those after `after`. `isApproximate` is for the facets. */
type SearchResult = {
  agents: SearchHit[]
  isLast: boolean
  rest: RankedAgent[]
  after: number
  facets?: Partial<Record<FilterName, FacetValue[]>>
  isApproximate?: boolean
}

type FacetValue = { value: string; count: number }

/** The indexes of public and other agents: a score depends on all documents of an index, and must not reveal any. */
const INDEXES = ['search', 'internal_search'] as const

/** Creates the full-text indexes if they do not exist. */
export const createIndexes = (sql: SqlStorage): void => {
  for (const index of INDEXES)
    sql.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS ${index} USING fts5(
      name, description, skills, tags, details, provider, terms,
      content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
    )`)
}

/** The weights of a word in the name, description, skills, tags, details, provider and terms. */
const WEIGHTS = '10, 2, 4, 4, 1, 2, 0'

/** The SQL for whether everybody may find the agents of an index. */
const IS_LISTED = { search: '1', internal_search: '0' } as const

const indexesFor = ({ covered }: SearchQuery) => (covered.length === 0 ? INDEXES.slice(0, 1) : INDEXES)

/** An agent in the index: what is found of it, and whether everybody may find it, now and before. */
type Indexed = {
  id: string
  set: string | undefined
  listed: boolean
  wasListed?: boolean
  summary: Summary
  search: SearchFields
}

/** Adds an agent to the search index, or updates what differs there. Belongs to the transaction of the write. */
export const indexAgent = (
  sql: SqlStorage,
  { id, set, listed, wasListed = listed, summary, search }: Indexed,
): void => {
  const terms = toTerms(search)
  const tokens = [
    EVERY_AGENT,
    ...(set === undefined ? [] : [toToken('set', set)]),
    ...Object.entries(terms).flatMap(([kind, values]) => values.map(value => toToken(kind, value))),
  ]
  const { name, description } = summary
  const words = [name, description, search.skillNames.join('\n'), search.tags.join('\n'), search.text, search.provider]
  // The indexes store no text to compare with.
  const digest = sha256(JSON.stringify([listed, tokens, words]))
  const query = `INSERT INTO search_documents (id, terms, digest) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET terms = excluded.terms, digest = excluded.digest WHERE digest <> excluded.digest
    RETURNING number`
  const number = selectValue<number>(sql, query, id, JSON.stringify(terms), digest)
  if (number === undefined) return
  const [own, other] = listed ? INDEXES : INDEXES.toReversed()
  if (wasListed !== listed) sql.exec(`DELETE FROM ${other} WHERE rowid = ?`, number)
  const insert = `INSERT OR REPLACE INTO ${own} (rowid, name, description, skills, tags, details, provider, terms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
  sql.exec(insert, number, ...words.map(toIndexedText), tokens.join(' '))
}

/** Adds an imported agent to the search index. The text of its skills is in its public card. */
export const indexStored = (sql: SqlStorage, id: string): void => {
  const query = `SELECT set_name, listed, summary, search_fields, card FROM agents LEFT JOIN revision_cards AS c
    ON c.id = agents.id AND c.seq = agents.seq AND tier = ? WHERE agents.id = ?`
  type Stored = Pick<Agent, 'set_name' | 'listed' | 'summary' | 'search_fields'> & { card: string | null }
  const row = selectFirst<Stored>(sql, query, publicTier, id)
  if (!row) return
  const { set_name, listed, summary, search_fields, card } = row
  const text = card === null ? '' : toSearchText((JSON.parse(card) as AgentCard).skills)
  const search = { ...(JSON.parse(search_fields) as SearchFields), text }
  const agent = { id, set: set_name ?? undefined, listed: listed === 1, search }
  indexAgent(sql, { ...agent, summary: JSON.parse(summary) as Summary })
}

/** Removes an agent from the search index. */
export const unindexAgent = (sql: SqlStorage, id: string): void => {
  const number = selectValue<number>(sql, 'DELETE FROM search_documents WHERE id = ? RETURNING number', id)
  if (number !== undefined) for (const index of INDEXES) sql.exec(`DELETE FROM ${index} WHERE rowid = ?`, number)
}

/** Returns a value as one token. Characters of private use surround the code of each that would end or fold it. */
const toToken = (kind: string, value: string): string => {
  const encoded = value.replace(/[^a-z0-9]/gu, each => `\ue000${each.codePointAt(0)?.toString(36)}\ue000`)
  return `\ue000${kind}\ue000${encoded}`
}

const EVERY_AGENT = toToken('agent', '')

/** Returns a page of the agents that match a query, best first; without words in the order of their numbers. */
export const search = (sql: SqlStorage, query: SearchQuery): SearchResult => ({
  ...(query.matches === undefined ? selectFiltered(sql, query) : selectRanked(sql, query, query.matches)),
  ...(query.facets.length > 0 && countFacets(sql, query)),
})

type Document = { number: number; id: string; listed: number }

/** Returns the SQL for documents that match `?1`, in the order of their numbers, in which FTS5 finds them. */
const find = (query: SearchQuery, { columns = 'd.id', condition = 'TRUE', limit = MAX_SEARCH_CANDIDATES } = {}) =>
  `${indexesFor(query)
    .map(
      index => `SELECT found.rowid AS number, ${IS_LISTED[index]} AS listed, ${columns}
        FROM ${index} AS found CROSS JOIN search_documents AS d ON d.number = found.rowid
        WHERE found.${index} MATCH ?1 AND ${condition}`,
    )
    .join(' UNION ALL ')} ORDER BY number LIMIT ${limit}`

const selectFiltered = (sql: SqlStorage, query: SearchQuery): SearchResult => {
  const rows = sql.exec<Document>(find(query, { condition: 'found.rowid > ?2' }), ...[withFilters(query), query.after])
  const page: Document[] = []
  let [examined, after] = [0, query.after]
  for (const row of rows) {
    if (page.length === query.limit) return { agents: loadHits(sql, query, page), isLast: false, rest: [], after }
    examined += 1
    after = row.number
    if (isVisible(query, row)) page.push(row)
  }
  return { agents: loadHits(sql, query, page), isLast: examined < MAX_SEARCH_CANDIDATES, rest: [], after }
}

type RankedDocument = Document & RankedAgent

/** Gives the rest of a ranking to the client: a score depends on all agents, so no later page can be found by it. */
const selectRanked = (sql: SqlStorage, query: SearchQuery, matches: readonly string[]): SearchResult => {
  const { limit, order } = query
  const page = order === undefined ? rank(sql, query, matches) : stillFound(sql, query, order.slice(0, limit))
  const rest =
    order === undefined ? page.slice(limit).map(({ number, score }) => ({ number, score })) : order.slice(limit)
  return { agents: loadHits(sql, query, page.slice(0, limit)), isLast: rest.length === 0, rest, after: 0 }
}

/**
 * Ranks the agents that match the first expression before those that match only a later one. It scores the first
 * MAX_SEARCH_CANDIDATES agents of each: bm25 of all that have a common word would take longer than a search may. The
 * score of an agent is its share of the best bm25 for its expression in its index, plus the number of expressions after
 * that.
 */
const rank = (sql: SqlStorage, query: SearchQuery, matches: readonly string[]): RankedDocument[] => {
  const ranked = new Map<number, RankedDocument>()
  for (const [position, match] of matches.entries()) {
    const others = matches.length - position - 1
    const found = indexesFor(query).flatMap(index => scoreDocuments(sql, query, index, match))
    for (const { share, ...row } of found.sort((a, b) => b.share - a.share || a.number - b.number)) {
      if (!ranked.has(row.number)) ranked.set(row.number, { ...row, score: Math.round(1000 * (others + share)) / 1000 })
      if (ranked.size === MAX_SEARCH_HITS) return [...ranked.values()]
    }
  }
  return [...ranked.values()]
}

/** Returns the visible documents of an index that match an expression, each with its share of their best bm25. */
const scoreDocuments = (sql: SqlStorage, query: SearchQuery, index: (typeof INDEXES)[number], match: string) => {
  const { covered } = query
  const limit = covered.length === 0 || covered.includes('*') ? MAX_SEARCH_HITS : MAX_SEARCH_CANDIDATES
  const select = `SELECT d.number, d.id, ${IS_LISTED[index]} AS listed, bm25 FROM (
      SELECT rowid AS number, -bm25(${index}, ${WEIGHTS}) AS bm25 FROM ${index} WHERE ${index} MATCH ?
        LIMIT ${MAX_SEARCH_CANDIDATES}
    ) JOIN search_documents AS d USING (number) ORDER BY bm25 DESC, number LIMIT ${limit}`
  const rows = selectAll<Document & { bm25: number }>(sql, select, withFilters(query, match))
  const visible = rows.filter(row => isVisible(query, row))
  const best = visible[0]?.bm25 ?? 1
  return visible.map(({ bm25, ...row }) => ({ ...row, share: bm25 / best }))
}

/** Returns those agents of a page that still match, in their order. */
const stillFound = (sql: SqlStorage, query: SearchQuery, page: readonly RankedAgent[]): RankedDocument[] => {
  const rows = sql.exec<Document>(
    // With the plus, FTS5 runs the query once instead of once for each number.
    find(query, { condition: '+found.rowid IN (SELECT value FROM json_each(?2))', limit: page.length }),
    ...[withFilters(query), JSON.stringify(page.map(({ number }) => number))],
  )
  const found = new Map([...rows].filter(row => isVisible(query, row)).map(row => [row.number, row]))
  return page.flatMap(({ number, score }) => {
    const row = found.get(number)
    return row ? [{ ...row, score }] : []
  })
}

/** Returns the expression for the agents that match, with all filters. The last one of a query includes the others. */
const withFilters = ({ filters, set, matches }: SearchQuery, match = matches?.at(-1)): string => {
  const required = [
    ...(match === undefined ? [] : [`(${match})`]),
    ...(set === undefined ? [] : [hasTerm('set', [set])]),
    ...filters.map(({ name, values, prefix }) => hasTerm(name, values, prefix)),
  ]
  return required.length === 0 ? `terms : "${EVERY_AGENT}"` : required.join(' AND ')
}

const hasTerm = (kind: string, values: readonly string[], prefix?: string): string => {
  const tokens = values.map(value => `"${toToken(kind, value)}"`)
  if (prefix !== undefined) tokens.push(`"${toToken(kind, prefix)}"*`)
  return `terms : (${tokens.join(' OR ')})`
}

const isVisible = ({ covered, set, onlyCovered = false }: SearchQuery, { id, listed }: Document): boolean =>
  (set === undefined && !onlyCovered && listed === 1) || isCovered(covered, id)

const isCovered = (covered: readonly string[], id: string): boolean => covered.some(glob => matchesGlob(glob, id))

/** Loads the agents of a page; without words in the query, they have no score. */
const loadHits = (sql: SqlStorage, { covered }: SearchQuery, found: readonly (Document & { score?: number })[]) => {
  const query = `SELECT ${FOUND_COLUMNS} FROM agents WHERE id IN (SELECT value FROM json_each(?))`
  const ids = JSON.stringify(found.map(({ id }) => id))
  const rows = sql.exec<FoundAgent>(query, ids)
  const byId = new Map([...rows].map(row => [row.id, row]))
  return found.flatMap(({ id, score }) => {
    const row = byId.get(id)
    if (!row) return []
    const { summary, search_fields, origin, visibility, set_name, isSigned } = row
    const fields = JSON.parse(search_fields) as SearchFields
    const { skillIds, tags, provider, capabilities, protocolVersions } = fields
    // The keys of the host can change without a registration.
    const signed = fields.signed || isSigned === 1
    const ownedBy = isCovered(covered, id) && set_name !== null ? { set: set_name } : {}
    const shown = { skillIds, tags, provider, capabilities, protocolVersions, signed }
    const hit = { ...(JSON.parse(summary) as Summary), id, origin, visibility, ...ownedBy, ...shown }
    return [{ ...hit, ...(score !== undefined && { score }) }]
  })
}

/** Counts the values of the first agents that match, the most frequent first. */
const countFacets = (sql: SqlStorage, query: SearchQuery): Pick<SearchResult, 'facets' | 'isApproximate'> => {
  const found = find(query, { columns: 'd.id, d.terms', limit: MAX_SEARCH_CANDIDATES + 1 })
  const rows = selectAll<Document & { terms: string }>(sql, found, withFilters(query))
  const counts = new Map(query.facets.map(name => [name, new Map<string, number>()]))
  for (const row of rows.slice(0, MAX_SEARCH_CANDIDATES)) {
    if (!isVisible(query, row)) continue
    const terms = JSON.parse(row.terms) as Terms
    for (const [name, counted] of counts)
      for (const value of terms[name]) counted.set(value, (counted.get(value) ?? 0) + 1)
  }
  return {
    facets: Object.fromEntries([...counts].map(([name, counted]) => [name, mostFrequent(counted)])),
    ...(rows.length > MAX_SEARCH_CANDIDATES && { isApproximate: true }),
  }
}

const mostFrequent = (counted: ReadonlyMap<string, number>): FacetValue[] =>
  [...counted]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, MAX_FACET_VALUES)

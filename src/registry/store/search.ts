import { matchesGlob } from '../../card/model/constants.ts'
import { MAX_FACET_VALUES, MAX_SEARCH_CANDIDATES, MAX_SEARCH_HITS } from '../../limits.ts'
import type {
  FacetValue,
  RankedAgent,
  Registration,
  SearchFields,
  SearchHit,
  SearchQuery,
  SearchResult,
  Summary,
} from '../records.ts'
import { type Terms, toTerms } from '../search-fields.ts'
import { toIndexedText } from '../search-words.ts'

/** The weights of name, description, skills, tags, details, provider and terms: how much a word in each says about an agent. */
const BM25 = 'bm25(search, 10, 2, 4, 4, 1, 2, 0)'

/** Makes an agent found by what is registered of it now. Belongs to the transaction of the write. */
export const indexAgent = (
  sql: SqlStorage,
  registration: Pick<Registration, 'id' | 'visibility' | 'set' | 'representations' | 'summary' | 'search'>,
): void => {
  const { id, visibility, set, representations, summary, search } = registration
  const terms = toTerms(search)
  const listed = visibility === 'public' && Object.keys(representations).length > 0 ? 1 : 0
  const { number } = sql
    .exec<{ number: number }>(
      `INSERT INTO search_documents (id, listed, terms) VALUES (?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET listed = excluded.listed, terms = excluded.terms RETURNING number`,
      ...[id, listed, JSON.stringify(terms)],
    )
    .one()
  const tokens = [
    toToken('listed', String(listed)),
    ...(set === undefined ? [] : [toToken('set', set)]),
    ...Object.entries(terms).flatMap(([kind, values]) => values.map(value => toToken(kind, value))),
  ]
  const words = [summary.name, summary.description, search.skillNames.join('\n'), search.tags.join('\n'), search.text]
  sql.exec(
    'INSERT OR REPLACE INTO search (rowid, name, description, skills, tags, details, provider, terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ...[number, ...[...words, search.provider].map(toIndexedText), tokens.join(' ')],
  )
}

/** Makes a removed agent found no more. */
export const unindexAgent = (sql: SqlStorage, id: string): void => {
  const [row] = sql.exec<{ number: number }>('DELETE FROM search_documents WHERE id = ? RETURNING number', id).toArray()
  if (row) sql.exec('DELETE FROM search WHERE rowid = ?', row.number)
}

/** Returns a value as one token. It begins with a character of private use, which no word of a query has. */
const toToken = (kind: string, value: string): string => {
  const bytes = new TextEncoder().encode(`${kind} ${value}`)
  return `\ue000${Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Returns a page of the agents that match a query, best first; or in the order of their numbers, if the query has no words. */
export const search = (sql: SqlStorage, query: SearchQuery): SearchResult => ({
  ...(query.matches === undefined ? selectFiltered(sql, query) : selectRanked(sql, query, query.matches)),
  ...(query.facets.length > 0 && countFacets(sql, query)),
})

type Document = { number: number; id: string; listed: number }

/** FTS5 finds documents in the order of their numbers, so that this reads no more of them than it takes. */
const FIND = 'FROM search CROSS JOIN search_documents AS d ON d.number = search.rowid WHERE search MATCH ?'

const selectFiltered = (sql: SqlStorage, query: SearchQuery): SearchResult => {
  const { limit } = query
  const rows = sql.exec<Document>(
    `SELECT d.number, d.id, d.listed ${FIND} AND search.rowid > ? ORDER BY search.rowid LIMIT ${MAX_SEARCH_CANDIDATES}`,
    ...[withFilters(query), query.after],
  )
  const page: Document[] = []
  let [examined, after] = [0, query.after]
  for (const row of rows) {
    if (page.length === limit) return { agents: loadHits(sql, query, page), isLast: false, rest: [], after }
    examined += 1
    after = row.number
    if (isVisible(query, row)) page.push(row)
  }
  return { agents: loadHits(sql, query, page), isLast: examined < MAX_SEARCH_CANDIDATES, rest: [], after }
}

type RankedDocument = Document & RankedAgent

/** A document of a page; without words in the query, it has no score. */
type Found = Document & { score?: number }

/** The rest of a ranking is given to the client: a score depends on all agents, so that no later page could be found by it. */
const selectRanked = (sql: SqlStorage, query: SearchQuery, matches: readonly string[]): SearchResult => {
  const { limit, order } = query
  const page = order === undefined ? rank(sql, query, matches) : stillFound(sql, query, order.slice(0, limit))
  const rest =
    order === undefined ? page.slice(limit).map(({ number, score }) => ({ number, score })) : order.slice(limit)
  return { agents: loadHits(sql, query, page.slice(0, limit)), isLast: rest.length === 0, rest, after: 0 }
}

/**
 * Ranks the agents that match the first expression before those that match only a later one. Of each expression, it scores the first
 * MAX_SEARCH_CANDIDATES agents: bm25 of all that have a common word would take longer than a search may. The score of an agent is its
 * share of the best bm25 for its expression, plus the number of expressions after that.
 */
const rank = (sql: SqlStorage, query: SearchQuery, matches: readonly string[]): RankedDocument[] => {
  const { covered } = query
  const ranked = new Map<number, RankedDocument>()
  const limit = covered.length === 0 || covered.includes('*') ? MAX_SEARCH_HITS : MAX_SEARCH_CANDIDATES
  for (const [index, match] of matches.entries()) {
    const rows = sql.exec<RankedDocument>(
      `SELECT d.number, d.id, d.listed, score FROM (
          SELECT rowid AS number, -${BM25} AS score FROM search WHERE search MATCH ? LIMIT ${MAX_SEARCH_CANDIDATES}
        ) JOIN search_documents AS d USING (number) ORDER BY score DESC, number LIMIT ${limit}`,
      withFilters(query, match),
    )
    const others = matches.length - index - 1
    let best: number | undefined
    for (const row of rows) {
      if (!isVisible(query, row)) continue
      best ??= row.score
      const score = Math.round(1000 * (others + row.score / best)) / 1000
      if (!ranked.has(row.number)) ranked.set(row.number, { ...row, score })
      if (ranked.size === MAX_SEARCH_HITS) return [...ranked.values()]
    }
  }
  return [...ranked.values()]
}

/** Returns those agents of a page that still match, in their order. */
const stillFound = (sql: SqlStorage, query: SearchQuery, page: readonly RankedAgent[]): RankedDocument[] => {
  const rows = sql.exec<Document>(
    // With the plus, FTS5 runs the query once instead of once for each number.
    `SELECT d.number, d.id, d.listed ${FIND} AND +search.rowid IN (SELECT value FROM json_each(?)) LIMIT ${page.length}`,
    ...[withFilters(query), JSON.stringify(page.map(({ number }) => number))],
  )
  const found = new Map([...rows].filter(row => isVisible(query, row)).map(row => [row.number, row]))
  return page.flatMap(({ number, score }) => {
    const row = found.get(number)
    return row ? [{ ...row, score }] : []
  })
}

/** Returns the expression for the agents that match, with all filters. The last expression of a query includes all before it. */
const withFilters = ({ filters, covered, set, matches }: SearchQuery, match = matches?.at(-1)): string => {
  const required = [
    ...(match === undefined ? [] : [`(${match})`]),
    ...(set === undefined ? [] : [hasTerm('set', [set])]),
    ...filters.map(({ name, values, prefix }) => hasTerm(name, values, prefix)),
  ]
  const all = required.length === 0 ? hasTerm('listed', ['0', '1']) : required.join(' AND ')
  return covered.length === 0 ? `(${all}) NOT ${hasTerm('listed', ['0'])}` : all
}

const hasTerm = (kind: string, values: readonly string[], prefix?: string): string => {
  const tokens = values.map(value => `"${toToken(kind, value)}"`)
  if (prefix !== undefined) tokens.push(`"${toToken(kind, prefix)}"*`)
  return `terms : (${tokens.join(' OR ')})`
}

const isVisible = ({ covered, set }: SearchQuery, { id, listed }: Omit<Document, 'number'>): boolean =>
  (set === undefined && listed === 1) || isCovered(covered, id)

const isCovered = (covered: readonly string[], id: string): boolean => covered.some(glob => matchesGlob(glob, id))

const loadHits = (sql: SqlStorage, { covered }: SearchQuery, found: readonly Found[]): SearchHit[] => {
  type Row = { id: string; summary: string; fields: string; origin: string; visibility: string; ownSet: string | null }
  const rows = sql
    .exec<Row>(
      `SELECT id, summary, search_fields AS fields, origin, visibility, set_name AS ownSet FROM agents
        WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(found.map(({ id }) => id)),
    )
    .toArray()
  const byId = new Map(rows.map(row => [row.id, row]))
  return found.flatMap(({ id, score }) => {
    const row = byId.get(id)
    if (!row) return []
    const { summary, fields, origin, visibility, ownSet } = row
    const { skillIds, tags } = JSON.parse(fields) as SearchFields
    const ownedBy = isCovered(covered, id) && ownSet !== null ? { set: ownSet } : {}
    const hit = { ...(JSON.parse(summary) as Summary), id, origin, visibility, ...ownedBy, skillIds, tags }
    return [{ ...hit, ...(score !== undefined && { score }) }]
  })
}

/** Counts the values of the first agents that match, the most frequent first. */
const countFacets = (sql: SqlStorage, query: SearchQuery): Pick<SearchResult, 'facets' | 'isApproximate'> => {
  const rows = sql
    .exec<Document & { terms: string }>(
      `SELECT d.number, d.id, d.listed, d.terms ${FIND} LIMIT ${MAX_SEARCH_CANDIDATES + 1}`,
      withFilters(query),
    )
    .toArray()
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

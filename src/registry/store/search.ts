import { matchesGlob } from '../../card/model/constants.ts'
import { MAX_FACET_AGENTS, MAX_FACET_VALUES, MAX_SEARCH_HITS } from '../../limits.ts'
import type {
  FacetValue,
  FilterName,
  Registration,
  SearchFields,
  SearchHit,
  SearchQuery,
  SearchResult,
  Summary,
} from '../records.ts'
import { type Terms, toTerms } from '../search-fields.ts'
import { toIndexedText } from '../search-words.ts'

/** The weights of name, description, skills, tags, details and provider: how much a word in each says about an agent. */
const BM25 = 'bm25(search, 10, 2, 4, 4, 1, 2)'

/** Makes an agent found by what is registered of it now. Belongs to the transaction of the write. */
export const indexAgent = (
  sql: SqlStorage,
  registration: Pick<Registration, 'id' | 'visibility' | 'representations' | 'summary' | 'search'>,
): void => {
  const { id, visibility, representations, summary, search } = registration
  const terms = toTerms(search)
  const listed = visibility === 'public' && Object.keys(representations).length > 0 ? 1 : 0
  const before = indexedTerms(sql, id)
  const { number } = sql
    .exec<{ number: number }>(
      `INSERT INTO search_documents (id, listed, terms) VALUES (?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET listed = excluded.listed, terms = excluded.terms RETURNING number`,
      ...[id, listed, JSON.stringify(terms)],
    )
    .one()
  replaceTerms(sql, id, before?.terms, terms)
  if (before) sql.exec('DELETE FROM search WHERE rowid = ?', number)
  sql.exec(
    'INSERT INTO search (rowid, name, description, skills, tags, details, provider) VALUES (?, ?, ?, ?, ?, ?, ?)',
    number,
    ...[summary.name, summary.description, search.skillNames.join('\n'), search.tags.join('\n'), search.text]
      .concat(search.provider)
      .map(toIndexedText),
  )
}

/** Makes a removed agent found no more. */
export const unindexAgent = (sql: SqlStorage, id: string): void => {
  const before = indexedTerms(sql, id)
  if (!before) return
  sql.exec('DELETE FROM search WHERE rowid = ?', before.number)
  replaceTerms(sql, id, before.terms, undefined)
  sql.exec('DELETE FROM search_documents WHERE id = ?', id)
}

const indexedTerms = (sql: SqlStorage, id: string): { number: number; terms: Terms } | undefined => {
  const [row] = sql
    .exec<{ number: number; terms: string }>('SELECT number, terms FROM search_documents WHERE id = ?', id)
    .toArray()
  return row && { number: row.number, terms: JSON.parse(row.terms) as Terms }
}

/** Writes only what differs: most new revisions have the terms of the one before. */
const replaceTerms = (sql: SqlStorage, id: string, before: Terms | undefined, after: Terms | undefined): void => {
  const [old, current] = [pairs(before), pairs(after)]
  for (const [key, pair] of old)
    if (!current.has(key)) sql.exec('DELETE FROM search_terms WHERE kind = ? AND value = ? AND id = ?', ...pair, id)
  for (const [key, pair] of current)
    if (!old.has(key)) sql.exec('INSERT INTO search_terms (kind, value, id) VALUES (?, ?, ?)', ...pair, id)
}

const pairs = (terms: Partial<Terms> = {}): Map<string, [kind: string, value: string]> =>
  new Map(
    Object.entries(terms).flatMap(([kind, values]) =>
      values.map((value): [string, [string, string]] => [`${kind} ${value}`, [kind, value]]),
    ),
  )

/** Returns a page of the agents that match a query, best first; or in the order of their ids, if the query has no words. */
export const search = (sql: SqlStorage, query: SearchQuery): SearchResult => {
  const { match, facets } = query
  return {
    ...(match === undefined ? selectFiltered(sql, query) : selectRanked(sql, query, match)),
    ...(facets.length > 0 && { facets: countFacets(sql, query) }),
  }
}

type Candidate = { number: number; id: string; listed: number; score: number }

const selectFiltered = (sql: SqlStorage, query: SearchQuery): SearchResult => {
  const { from, conditions, values } = toSql(query)
  const where = ['d.id > ?', ...conditions].join(' AND ')
  const rows = sql.exec<Candidate>(
    `SELECT d.number, d.id, d.listed, 0 AS score FROM ${from} WHERE ${where} ORDER BY d.id`,
    ...[query.after, ...values],
  )
  const found = takeVisible(rows, query, query.limit + 1)
  return {
    agents: loadHits(sql, query, found.slice(0, query.limit)).map(({ score: _, ...hit }) => hit),
    isLast: found.length <= query.limit,
    rest: [],
  }
}

/** The rest of a ranking is given to the client: a score depends on all agents, so that no later page could be found by it. */
const selectRanked = (sql: SqlStorage, query: SearchQuery, match: string): SearchResult => {
  const { limit, order } = query
  const ranked =
    order === undefined
      ? takeVisible(rank(sql, query, match), query, MAX_SEARCH_HITS)
      : takeVisible(scoreAgain(sql, query, match, order.slice(0, limit)), query, limit)
  const rest = order === undefined ? ranked.slice(limit).map(({ number }) => number) : order.slice(limit)
  return { agents: loadHits(sql, query, ranked.slice(0, limit)), isLast: rest.length === 0, rest }
}

/** Keeps the order of the ranking that the client has begun to read. */
const scoreAgain = (sql: SqlStorage, query: SearchQuery, match: string, page: readonly number[]): Candidate[] => {
  const found = new Map([...rank(sql, query, match, page)].map(row => [row.number, row]))
  return page.flatMap(number => found.get(number) ?? [])
}

const rank = (sql: SqlStorage, query: SearchQuery, match: string, page?: readonly number[]): Iterable<Candidate> => {
  const { from, conditions, values } = toSql(query)
  // With the plus, FTS5 runs the query once instead of once for each number.
  const ofPage = page === undefined ? [] : ['+search.rowid IN (SELECT value FROM json_each(?))']
  const isBounded = query.covered.length === 0 || query.covered.includes('*')
  return sql.exec<Candidate>(
    `SELECT d.number, d.id, d.listed, -${BM25} AS score FROM search CROSS JOIN ${from} ON d.number = search.rowid
      WHERE ${['search MATCH ?', ...conditions, ...ofPage].join(' AND ')}
      ORDER BY score DESC, d.number ${isBounded ? `LIMIT ${MAX_SEARCH_HITS}` : ''}`,
    ...[match, ...values, ...(page === undefined ? [] : [JSON.stringify(page)])],
  )
}

/** Returns the agents that a caller may see, `d`, with all filters. */
const toSql = ({ filters, covered, set }: SearchQuery) => ({
  from: 'search_documents AS d',
  conditions: [
    ...(covered.length === 0 ? ['d.listed = 1'] : []),
    ...(set === undefined ? [] : ['(SELECT set_name FROM agents WHERE agents.id = d.id) = ?']),
    ...filters.map(
      ({ values }) =>
        `EXISTS (SELECT 1 FROM search_terms WHERE kind = ? AND value IN (${values.map(() => '?')}) AND id = d.id)`,
    ),
  ],
  values: [...(set === undefined ? [] : [set]), ...filters.flatMap(({ name, values }) => [name, ...values])],
})

const takeVisible = <Row extends { id: string; listed: number }>(
  rows: Iterable<Row>,
  { covered, set }: SearchQuery,
  limit: number,
): Row[] => {
  const visible: Row[] = []
  if (limit === 0) return visible
  for (const row of rows) {
    if (isCovered(covered, row.id) || (set === undefined && row.listed === 1)) visible.push(row)
    if (visible.length === limit) break
  }
  return visible
}

const isCovered = (covered: readonly string[], id: string): boolean => covered.some(glob => matchesGlob(glob, id))

const loadHits = (sql: SqlStorage, { covered }: SearchQuery, found: readonly Candidate[]): SearchHit[] => {
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
    return [{ ...(JSON.parse(summary) as Summary), id, origin, visibility, ...ownedBy, skillIds, tags, score }]
  })
}

/** Counts the values of the matching agents, the most frequent first. */
const countFacets = (sql: SqlStorage, query: SearchQuery): Partial<Record<FilterName, FacetValue[]>> => {
  const { from, conditions, values } = toSql(query)
  const { match, facets } = query
  const rows = sql.exec<{ id: string; listed: number; terms: string }>(
    `SELECT d.id, d.listed, d.terms FROM ${match === undefined ? from : `search CROSS JOIN ${from} ON d.number = search.rowid`}
      WHERE ${[match === undefined ? 'TRUE' : 'search MATCH ?', ...conditions].join(' AND ')}`,
    ...[...(match === undefined ? [] : [match]), ...values],
  )
  const counts = new Map(facets.map(name => [name, new Map<string, number>()]))
  for (const { terms } of takeVisible(rows, query, MAX_FACET_AGENTS)) {
    const parsed = JSON.parse(terms) as Terms
    for (const [name, counted] of counts)
      for (const value of parsed[name]) counted.set(value, (counted.get(value) ?? 0) + 1)
  }
  return Object.fromEntries([...counts].map(([name, counted]) => [name, mostFrequent(counted)]))
}

const mostFrequent = (counted: ReadonlyMap<string, number>): FacetValue[] =>
  [...counted]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, MAX_FACET_VALUES)

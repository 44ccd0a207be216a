import { type HttpError, problem, sha256Hex } from '../../http/index.ts'
import { MAX_FILTERS, MAX_QUERY_LENGTH, MAX_QUERY_WORDS, MAX_SEARCH_HITS } from '../../limits.ts'
import { type FilterName, splitWords, toMatchExpressions, toTerm } from '../../registry/index.ts'
import type { Filter, RankedAgent, SearchQuery } from '../../registry/tables/index.ts'
import { parsePageQuery } from '../parse-request.ts'

const filterNames: readonly FilterName[] = [
  ...(['tag', 'skill', 'capability', 'inputMode', 'outputMode'] as const),
  ...(['provider', 'protocolVersion'] as const),
]

/** The query parameters of a search, besides those of every list. */
export const SEARCH_PARAMETERS: readonly string[] = ['q', 'name', ...filterNames, 'facets']

/** Checks whether a list is a search: the plain list has none of its parameters. */
export const isSearch = (query: URLSearchParams): boolean => SEARCH_PARAMETERS.some(name => query.has(name))

/** A search as its client sent it, and a digest of what is searched for, by which its cursors are recognized. */
export type ParsedSearch = { query: Omit<SearchQuery, 'covered'>; digest: string }

/** Parses the parameters of a search. Throws for a parameter that is unknown, empty or beyond its limit. */
export const parseSearch = async (url: URL): Promise<ParsedSearch> => {
  const { searchParams } = url
  const words = readWords(searchParams, 'q')
  const nameWords = readWords(searchParams, 'name')
  if (words.length + nameWords.length > MAX_QUERY_WORDS)
    throw badQuery(`q and name must have at most ${MAX_QUERY_WORDS} words.`)
  const filters = readFilters(searchParams)
  const isRanked = words.length + nameWords.length > 0
  const others = ['set', 'writable']
  const form = isRanked ? rankingCursor : numberCursor
  const { after, limit } = parsePageQuery(url, form, [...others, ...SEARCH_PARAMETERS])
  const digest = await digestSearch([words, nameWords, filters, ...others.map(key => searchParams.get(key))])
  const query = { limit, filters, facets: readFacets(searchParams) }
  if (!isRanked) return { digest, query: { ...query, after: Number(after) } }
  const order = after === '' ? {} : { order: decodeCursor(after, digest) }
  return { digest, query: { ...query, after: 0, matches: toMatchExpressions(words, nameWords), ...order } }
}

const readWords = (query: URLSearchParams, name: 'q' | 'name'): string[] => {
  if (!query.has(name)) return []
  const text = query.getAll(name).join(' ')
  if (text.length > MAX_QUERY_LENGTH) throw badQuery(`${name} must have at most ${MAX_QUERY_LENGTH} characters.`)
  const words = splitWords(text)
  if (words.length === 0) throw badQuery(`${name} must have at least one letter or digit.`)
  return words
}

const readFilters = (query: URLSearchParams): Filter[] => {
  const filters = filterNames.flatMap(name => query.getAll(name).map(value => ({ name, value })))
  if (filters.length > MAX_FILTERS) throw badQuery(`A search has at most ${MAX_FILTERS} filters.`)
  return filters.map(({ name, value }) => {
    const term = toTerm(name, value)
    if (term === '' || value.length > MAX_QUERY_LENGTH)
      throw badQuery(`${name} must have 1 to ${MAX_QUERY_LENGTH} characters.`)
    return name === 'inputMode' || name === 'outputMode' ? toModeFilter(name, term) : { name, values: [term] }
  })
}

/** Matches ranges of media types of both sides: an agent with a range has all its types, a search for one wants any. */
const toModeFilter = (name: FilterName, term: string): Filter => {
  const values = [...new Set([term, `${term.split('/', 1)[0]}/*`, '*/*'])]
  if (term === '*/*') return { name, values, prefix: '' }
  return { name, values, ...(term.endsWith('/*') && { prefix: term.slice(0, -1) }) }
}

const readFacets = (query: URLSearchParams): FilterName[] => {
  if (!query.has('facets')) return []
  const names = query.getAll('facets').flatMap(text => text.split(','))
  const unknown = names.filter(name => !isFilterName(name))
  if (unknown.length > 0)
    throw badQuery(`Unknown facet "${unknown[0]?.slice(0, 40)}". facets accepts ${filterNames.join(', ')}.`)
  return [...new Set(names.filter(isFilterName))]
}

const isFilterName = (name: string): name is FilterName => filterNames.some(known => known === name)

const badQuery = (detail: string): HttpError => problem('bad-query', detail)

/** Returns the digest of what is searched for, with which its cursors begin. */
export const digestSearch = async (searched: readonly unknown[]): Promise<string> =>
  (await sha256Hex(JSON.stringify(searched))).slice(0, 12)

/** The form of a cursor without a ranking: the number of the last agent that the page examined. */
const numberCursor = /^[1-9][0-9]{0,14}$/

/**
 * The form of a cursor: a digest of the search, and the agents to come: the number of each, as its difference from the
 * one before, and its score in thousandths.
 */
export const rankingCursor = /^[0-9a-f]{12}(?:\.-?[0-9a-z]{1,11}_[0-9a-z]{1,4})+$/

/** Returns the cursor of the next page: the rest of the ranking itself, so that no write repeats or skips an agent. */
export const encodeCursor = (digest: string, rest: readonly RankedAgent[]): string =>
  [
    digest,
    ...rest.map(({ number, score }, index) => {
      const difference = number - (rest[index - 1]?.number ?? 0)
      return `${difference.toString(36)}_${Math.round(score * 1000).toString(36)}`
    }),
  ].join('.')

/** Returns the rest of the ranking. Throws for the cursor of another search. */
export const decodeCursor = (cursor: string, digest: string): RankedAgent[] => {
  const [ownDigest, ...entries] = cursor.split('.')
  if (ownDigest !== digest || entries.length > MAX_SEARCH_HITS)
    throw problem('bad-cursor', 'cursor belongs to another search.')
  let number = 0
  return entries.map(entry => {
    const [difference = '', score = ''] = entry.split('_')
    number += Number.parseInt(difference, 36)
    return { number, score: Number.parseInt(score, 36) / 1000 }
  })
}

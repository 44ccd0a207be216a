import { agentIdPattern } from '../../card/model/constants.ts'
import { sha256Hex } from '../../http/conditional.ts'
import { HttpError } from '../../http/errors.ts'
import { MAX_FILTERS, MAX_QUERY_LENGTH, MAX_QUERY_WORDS, MAX_SEARCH_HITS } from '../../limits.ts'
import type { Filter, FilterName, SearchQuery } from '../../registry/records.ts'
import { toTerm } from '../../registry/search-fields.ts'
import { splitWords, toMatchExpression } from '../../registry/search-words.ts'
import { parsePageQuery } from '../pagination.ts'

const filterNames: readonly FilterName[] = [
  'tag',
  'skill',
  'capability',
  'inputMode',
  'outputMode',
  'provider',
  'protocolVersion',
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
  const match = [toMatchExpression(words), toMatchExpression(nameWords, 'name')]
    .filter(text => text !== '')
    .join(' AND ')
  const isRanked = match !== ''
  const { after, limit } = parsePageQuery(url, isRanked ? rankingCursor : agentIdPattern, ['set', ...SEARCH_PARAMETERS])
  const digest = (await sha256Hex(JSON.stringify([match, filters, searchParams.get('set')]))).slice(0, DIGEST_LENGTH)
  const facets = readFacets(searchParams)
  if (!isRanked) return { digest, query: { after, limit, filters, facets } }
  const order = after === '' ? {} : { order: decodeCursor(after, digest) }
  return { digest, query: { after: '', limit, match, filters, facets, ...order } }
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
    return { name, values: alternatives(name, term) }
  })
}

/** An agent may declare a range of media types. */
const alternatives = (name: FilterName, term: string): string[] =>
  name === 'inputMode' || name === 'outputMode' ? [...new Set([term, `${term.split('/', 1)[0]}/*`, '*/*'])] : [term]

const readFacets = (query: URLSearchParams): FilterName[] => {
  if (!query.has('facets')) return []
  const names = query.getAll('facets').flatMap(text => text.split(','))
  const unknown = names.filter(name => !isFilterName(name))
  if (unknown.length > 0)
    throw badQuery(`Unknown facet "${unknown[0]?.slice(0, 40)}". facets accepts ${filterNames.join(', ')}.`)
  return [...new Set(names.filter(isFilterName))]
}

const isFilterName = (name: string): name is FilterName => filterNames.some(known => known === name)

const badQuery = (detail: string): HttpError => new HttpError(400, 'bad-query', detail)

/** How much of the SHA-256 of a search its cursors begin with. */
export const DIGEST_LENGTH = 12

/** The form of a cursor: a digest of the search, and the numbers of the agents to come, each as its difference from the one before. */
export const rankingCursor = /^[0-9a-f]{12}(?:\.-?[0-9a-z]{1,11})+$/

/** Returns the cursor of the next page: the rest of the ranking itself, so that no write repeats or skips an agent. */
export const encodeCursor = (digest: string, rest: readonly number[]): string =>
  [digest, ...rest.map((number, index) => (number - (rest[index - 1] ?? 0)).toString(36))].join('.')

/** Returns the rest of the ranking. Throws for the cursor of another search. */
export const decodeCursor = (cursor: string, digest: string): number[] => {
  const [ownDigest, ...differences] = cursor.split('.')
  if (ownDigest !== digest) throw badCursor('cursor belongs to another search.')
  if (differences.length > MAX_SEARCH_HITS) throw badCursor('cursor must be the cursor of the previous page.')
  let number = 0
  return differences.map(text => {
    number += Number.parseInt(text, 36)
    return number
  })
}

const badCursor = (detail: string): HttpError => new HttpError(400, 'bad-cursor', detail)

import { agentIdPattern } from '../../card/model/index.ts'
import { problem, sha256Hex } from '../../http/index.ts'
import { MAX_FILTERS, MAX_PAGE_SIZE, MAX_QUERY_LENGTH, MAX_QUERY_WORDS, MAX_SEARCH_HITS } from '../../limits.ts'
import { type FilterName, splitWords, toMatchExpressions, toTerm } from '../../registry/index.ts'
import type { Filter, RankedAgent, SearchQuery } from '../../registry/tables/index.ts'
import { choice, numberPattern, pageQuery, type QueryValues, text, texts } from '../contract/index.ts'

/** The form of a cursor: a digest of the search, and the number (as a difference) and score of each agent to come. */
export const rankingCursor = /^[0-9a-f]{12}(?:\.-?[0-9a-z]{1,11}_[0-9a-z]{1,4})+$/

const textSchema = { minLength: 1, maxLength: MAX_QUERY_LENGTH }

const words = (description: string) => ({
  ...text(`${description} At most ${MAX_QUERY_WORDS} words, with those of the other.`, {
    schema: textSchema,
    expected: `a text of at most ${MAX_QUERY_LENGTH} characters with a letter or digit`,
  }),
  parse: (values: string[]) => {
    const value = values.join(' ')
    const words = splitWords(value)
    return value.length <= MAX_QUERY_LENGTH && words.length > 0 ? words : undefined
  },
  fallback: [],
})

const filter = (name: FilterName, description: string) => ({
  ...texts(description, {
    ...{ items: textSchema, max: MAX_FILTERS, expected: `a text of 1 to ${MAX_QUERY_LENGTH} characters` },
  }),
  parse: (values: string[]) => {
    const terms = values.map(value => (value.length <= MAX_QUERY_LENGTH ? toTerm(name, value) : ''))
    return terms.includes('') ? undefined : terms.map(term => toFilter(name, term))
  },
  fallback: [],
})

/** Matches ranges of media types of both sides: an agent with a range has all its types, a search for one wants any. */
const toFilter = (name: FilterName, term: string): Filter => {
  if (name !== 'inputMode' && name !== 'outputMode') return { name, values: [term] }
  const values = [...new Set([term, `${term.split('/', 1)[0]}/*`, '*/*'])]
  if (term === '*/*') return { name, values, prefix: '' }
  return { name, values, ...(term.endsWith('/*') && { prefix: term.slice(0, -1) }) }
}

const filters = {
  tag: filter('tag', 'A tag of a skill.'),
  skill: filter('skill', 'The id or name of a skill.'),
  capability: filter('capability', 'A capability, such as `streaming`, or the URI of an extension.'),
  inputMode: filter('inputMode', 'An accepted media type, or a range such as `image/*`.'),
  outputMode: filter('outputMode', 'A produced media type, or a range such as `image/*`.'),
  provider: filter('provider', 'The organization of the provider.'),
  protocolVersion: filter('protocolVersion', 'A version of A2A, such as `1.0`.'),
} as const satisfies Record<FilterName, unknown>

const filterNames = Object.keys(filters) as FilterName[]

const facets = {
  ...text('Filters whose most frequent values are counted, separated by commas.'),
  parse: (values: string[]) => {
    const names = new Set<string>(values.flatMap(value => value.split(',')))
    const known = filterNames.filter(name => names.has(name))
    return known.length === names.size ? known : undefined
  },
  fallback: [],
  expected: `some of ${filterNames.join(', ')}`,
}

/** The query of `GET /agents`. A list of one kind does not take the cursor of another. */
export const listQuery = {
  ...pageQuery(new RegExp(`${agentIdPattern.source}|${rankingCursor.source}`)),
  q: words('Words in name, description, skills or provider.'),
  name: words('Words in the name.'),
  ...filters,
  facets,
  set: text('The agents of this set that the token may read or write. Needs a token.', {
    ...{ pattern: agentIdPattern, problem: 'bad-set', expected: '1 to 63 lowercase letters, digits and hyphens' },
    needs: 'token',
  }),
  writable: choice(
    'With `true`, the agents that the token may write, and no others. Needs a token with `write`.',
    ['true'],
    { needs: 'write' },
  ),
  id: texts('The registered ones of these agents. Needs a token with `write` for all of them. Stands alone.', {
    ...{ max: MAX_PAGE_SIZE, expected: `at most ${MAX_PAGE_SIZE} ids`, needs: 'write' },
  }),
} as const

/** The values of that query. */
export type ListValues = QueryValues<typeof listQuery>

/** A search as its client sent it, and a digest of what is searched for, by which its cursors are recognized. */
export type Search = { query: Omit<SearchQuery, 'covered'>; digest: string }

/** Returns the search that a list is; undefined for the plain list, whose query has nothing to search for. */
export const toSearch = async (values: ListValues): Promise<Search | undefined> => {
  const { q, name, facets, limit, cursor, set, writable } = values
  const filters = filterNames.flatMap(filter => values[filter])
  const isRanked = q.length + name.length > 0
  const isSearch = isRanked || filters.length > 0 || facets.length > 0
  // Without a ranking: the number of the last agent that the page examined.
  const form = isRanked ? rankingCursor : isSearch ? numberPattern : agentIdPattern
  if (cursor !== '' && !form.test(cursor)) throw otherCursor()
  if (!isSearch) return undefined
  if (q.length + name.length > MAX_QUERY_WORDS)
    throw problem('bad-query', `q and name must have at most ${MAX_QUERY_WORDS} words.`)
  if (filters.length > MAX_FILTERS) throw problem('bad-query', `A search has at most ${MAX_FILTERS} filters.`)
  const digest = await digestSearch([q, name, filters, set, writable])
  const query = { limit, filters, facets }
  if (!isRanked) return { digest, query: { ...query, after: Number(cursor) } }
  const order = cursor === '' ? {} : { order: decodeCursor(cursor, digest) }
  return { digest, query: { ...query, after: 0, matches: toMatchExpressions(q, name), ...order } }
}

const otherCursor = () => problem('bad-cursor', 'cursor belongs to another list or search.')

/** Returns the digest of what is searched for, with which its cursors begin. */
export const digestSearch = async (searched: readonly unknown[]): Promise<string> =>
  (await sha256Hex(JSON.stringify(searched))).slice(0, 12)

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
  if (ownDigest !== digest || entries.length > MAX_SEARCH_HITS) throw otherCursor()
  let number = 0
  return entries.map(entry => {
    const [difference = '', score = ''] = entry.split('_')
    number += Number.parseInt(difference, 36)
    return { number, score: Number.parseInt(score, 36) / 1000 }
  })
}

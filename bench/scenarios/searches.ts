import { facetNames } from '../../src/pages/catalog/facets.ts'
import { splitWords, toMatchExpressions } from '../../src/registry/search-terms.ts'
import type { SearchQuery } from '../../src/registry/tables/search-index.ts'
import { wordOf } from '../registry-agents.ts'

const filter = (name: 'tag' | 'capability' | 'inputMode' | 'provider', value: string) => ({ name, values: [value] })

const query = (q: string, more: Partial<SearchQuery> = {}): SearchQuery => ({
  ...{ after: 0, limit: 20, covered: [], filters: [], facets: [] },
  ...(q !== '' && { matches: toMatchExpressions(splitWords(q)) }),
  ...more,
})

/** Searches as clients send them, from rare words to those that every agent has. */
export const SEARCHES: Record<string, SearchQuery> = {
  'a rare word': query(wordOf(8_000)),
  'a less frequent word': query(wordOf(500)),
  'a frequent word': query(wordOf(40)),
  'two words': query(`${wordOf(60)} ${wordOf(300)}`),
  'a frequent and a rare word': query(`agent ${wordOf(3_000)}`),
  'a name': query('', { matches: toMatchExpressions([], [wordOf(90)]) }),
  'the beginning of a word': query(wordOf(700).slice(0, 5)),
  'the beginning of many words': query('tri'),
  'a tag': query('', { filters: [filter('tag', wordOf(50))] }),
  'a word and a tag': query(wordOf(20), { filters: [filter('tag', wordOf(100))] }),
  'three filters': query('', {
    filters: [filter('capability', 'streaming'), filter('inputMode', 'image/png'), filter('tag', wordOf(5))],
  }),
  'a frequent word with facets': query(wordOf(40), { facets: ['tag', 'capability'] }),
  'the first page of the catalog in a browser': query('', { limit: 24, facets: [...facetNames] }),
  'a word that every agent has': query('agent'),
  'the beginning of a word that every agent has': query('agen'),
  'a word that every agent has, with facets': query('agent', { facets: ['tag', 'capability'] }),
}

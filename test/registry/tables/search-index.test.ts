import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_SEARCH_CANDIDATES, MAX_SEARCH_HITS } from '../../../src/limits.ts'
import type { SearchFields } from '../../../src/registry/search-fields.ts'
import {
  noSearchFields,
  splitWords,
  toAnyWordExpressions,
  toMatchExpressions,
} from '../../../src/registry/search-terms.ts'
import { register, remove } from '../../../src/registry/store/registrations.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { saveSigning } from '../../../src/registry/tables/document-table.ts'
import { indexAgent, type SearchQuery, search } from '../../../src/registry/tables/search-index.ts'
import { registration } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
})

type More = Partial<SearchFields> & { description?: string; visibility?: 'public' | 'internal'; set?: string }
let written = 0
const put = (id: string, name: string, { description = '', visibility = 'public', set, ...fields }: More = {}) => {
  written += 1
  const { summary, ...rest } = registration(id, name)
  const result = register(
    sql,
    {
      ...{ ...rest, visibility, set, manifestEtag: `"${written}"`, summary: { ...summary, description } },
      search: { ...noSearchFields, ...fields },
    },
    true,
  )
  if ('error' in result) throw new Error(JSON.stringify(result.error))
}

const toQuery = (q: string | undefined, query: Partial<SearchQuery> = {}): SearchQuery => ({
  ...{ after: 0, limit: 100, covered: [], filters: [], facets: [] },
  ...(q !== undefined && { matches: toMatchExpressions(splitWords(q)) }),
  ...query,
})
const find = (q: string | undefined, query: Partial<SearchQuery> = {}) => search(sql, toQuery(q, query))
const ids = (q: string | undefined, query: Partial<SearchQuery> = {}) => find(q, query).agents.map(({ id }) => id)

it('the index follows a registration, a change and a removal', () => {
  const texts = { text: 'Says whether it rains', provider: 'Example' }
  put('a', 'Weather', { tags: ['rain'], skillNames: ['Forecast'], ...texts })
  for (const q of ['weather', 'rain', 'forecast', 'whether', 'example']) expect(ids(q)).toEqual(['a'])
  put('a', 'Traffic', { tags: ['road'] })
  expect([ids('weather'), ids('rain'), ids('traffic'), ids('road')]).toEqual([[], [], ['a'], ['a']])
  expect(ids(undefined, { filters: [{ name: 'tag', values: ['rain'] }] })).toEqual([])
  remove(sql, 'a', {}, 'admin')
  expect(ids('traffic')).toEqual([])
  for (const table of ['search_documents', 'search', 'internal_search'])
    expect(sql.exec(`SELECT COUNT(*) AS count FROM ${table}`).one()).toEqual({ count: 0 })
})

describe('a search', () => {
  it('finds agents that have all words, and words that begin with them, in any field', () => {
    put('a', 'Weather', { description: 'Forecasts for cities' })
    put('b', 'Traffic', { description: 'Forecast of traffic', tags: ['city'] })
    for (const q of ['forecast', 'FORECAST cit']) expect(ids(q).sort()).toEqual(['a', 'b'])
    expect([ids('forecast cities'), ids('recast')]).toEqual([['a'], []])
    // Only its last four words are taken for beginnings.
    put('a', 'Weather', { description: 'Forecasts for large cities of Europe' })
    expect([ids('weather fore larg citi euro'), ids('weat forecasts for larg citi euro')]).toEqual([['a'], []])
  })

  it('ranks a word in the name first, and the beginning of a longer word last', () => {
    put('description', 'One', { description: 'Weather for all' })
    put('name', 'Weather')
    put('tag', 'Three', { tags: ['weather'] })
    put('longer', 'Weathering')
    expect(ids('weather')).toEqual(['name', 'tag', 'description', 'longer'])
    const scores = find('weather').agents.map(({ score = 0 }) => score)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    expect(scores.every(score => score > 0)).toBe(true)
  })

  it('for any of its words ranks an agent with all of them first', () => {
    for (const id of ['a', 'b', 'c', 'd']) put(id, 'Traffic')
    put('name', 'Weather')
    put('all', 'One', { description: 'Weather and traffic' })
    const matches = toAnyWordExpressions(['weather', 'traffic'])
    expect(ids(undefined, { matches }).slice(0, 2)).toEqual(['all', 'name'])
  })

  it('reads operators as plain words', () => {
    put('a', 'Weather', { description: 'A tool with a name' })
    put('b', 'Traffic')
    for (const q of ['"weather', 'weather"', 'weather*', '^weather', '{name} : weather', '-weather', '(weather'])
      expect([q, ...ids(q)]).toEqual([q, 'a'])
    const others = ['name:traffic', 'weather OR traffic', 'weather NOT tool', 'NEAR(weather tool)']
    for (const q of [...others, "weather'; DROP TABLE search; --"]) expect([q, ...ids(q)]).toEqual([q])
  })

  it('combines filters, each of which matches one of the values of an agent', () => {
    const more = { capabilities: ['streaming'], inputModes: ['Image/PNG; q=1'], protocolVersions: ['0.3.0'] }
    const skill = { skillIds: ['now'], skillNames: ['Right now'] }
    put('a', 'Weather', { ...more, ...skill, tags: ['Rain', 'sun'], provider: 'Example' })
    put('b', 'Weather', { ...more, tags: ['rain'] })
    const by = (...filters: [SearchQuery['filters'][number]['name'], string][]) =>
      ids(undefined, { filters: filters.map(([name, value]) => ({ name, values: [value] })) })
    expect(by(['tag', 'rain'])).toEqual(['a', 'b'])
    expect(by(['tag', 'rain'], ['tag', 'sun'])).toEqual(['a'])
    expect(by(['skill', 'now'])).toEqual(['a'])
    expect(by(['skill', 'right now'])).toEqual(['a'])
    expect(by(['provider', 'example'])).toEqual(['a'])
    expect(by(['capability', 'streaming'], ['inputMode', 'image/png'], ['protocolVersion', '0.3'])).toEqual(['a', 'b'])
    expect(by(['outputMode', 'image/png'])).toEqual([])
    const range: SearchQuery['filters'][number] = { name: 'inputMode', values: ['image/*'], prefix: 'image/' }
    expect(ids(undefined, { filters: [range] })).toEqual(['a', 'b'])
    expect(ids(undefined, { filters: [{ ...range, prefix: 'imag/' }] })).toEqual([])
    expect(ids('weather', { filters: [{ name: 'tag', values: ['sun', 'snow'] }] })).toEqual(['a'])
    expect(ids('traffic', { filters: [{ name: 'tag', values: ['sun'] }] })).toEqual([])
  })

  it('scores public agents without regard to the words of internal ones', () => {
    put('a', 'Weather', { description: 'Alerts' })
    put('b', 'Alerts', { description: 'Weather and more words' })
    put('c', 'Traffic')
    const before = find('weather alerts')
    expect(before.agents.map(({ score = 0 }) => score).filter(score => score % 1 !== 0)).toHaveLength(1)
    for (let index = 0; index < 20; index++) put(`secret-${index}`, 'Alerts', { visibility: 'internal' })
    expect(find('weather alerts')).toEqual(before)
  })

  it('finds an agent that becomes internal, or public, for those who may see it', () => {
    put('a', 'Weather')
    put('b', 'Weather', { visibility: 'internal' })
    put('a', 'Weather', { visibility: 'internal' })
    put('b', 'Weather')
    expect([ids('weather'), ids(undefined)]).toEqual([['b'], ['b']])
    expect([ids('weather', { covered: ['*'] }), ids(undefined, { covered: ['*'] })]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
  })

  it('finds public agents that have a card, and the internal ones that are covered', () => {
    put('a', 'Weather')
    put('b', 'Weather', { visibility: 'internal', set: 'team' })
    put('c', 'Weather', { visibility: 'internal', set: 'team' })
    register(sql, registration('d', undefined, { summary: { ...registration('d', 'Weather').summary } }), true)
    const found = [[], ['b'], ['*']].map(covered => ids('weather', { covered }).toSorted().join())
    expect(found).toEqual(['a', 'a,b', 'a,b,c,d'])
    expect(ids('weather', { covered: ['*'], set: 'team' })).toEqual(['b', 'c'])
    expect(ids('weather', { covered: ['a'], set: 'team' })).toEqual([])
  })

  it('counts the values of all matching agents that the caller may see, the most frequent first', () => {
    put('a', 'Weather', { tags: ['Rain', 'sun'], capabilities: ['streaming'] })
    put('b', 'Weather', { tags: ['rain'] })
    put('c', 'Weather', { tags: ['rain', 'sun'], visibility: 'internal' })
    put('d', 'Traffic', { tags: ['road'] })
    const facets = (query: Partial<SearchQuery>) =>
      find('weather', { facets: ['tag', 'capability'], limit: 1, ...query }).facets
    const tags = [
      { value: 'rain', count: 2 },
      { value: 'sun', count: 1 },
    ]
    expect(facets({})).toEqual({ tag: tags, capability: [{ value: 'streaming', count: 1 }] })
    expect(facets({ covered: ['c'] })?.tag?.map(({ count }) => count)).toEqual([3, 2])
    expect(find(undefined, { facets: ['tag'] }).facets?.tag?.map(({ value }) => value)).toEqual(['rain', 'road', 'sun'])
  })
})

it('`signed` is true for signatures of the author or of this host, whose keys change without a registration', () => {
  const signed = () => find(undefined).agents.flatMap(({ id, signed }) => (signed ? [id] : []))
  put('a', 'By its author', { signed: true })
  put('b', 'By the host')
  saveSigning(sql, 'b', { signers: '', signatures: {} })
  expect(signed()).toEqual(['a'])
  saveSigning(sql, 'b', { signers: 'k1', signatures: { digest: 'signature' } })
  expect(signed()).toEqual(['a', 'b'])
})

describe('a search for what most agents have', () => {
  const COUNT = MAX_SEARCH_CANDIDATES + 100
  let all: SqlStorage
  beforeAll(() => {
    all = openSql()
    createTables(all)
    // The agents themselves are not stored here, only indexed.
    for (let index = 1; index <= COUNT; index++) {
      const { summary, ...rest } = registration(`agent-${index}`, index === COUNT ? 'Weather' : 'Another')
      const search = { ...noSearchFields, tags: ['common', ...(index > COUNT - 3 ? ['last'] : [])] }
      indexAgent(all, { ...rest, listed: true, summary: { ...summary, description: 'Weather for all' }, search })
    }
  })

  /** Runs a search, and counts the rows that it reads. */
  const count = (q: string | undefined, query: Partial<SearchQuery>) => {
    let read = 0
    const exec = (sql: string, ...values: unknown[]) => {
      const cursor = all.exec(sql, ...values)
      read += cursor.toArray().length
      return cursor
    }
    return { ...search({ exec } as SqlStorage, toQuery(q, query)), read }
  }

  it('finds words in the name first, wherever that agent is in the index', () => {
    const { rest, read } = count('weather', { limit: 0 })
    expect([rest.length, rest[0], rest[1]?.score]).toEqual([MAX_SEARCH_HITS, { number: COUNT, score: 4 }, 3])
    expect(read).toBe(1 + MAX_SEARCH_HITS)
  })

  it('finds what few of them have, wherever they are in the index', () => {
    const filters = [{ name: 'tag' as const, values: ['last'] }]
    const numbers = count('weather', { limit: 0, filters }).rest.map(({ number }) => COUNT - number)
    expect(numbers).toEqual([0, 2, 1])
    const { facets, read } = count(undefined, { limit: 0, filters, facets: ['tag'] })
    expect(facets?.tag?.map(({ value, count }) => `${value} ${count}`)).toEqual(['common 3', 'last 3'])
    expect(read).toBe(6)
  })

  it('examines no more than its candidates where the caller may see few of them', () => {
    for (const index of [1, 2, 3])
      indexAgent(all, { ...registration(`team-${index}`, 'Team'), listed: true, set: 'team' })
    const covered = ['agent-3']
    // Three for each of the four forms in which a word can match.
    expect(count('team', { covered, set: 'team', limit: 0 })).toMatchObject({ rest: [], read: 4 * 3 })
    expect(count('weather', { covered, limit: 0 }).read).toBe(1 + MAX_SEARCH_CANDIDATES)
  })

  it('counts facets of its candidates, and reports that more agents match', () => {
    const { facets, isApproximate, read } = count('weather', { limit: 0, facets: ['tag'] })
    expect([facets?.tag, isApproximate]).toEqual([[{ value: 'common', count: MAX_SEARCH_CANDIDATES }], true])
    expect(read).toBe(1 + MAX_SEARCH_HITS + MAX_SEARCH_CANDIDATES + 1)
    const filters = [{ name: 'tag' as const, values: ['last'] }]
    expect(count('another', { limit: 0, facets: ['tag'], filters })).not.toHaveProperty('isApproximate')
  })
})

describe('the pages of a search', () => {
  const readAll = (q: string | undefined, between: () => void) => {
    const found: string[] = []
    let page = find(q, { limit: 2 })
    for (;;) {
      found.push(...page.agents.map(({ id }) => id))
      if (page.isLast) return found
      between()
      page = find(q, { limit: 2, after: page.after, ...(q !== undefined && { order: page.rest }) })
    }
  }
  const insert = () => {
    written += 1
    put(`0-${written}`, 'Weather weather', { description: 'weather'.repeat(written % 3) })
    put(`new-${written}`, 'Storm and weather report')
  }
  const putFive = () => {
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      put(id, 'Weather', { description: `weather ${id} `.repeat(id.charCodeAt(0) % 4) })
  }

  it('neither repeat nor skip an agent when others are inserted between them', () => {
    putFive()
    const order = ids('weather')
    expect(readAll('weather', insert)).toEqual(order)
    expect(order.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('neither repeat nor skip an agent in the order of registration', () => {
    putFive()
    let inserted = 0
    const insert = () => void (inserted++ < 3 && put(`aa-${written}`, 'Weather'))
    expect(readAll(undefined, insert).filter(id => id.length === 1)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('leave out agents that were removed, or no longer match or may no longer be seen', () => {
    putFive()
    const { rest } = find('weather', { limit: 1 })
    const [second = '', third = '', fourth = ''] = ids('weather').slice(1)
    remove(sql, second, {}, 'admin')
    put(third, 'Traffic')
    put(fourth, 'Weather', { visibility: 'internal' })
    expect(ids('weather', { order: rest })).toEqual(ids('weather').slice(1))
  })

  it('show nothing of an internal agent whose number is forged', () => {
    put('a', 'Weather', { visibility: 'internal' })
    put('b', 'Weather')
    expect(ids('weather', { order: [1, 2, 3, -5, 2 ** 60].map(number => ({ number, score: 1 })) })).toEqual(['b'])
  })
})

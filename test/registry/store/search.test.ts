import { beforeEach, describe, expect, it } from 'vitest'
import type { SearchFields, SearchQuery } from '../../../src/registry/records.ts'
import { noSearchFields } from '../../../src/registry/search-fields.ts'
import { splitWords, toMatchExpression } from '../../../src/registry/search-words.ts'
import { register, remove } from '../../../src/registry/store/register.ts'
import { search } from '../../../src/registry/store/search.ts'
import { createTables } from '../../../src/registry/store/tables.ts'
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
      ...{ ...rest, visibility, set, manifestEtag: `"${written}"` },
      summary: { ...summary, description },
      search: { ...noSearchFields, ...fields },
    },
    true,
  )
  if ('error' in result) throw new Error(JSON.stringify(result.error))
}

const find = (q: string | undefined, query: Partial<SearchQuery> = {}) =>
  search(sql, {
    ...{ after: '', limit: 100, covered: [], filters: [], facets: [] },
    ...(q !== undefined && { match: toMatchExpression(splitWords(q)) }),
    ...query,
  })
const ids = (q: string | undefined, query: Partial<SearchQuery> = {}) => find(q, query).agents.map(({ id }) => id)

describe('the index', () => {
  it('follows a registration, a change and a removal', () => {
    put('a', 'Weather', {
      tags: ['rain'],
      skillNames: ['Forecast'],
      text: 'Says whether it rains',
      provider: 'Example',
    })
    for (const q of ['weather', 'rain', 'forecast', 'whether', 'example']) expect(ids(q)).toEqual(['a'])
    put('a', 'Traffic', { tags: ['road'] })
    expect([ids('weather'), ids('rain'), ids('traffic'), ids('road')]).toEqual([[], [], ['a'], ['a']])
    expect(ids(undefined, { filters: [{ name: 'tag', values: ['rain'] }] })).toEqual([])
    remove(sql, 'a', {}, 'admin')
    expect(ids('traffic')).toEqual([])
    for (const table of ['search_documents', 'search_terms', 'search'])
      expect(sql.exec(`SELECT COUNT(*) AS count FROM ${table}`).one()).toEqual({ count: 0 })
  })

  it('has no agent twice that is registered again after its removal', () => {
    put('a', 'Weather')
    remove(sql, 'a', {}, 'admin')
    put('a', 'Weather')
    expect(ids('weather')).toEqual(['a'])
  })
})

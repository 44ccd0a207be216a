import { beforeEach, describe, expect, it } from 'vitest'
import { remove } from '../../../src/registry/store/registrations.ts'
import {
  type CatalogQuery,
  type ListQuery,
  selectAgents,
  selectAgentsByName,
  selectCatalog,
} from '../../../src/registry/tables/agent-table.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { appendRevision } from '../../../src/registry/tables/revision-table.ts'
import { registration } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
  put('a-1', { set: 'a' })
  put('a-2', { set: 'a', visibility: 'internal' })
  put('b-1', { set: 'b', visibility: 'internal' })
  put('b-2', { set: 'a' })
  put('c-1')
})

const put = (id: string, more: Parameters<typeof registration>[2] = {}) =>
  appendRevision(sql, registration(id, id.toUpperCase(), more), 0)
const list = (query: Partial<ListQuery>) =>
  selectAgents(sql, { after: '', limit: 100, covered: [], ...query }).map(({ id }) => id)

describe('a list of agents', () => {
  it('has the public ones, and the internal ones that are covered', () => {
    expect(list({})).toEqual(['a-1', 'b-2', 'c-1'])
    expect(list({ covered: ['b-*'] })).toEqual(['a-1', 'b-1', 'b-2', 'c-1'])
    expect(list({ covered: ['*'] })).toEqual(['a-1', 'a-2', 'b-1', 'b-2', 'c-1'])
  })

  it('has full pages, whose last agent is one that the caller may see', () => {
    expect(list({ covered: ['b-*'], limit: 2 })).toEqual(['a-1', 'b-1'])
    expect(list({ covered: ['b-*'], limit: 2, after: 'b-1' })).toEqual(['b-2', 'c-1'])
    // A public agent without a card is there only if it is covered.
    appendRevision(sql, registration('d-1', undefined), 0)
    expect([list({ after: 'c-1' }), list({ after: 'c-1', covered: ['d-1'] })]).toEqual([[], ['d-1']])
  })
})

describe('a list of named agents', () => {
  it('has those that exist, in the order of their ids', () => {
    expect(list({ ids: ['b-1', 'none', 'a-1'], covered: ['*'] })).toEqual(['a-1', 'b-1'])
    expect(list({ ids: ['b-1', 'a-1'], covered: ['*'], after: 'a-1' })).toEqual(['b-1'])
    expect(list({ ids: [], covered: ['*'] })).toEqual([])
  })

  it('has the entity tags of the manifests that the caller may write, and of no others', () => {
    put('a-1', { manifestEtag: '"2"' })
    const agents = selectAgents(sql, {
      ...{ after: '', limit: 9, ids: ['a-1', 'a-2'] },
      covered: ['*'],
      writable: ['a-1'],
    })
    expect(agents.map(({ manifestEtag }) => manifestEtag)).toEqual(['"2"', undefined])
    expect(selectAgents(sql, { after: '', limit: 1, covered: ['*'] })[0]).not.toHaveProperty('manifestEtag')
  })
})

describe('a list of a set', () => {
  it('has the agents of the set that are covered, public and internal ones, and no others', () => {
    expect(list({ set: 'a', covered: ['*'] })).toEqual(['a-1', 'a-2', 'b-2'])
    expect(list({ set: 'a', covered: ['b-*', 'c-1'] })).toEqual(['b-2'])
    expect(list({ set: 'b', covered: ['a-*'] })).toEqual([])
    expect(list({ set: 'a' })).toEqual([])
    expect(list({ set: 'c', covered: ['*'] })).toEqual([])
  })

  it('follows an agent that moves to another set, leaves all, or is removed', () => {
    put('a-1', { set: 'b', manifestEtag: '"2"' })
    put('b-2', { manifestEtag: '"2"' })
    expect([list({ set: 'a', covered: ['*'] }), list({ set: 'b', covered: ['*'] })]).toEqual([['a-2'], ['a-1', 'b-1']])
    remove(sql, 'a-2', {}, 'admin')
    expect(list({ set: 'a', covered: ['*'] })).toEqual([])
  })
})

it('selectAgentsByName returns null for the public agent where there is none', () => {
  expect(['b-1', 'none'].map(name => selectAgentsByName(sql, name))).toStrictEqual([
    { public: null, internal: ['b-1'] },
    { public: null, internal: [] },
  ])
})

it('has the indexes by which a set, the failing sources and the keys that are due are found', () => {
  for (const [query, index] of Object.entries({
    "SELECT id FROM agents WHERE set_name = 'a' AND id > 'b' ORDER BY id": 'agents_by_set (set_name=',
    'SELECT id FROM sources WHERE failure IS NOT NULL': 'failing_sources',
    'SELECT key FROM outbox WHERE due <= 1 ORDER BY due': 'outbox_by_due (due<',
  }))
    expect(JSON.stringify(sql.exec(`EXPLAIN QUERY PLAN ${query}`).toArray())).toContain(index)
})

describe('a catalog', () => {
  const catalog = (query: Partial<CatalogQuery>) => {
    const page = selectCatalog(sql, { after: '', limit: 100, origin: 'https://host.example', ...query })
    return [page.agents.map(({ id }) => id), page.isKnownOrigin]
  }

  it('has the public agents that have a card, in pages', () => {
    appendRevision(sql, registration('d-1', undefined), 0)
    expect(catalog({})).toEqual([['a-1', 'b-2', 'c-1'], true])
    expect(catalog({ limit: 1, after: 'a-1' })).toEqual([['b-2'], true])
  })

  it('of a host name has the agent that claims it, and those whose URLs begin with it', () => {
    put('d-1', { origin: 'https://one.example' })
    put('d-2', { origin: 'https://one.example', visibility: 'internal' })
    expect(catalog({ origin: 'https://one.example', owner: 'a-1' })).toEqual([['a-1', 'd-1'], true])
    expect(catalog({ origin: 'https://two.example', owner: 'a-1' })).toEqual([['a-1'], false])
    expect(catalog({ origin: 'https://two.example', owner: 'a-2' })).toEqual([[], false])
  })

  it('does not reveal the origin of internal agents', () => {
    put('d-1', { origin: 'https://one.example', visibility: 'internal' })
    expect(catalog({ origin: 'https://one.example' })).toEqual([['a-1', 'b-2', 'c-1'], false])
  })
})

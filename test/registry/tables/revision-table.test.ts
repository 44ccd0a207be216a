import { beforeEach, describe, expect, it } from 'vitest'
import type { Drift } from '../../../src/card/diff/drift.ts'
import type { SourceRecord } from '../../../src/registry/source-record.ts'
import { register, remove } from '../../../src/registry/store/registrations.ts'
import { selectAgent, selectManifest } from '../../../src/registry/tables/agent-table.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import {
  appendRevision,
  appendTombstone,
  selectLatestRevision,
  selectRevision,
  selectRevisions,
} from '../../../src/registry/tables/revision-table.ts'
import { serializeDrift } from '../../../src/registry/tables/source-table.ts'
import { cardNamed, fetched, registration } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

const putAgent = (text: string, source?: SourceRecord) =>
  register(sql, registration('a', text, source ? { source } : { manifestEtag: `"${text}"` }), true)
const drift: Drift = [{ op: 'replace', pointer: '/name', before: 'One', after: 'Two' }]
const readRevisions = (before = Number.MAX_SAFE_INTEGER, limit = 100) => selectRevisions(sql, 'a', before, limit)

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
})

describe('selectRevisions', () => {
  it('returns the newest first, with the origin of each and the changes of a fetched card', () => {
    putAgent('One', fetched('One'))
    putAgent('Two', fetched('Two', { by: 'fetch', drift }))
    putAgent('Own')
    remove(sql, 'a', {}, 'admin')
    const created = expect.any(Number)
    expect(readRevisions()).toEqual([
      { seq: 4, created, by: 'removal', author: 'admin' },
      { seq: 3, created, by: 'manifest', author: 'admin' },
      { seq: 2, created, by: 'fetch', author: 'admin', drift },
      { seq: 1, created, by: 'manifest', author: 'admin' },
    ])
  })

  it('returns the newest 200, whatever made them', () => {
    putAgent('Own')
    for (let count = 0; count < 150; count++) putAgent(`${count}`, fetched(`${count}`, { by: 'fetch' }))
    for (let count = 0; count < 60; count++) putAgent(`Own ${count}`)
    expect(sql.exec('SELECT MIN(seq) AS first, MAX(seq) AS last, COUNT(*) AS count FROM revisions').one()).toEqual({
      ...{ first: 12, last: 211, count: 200 },
    })
    expect(readRevisions(13).map(({ seq }) => seq)).toEqual([12])
    expect(readRevisions(16, 2).map(({ seq }) => seq)).toEqual([15, 14])
    expect(selectManifest(sql, 'a')).toMatchObject({ etag: '"Own 59"' })
    remove(sql, 'a', {}, 'admin')
    putAgent('Again')
    expect(readRevisions(15, 100).map(({ seq }) => seq)).toEqual([14])
  })
})

it('serializeDrift keeps a small drift whole, and omits values or the last changes of a large one', () => {
  const large = (count: number, pointer: string): Drift =>
    Array.from({ length: count }, () => ({ op: 'replace' as const, pointer, before: 'x'.repeat(4000), after: 1 }))
  const store = (drift: Drift) => {
    const text = serializeDrift(drift)
    expect(text.length).toBeLessThanOrEqual(64 * 1024)
    return JSON.parse(text) as Drift
  }
  expect(store(drift)).toEqual(drift)
  const omitted = { op: 'replace', pointer: '/a', omitted: ['before', 'after'] }
  expect(store(large(50, '/a'))).toEqual(Array(50).fill(omitted))
  // A little more than 64 Ki characters.
  expect(store(large(16, `/${'a'.repeat(50)}`))).toHaveLength(16)
  const cut = store([...large(50, `/${'b'.repeat(4000)}`), { op: 'more', pointer: '', count: 7 }])
  expect([cut.length, cut.at(-1)]).toEqual([17, { op: 'more', pointer: '', count: 41 }])
})

describe('selectRevision', () => {
  it('returns what was registered and served, of a removed agent too', () => {
    const card = '{"name":"One"}'
    const cardOf = (tier: string) => ({ tier, card: `{"name":"${tier}"}` })
    const cards = ['', 'partner', 'base'].map(tier => cardNamed(tier || 'One', tier))
    const more = { manifest: '{"a":1}', cards, changeClass: 'additive', actor: 'token1' } as const
    register(sql, registration('a', 'One', more), true)
    remove(sql, 'a', {}, 'admin')
    const created = expect.any(Number)
    expect([1, 2, 3].map(seq => structuredClone(selectRevision(sql, 'a', seq)))).toStrictEqual([
      {
        ...{ seq: 1, created, by: 'manifest', author: 'token1', class: 'additive' },
        ...{ origin: 'https://host.example', manifest: '{"a":1}', card },
        tiers: ['base', 'partner'].map(cardOf),
      },
      { seq: 2, created, by: 'removal', author: 'admin', tiers: [] },
      null,
    ])
  })

  it('keeps no card of a revision that is deleted', () => {
    const refreshed = (text: string) =>
      register(sql, registration('a', text, { source: fetched(text, { by: 'fetch' }) }), true)
    for (let index = 0; index < 202; index++) refreshed(`Card ${index}`)
    const rows = sql.exec('SELECT MIN(seq) AS first, COUNT(*) AS count FROM revision_cards').one()
    expect(rows).toEqual({ first: 3, count: 200 })
    expect(selectRevision(sql, 'a', 2)).toBeNull()
  })
})

it('selectLatestRevision returns the newest one, also without a card, and nothing for a removed agent', () => {
  const cards = [registration('a', 'One'), registration('a', undefined)].map(each => {
    register(sql, each, true)
    return selectLatestRevision(sql, 'a')
  })
  remove(sql, 'a', {}, 'admin')
  expect(cards).toMatchObject([{ seq: 1, card: '{"name":"One"}' }, { seq: 2 }])
  expect(cards[1]).not.toHaveProperty('card')
  expect(selectLatestRevision(sql, 'a')).toBeNull()
})

it('a second revision of the same number is refused, and the first one stays', () => {
  putAgent('One')
  const before = sql.exec('SELECT * FROM revisions').toArray()
  const agent = selectAgent(sql, 'a')
  if (!agent) throw new Error('not registered')
  const outdated = { ...agent, published: 0 }
  expect(() => appendRevision(sql, registration('a', 'Two'), 1, outdated)).toThrow('UNIQUE constraint failed')
  expect(() => appendTombstone(sql, outdated, 'admin', 1)).toThrow('UNIQUE constraint failed')
  expect(sql.exec('SELECT * FROM revisions').toArray()).toEqual(before)
})

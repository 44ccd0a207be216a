import { beforeEach, describe, expect, it } from 'vitest'
import type { Registration } from '../../../src/registry/prepare.ts'
import type { WriteResult } from '../../../src/registry/sql.ts'
import { register, remove, type WriteRejection } from '../../../src/registry/store/registrations.ts'
import { selectChanges } from '../../../src/registry/tables/change-table.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { registration } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
})

const put = (text: string, more: Partial<Registration> = {}): WriteResult<unknown, WriteRejection> =>
  register(sql, registration('a', text, { manifestEtag: `"${text}"`, ...more }), true)
const readChanges = () => sql.exec('SELECT number, id, seq, kind, class FROM changes ORDER BY number').toArray()

it('the changes after a number are the newest 10,000: each write deletes the oldest', () => {
  put('One')
  sql.exec(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO changes (number, id, seq, kind, at) SELECT i, 'b', 1, 'changed', 0 FROM n`)
  const range = () => sql.exec('SELECT MIN(number) AS first, COUNT(*) AS count FROM changes').one()
  const before = range()
  put('Two')
  put('Three')
  expect(before).toEqual({ first: 1, count: 10_000 })
  expect(range()).toEqual({ first: 3, count: 10_000 })
  // What the change is for everybody does not depend on those that are deleted.
  expect(selectChanges(sql, 10_000, 2).map(({ publicKind }) => publicKind)).toEqual(['changed', 'changed'])
})

describe('a write', () => {
  it('records the change that it makes, numbered in order, with its class', () => {
    put('One')
    put('Two', { changeClass: 'breaking' })
    remove(sql, 'a', {}, 'admin')
    put('Three')
    expect(readChanges()).toEqual([
      { number: 1, id: 'a', seq: 1, kind: 'registered', class: null },
      { number: 2, id: 'a', seq: 2, kind: 'changed', class: 'breaking' },
      { number: 3, id: 'a', seq: 3, kind: 'removed', class: null },
      { number: 4, id: 'a', seq: 4, kind: 'registered', class: null },
    ])
  })

  it('records what the change is for those who see public agents only', () => {
    put('One', { visibility: 'internal' })
    put('Two')
    put('Three')
    put('Four', { visibility: 'internal' })
    put('Five', { visibility: 'internal' })
    put('Six')
    remove(sql, 'a', {}, 'admin')
    // An agent without a card is in no public list.
    register(sql, registration('b', undefined), true)
    remove(sql, 'b', {}, 'admin')
    expect(selectChanges(sql, 0, 100).map(({ kind, publicKind = 'none' }) => `${kind} ${publicKind}`)).toEqual([
      ...['registered none', 'changed registered', 'changed changed', 'changed removed', 'changed none'],
      ...['changed registered', 'removed removed', 'registered none', 'removed none'],
    ])
  })

  it('has Events learn of the change, unless there is none', () => {
    const staleKeys = [put('One'), put('One'), put('Two'), remove(sql, 'a', {}, 'admin')].map(result =>
      'value' in result ? result.staleKeys.filter(key => key === 'events:') : [],
    )
    expect(staleKeys).toEqual([['events:'], [], ['events:'], ['events:']])
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import type { Registration, WriteRejection, WriteResult } from '../../../src/registry/records.ts'
import { register, remove } from '../../../src/registry/store/register.ts'
import { createTables } from '../../../src/registry/store/tables.ts'
import { registration } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
})

const put = (
  text: string,
  more: Partial<Omit<Registration, 'representations'>> = {},
): WriteResult<unknown, WriteRejection> =>
  register(sql, registration('a', text, { manifestEtag: `"${text}"`, ...more }), true)
const readChanges = () => sql.exec('SELECT number, id, seq, kind, class FROM changes ORDER BY number').toArray()

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

  it('that changes nothing, or is rejected, records no change', () => {
    put('One')
    put('One')
    put('Two', { expected: { ifMatch: ['"other"'] } })
    remove(sql, 'b', {}, 'admin')
    expect(readChanges()).toHaveLength(1)
  })

  it('records its author with the revision, the one that removes the agent included', () => {
    put('One', { actor: 'abcdefghijkl' })
    put('Two', { actor: 'host' })
    remove(sql, 'a', {}, 'admin')
    const authors = sql.exec('SELECT author FROM revisions ORDER BY seq').toArray()
    expect(authors).toEqual([{ author: 'abcdefghijkl' }, { author: 'host' }, { author: 'admin' }])
  })
})

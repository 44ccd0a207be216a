import { beforeEach, describe, expect, it } from 'vitest'
import { selectHealth } from '../../../src/registry/store/store.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { saveSource } from '../../../src/registry/tables/source-table.ts'
import { failure, source } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

const now = Date.now()
const fresh = now - 1000 * source.ttl + 1
const stale = now - 1000 * source.ttl - 1

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
})

const save = (id: string, checked: number | undefined, isFailing: boolean): void => {
  const record = { source, by: 'fetch' as const, ...(checked !== undefined && { checked }) }
  saveSource(sql, id, { ...record, ...(isFailing && { failure: failure() }) })
}

describe('the state of the Registry', () => {
  it('counts the keys that could not be published, but not those that are being published', () => {
    for (const [key, attempts] of Object.entries({ waiting: 0, failed: 1, 'failed-often': 9 }))
      sql.exec('INSERT INTO outbox (key, version, attempts) VALUES (?, 1, ?)', key, attempts)
    expect(selectHealth(sql, now).unpublished).toBe(2)
  })

  it('reports the oldest card that is stale because its upstream fails', () => {
    for (const [id, checked, isFailing, expected] of [
      ['confirmed long ago, without a failure since', stale, false, null],
      ['failing, but not older than its ttl', fresh, true, null],
      ['stale', stale, true, stale],
      ['older', stale - 5000, true, stale - 5000],
      ['older, without a failure', stale - 9000, false, stale - 5000],
    ] as const) {
      save(id, checked, isFailing)
      expect([id, selectHealth(sql, now).oldestStaleCard]).toEqual([id, expected])
    }
  })

  it('reports since when the upstream of a card that was never fetched fails', () => {
    expect(selectHealth(sql, now)).toEqual({ unpublished: 0, oldestStaleCard: null })
    save('a', undefined, true)
    sql.exec('UPDATE sources SET failing_since = 1234')
    expect(selectHealth(sql, now).oldestStaleCard).toBe(1234)
  })
})

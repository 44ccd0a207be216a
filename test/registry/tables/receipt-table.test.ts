import { beforeEach, describe, expect, it } from 'vitest'
import type { StoredReceipt } from '../../../src/card/model/receipt-format.ts'
import { buildEntry } from '../../../src/registry/store/publisher.ts'
import { register, remove } from '../../../src/registry/store/registrations.ts'
import { beginCheck, endCheck } from '../../../src/registry/tables/conformance-tables.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { receiptOf, registration } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
  register(sql, registration('a', 'One'), true)
})

const store = (id: string, stored: StoredReceipt | null) => endCheck(sql, id, stored)
const published = (): [value: unknown, seq: number] => {
  const { value, metadata } = buildEntry(sql, 'receipt:a')
  return [value && JSON.parse(String(value)), metadata.seq]
}

describe('a stored receipt', () => {
  it('replaces the one before, and is published under the time of its check', () => {
    const checked = '2026-11-25T12:00:00.000Z'
    expect(store('a', receiptOf('a'))).toMatchObject({ value: { outcome: 'ended' }, staleKeys: ['receipt:a'] })
    store('a', receiptOf('a', checked))
    expect(published()).toEqual([receiptOf('a', checked), Date.parse(checked)])
  })

  it('is deleted with the agent, and its absence published under a later number', () => {
    store('a', receiptOf('a'))
    expect(remove(sql, 'a', {}, 'admin')).toMatchObject({
      value: {},
      publishKeys: expect.arrayContaining(['receipt:a']),
    })
    const [value, seq] = published()
    expect([value, seq > Date.parse(receiptOf('a').receipt.checked)]).toEqual(['', true])
  })

  it('is not that of an agent that was removed during its check', () => {
    remove(sql, 'a', {}, 'admin')
    expect(store('a', receiptOf('a'))).toMatchObject({ staleKeys: [] })
    expect(sql.exec('SELECT COUNT(*) AS rows FROM receipts').one()).toEqual({ rows: 0 })
  })
})

describe('the checks of an agent', () => {
  it('run one at a time, and others than its own at once', () => {
    expect([beginCheck(sql, 'a'), beginCheck(sql, 'a'), beginCheck(sql, 'b')]).toEqual([true, false, true])
    store('a', null)
    expect(beginCheck(sql, 'a')).toBe(true)
  })

  it('are not blocked for ever by one whose end was lost', () => {
    beginCheck(sql, 'a', 0)
    expect([beginCheck(sql, 'a', 89_999), beginCheck(sql, 'a', 90_000)]).toEqual([false, true])
  })
})

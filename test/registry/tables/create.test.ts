import { expect, it } from 'vitest'
import { Publisher } from '../../../src/registry/store/publisher.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { openSql, openStorage } from '../../support/storage.ts'

const OLD_OUTBOX =
  'CREATE TABLE outbox (key TEXT PRIMARY KEY, version INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0)'

it('adds what the outbox of an older version lacks, and keeps its keys', () => {
  const sql = openSql()
  sql.exec(OLD_OUTBOX)
  sql.exec("INSERT INTO outbox VALUES ('card:a', 7, 2)")
  createTables(sql)
  createTables(sql)
  expect(sql.exec('SELECT key, version, attempts, due FROM outbox').toArray()).toEqual([
    { key: 'card:a', version: 7, attempts: 2, due: 0 },
  ])
})

it.each([
  ['an outbox', ''],
  ['the outbox of an older version', OLD_OUTBOX],
])('lets the alarm find the keys of %s that are due without a scan', async (_, existing) => {
  const { storage } = openStorage()
  const { sql } = storage
  if (existing !== '') sql.exec(existing)
  createTables(sql)
  const publisher = await Publisher.create(storage, {} as Env)
  const exec = sql.exec.bind(sql)
  const plans: unknown[] = []
  sql.exec = (query: string, ...values: SqlStorageValue[]) => {
    plans.push(
      ...exec(`EXPLAIN QUERY PLAN ${query}`, ...values)
        .toArray()
        .map(({ detail }) => detail),
    )
    return exec(query, ...values) as never
  }
  await publisher.retry()
  expect(plans).toEqual([
    'SEARCH outbox USING INDEX outbox_by_due (due<?)',
    'SEARCH outbox USING COVERING INDEX outbox_by_due',
  ])
})

import { expect, it } from 'vitest'
import { Publisher } from '../../../src/registry/store/publisher.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { openStorage } from '../../support/storage.ts'

it('lets the alarm find the keys of the outbox that are due without a scan', async () => {
  const { storage } = openStorage()
  const { sql } = storage
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

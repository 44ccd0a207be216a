import { expect, it } from 'vitest'
import { createTables } from '../../../src/registry/tables/create.ts'
import { openSql } from '../../support/storage.ts'

it('adds what the outbox of an older version lacks, and keeps its keys', () => {
  const sql = openSql()
  sql.exec('CREATE TABLE outbox (key TEXT PRIMARY KEY, version INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0)')
  sql.exec("INSERT INTO outbox VALUES ('card:a', 7, 2)")
  createTables(sql)
  createTables(sql)
  expect(sql.exec('SELECT key, version, attempts, due FROM outbox').toArray()).toEqual([
    { key: 'card:a', version: 7, attempts: 2, due: 0 },
  ])
})

import { expect, it } from 'vitest'
import { appendEntry } from '../../../src/registry/audit/log.ts'
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

it('keeps the audit of an older version, and computes from its entries what it is filtered by', () => {
  const sql = openSql()
  sql.exec(`CREATE TABLE audit (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, actor TEXT NOT NULL, agent TEXT,
    what TEXT NOT NULL, entry TEXT NOT NULL)`)
  sql.exec('CREATE INDEX audit_by_agent ON audit (agent) WHERE agent IS NOT NULL')
  const entry = '{"time":"2027-01-31T12:00:00.000Z","actor":"host","what":"agent-removed","agent":"a","number":1}'
  sql.exec("INSERT INTO audit VALUES (1, 5, 'forged', 'b', 'token-issued', ?)", entry)
  createTables(sql)
  createTables(sql)
  appendEntry(sql, { actor: 'admin', what: 'tasks-cleared', agent: 'a' }, Date.parse('2027-02-01'))
  expect(sql.exec("SELECT number, time, actor, what FROM audit WHERE agent = 'a' ORDER BY number").toArray()).toEqual([
    { number: 1, time: '2027-01-31T12:00:00.000Z', actor: 'host', what: 'agent-removed' },
    { number: 2, time: '2027-02-01T00:00:00.000Z', actor: 'admin', what: 'tasks-cleared' },
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

import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { tables } from '../../src/registry/tables.ts'
import type { TokenRecord } from '../../src/registry/token-record.ts'
import { dropToken, keepToken } from '../../src/registry/tokens.ts'

/** As docs/storage.md has it. */
const mostTokens = 10_000

/** SQLite in Node, in the form of the Durable Object's. */
const sqlOf = (database: DatabaseSync): SqlStorage => {
  const exec = (query: string, ...values: SQLInputValue[]) => {
    const before = Number(database.prepare('SELECT total_changes() AS count').get()?.count)
    const rows = database.prepare(query).all(...values)
    const rowsWritten = Number(database.prepare('SELECT total_changes() AS count').get()?.count) - before
    return { toArray: () => rows, one: () => rows[0], rowsWritten }
  }
  return { exec } as unknown as SqlStorage
}

const record = (id: string, expires: number | null = null): TokenRecord => ({
  id,
  note: '',
  scopes: ['read'],
  agents: ['*'],
  tiers: [],
  created: 0,
  expires,
})

let sql: SqlStorage
beforeEach(() => {
  const database = new DatabaseSync(':memory:')
  database.exec(tables)
  sql = sqlOf(database)
  database.exec('BEGIN')
  for (let count = 1; count < mostTokens; count++) keepToken(sql, record(`t${count}`), `h${count}`)
  database.exec('COMMIT')
})

describe('a host that keeps as many tokens as it may', () => {
  it('issues no more, and says how many that is, until one is revoked', () => {
    const outcomes = [
      keepToken(sql, record('last'), 'last'),
      keepToken(sql, record('more'), 'more'),
      dropToken(sql, 't1'),
      keepToken(sql, record('more'), 'more'),
    ].map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['issued', 'too-many-tokens', 'revoked', 'issued'])
  })

  it('makes room of one that has expired', () => {
    keepToken(sql, record('old', Date.now() - 1), 'old')
    expect([keepToken(sql, record('new'), 'new').outcome, dropToken(sql, 'old').outcome]).toEqual(['issued', 'unknown'])
  })
})

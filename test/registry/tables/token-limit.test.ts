import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { WriteResult } from '../../../src/registry/records.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { issueToken, revokeToken } from '../../../src/registry/tables/tokens.ts'
import type { TokenRecord } from '../../../src/registry/token-record.ts'
import { openSql } from '../../support/storage.ts'

/** The limit that docs/reference.md states. */
const maxTokens = 10_000

const record = (id: string, expires: number | null = null): TokenRecord => ({
  id,
  note: '',
  scopes: ['read'],
  agents: ['*'],
  tiers: [],
  created: 0,
  expires,
})

const outcomeOf = (result: WriteResult<{ outcome: string }, { outcome: string }>): string =>
  'error' in result ? result.error.outcome : result.value.outcome

let sql: SqlStorage
// Each test starts with one token less than the limit, and what it changes is rolled back.
beforeAll(() => {
  sql = openSql()
  createTables(sql)
  sql.exec('BEGIN')
  for (let count = 1; count < maxTokens; count++) issueToken(sql, record(`t${count}`), `h${count}`, 'admin')
  sql.exec('COMMIT')
})
beforeEach(() => void sql.exec('BEGIN'))
afterEach(() => void sql.exec('ROLLBACK'))

describe('the limit of tokens', () => {
  it('rejects another token until one is revoked', () => {
    const outcomes = [
      issueToken(sql, record('last'), 'last', 'admin'),
      issueToken(sql, record('more'), 'more', 'admin'),
      revokeToken(sql, 't1', 'admin'),
      issueToken(sql, record('more'), 'more', 'admin'),
    ].map(outcomeOf)
    expect(outcomes).toEqual(['issued', 'too-many-tokens', 'revoked', 'issued'])
  })

  it('is not reached while expired tokens can be deleted', () => {
    issueToken(sql, record('old', Date.now() - 1), 'old', 'admin')
    expect([issueToken(sql, record('new'), 'new', 'admin'), revokeToken(sql, 'old', 'admin')].map(outcomeOf)).toEqual([
      'issued',
      'unknown',
    ])
  })
})

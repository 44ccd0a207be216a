import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { WriteResult } from '../../../src/registry/sql.ts'
import { buildEntry } from '../../../src/registry/store/publisher.ts'
import type { Registry } from '../../../src/registry/store/registry.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { issueToken, revokeToken } from '../../../src/registry/tables/token-table.ts'
import type { TokenRecord } from '../../../src/registry/token-record.ts'
import { startRegistry } from '../../support/registry.ts'
import { openSql } from '../../support/storage.ts'

const record = (id: string, expires: number | null = null): TokenRecord => ({
  ...{ id, note: 'for a test', scopes: ['read', 'write'], agents: ['weather-*'], tiers: ['gold'], created: 1, expires },
})

describe('a token', () => {
  let registry: Registry
  const put = vi.fn<(key: string, value: string, options: object) => Promise<void>>()
  beforeEach(async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    put.mockReset()
    registry = await startRegistry({ CARDS: { put } })
  })
  const issued = ['token:h', JSON.stringify(record('one')), { metadata: { seq: 1 } }]
  const revoked = ['token:h', '', { metadata: { seq: 2 }, expirationTtl: 30 * 86_400 }]
  const down = new Error('KV is unavailable')
  const issue = () => registry.issueToken(record('one'), 'h', 'admin')
  const revoke = () => registry.revokeToken('one', 'admin')

  it('is published under its hash when it is issued, and emptied for a month when it is revoked', async () => {
    expect(await issue()).toEqual({ outcome: 'issued', seq: 1, published: true })
    expect(await revoke()).toEqual({ outcome: 'revoked', seq: 2, hash: 'h', published: true })
    expect(put.mock.calls).toEqual([issued, revoked])
    expect(await registry.tokens('', 100)).toEqual([])
    expect(await revoke()).toEqual({ outcome: 'unknown' })
  })

  it('is not issued if its id is taken, which changes nothing', async () => {
    await issue()
    const other = { ...record('one'), scopes: ['admin' as const] }
    expect(await registry.issueToken(other, 'other', 'admin')).toEqual({ outcome: 'id-taken' })
    expect([await registry.tokens('', 100), put.mock.calls]).toEqual([[record('one')], [issued]])
  })

  it('is reported as unpublished while KV is unavailable, and published later as it is then', async () => {
    put.mockRejectedValueOnce(down)
    expect(await issue()).toMatchObject({ outcome: 'issued', published: false })
    vi.useFakeTimers({ now: Date.now() + 1000, toFake: ['Date'] })
    await registry.alarm()
    put.mockRejectedValueOnce(down)
    expect(await revoke()).toMatchObject({ outcome: 'revoked', published: false })
    vi.setSystemTime(Date.now() + 1000)
    await registry.alarm()
    expect(put.mock.calls).toEqual([issued, issued, revoked, revoked])
  })

  it('is never published again once it is revoked', async () => {
    put.mockRejectedValueOnce(down)
    await issue()
    await revoke()
    await registry.alarm()
    expect(put.mock.calls).toEqual([issued, revoked])
  })
})

it('the entry of a token in KV stays until the token expires, within the lifetimes that KV accepts', () => {
  vi.useFakeTimers({ now: 1_000_000 })
  const sql = openSql()
  createTables(sql)
  const secondsOf = (expires: number | null) => {
    const id = `expires-${expires}`
    issueToken(sql, record(id, expires), id, 'admin')
    return buildEntry(sql, `token:${id}`).seconds
  }
  const week = 7 * 86_400_000
  expect([null, 1_000_000 + week, 1_000_001 + week, 1_060_001, 1_060_000, 1_000_001, 8.64e15].map(secondsOf)).toEqual([
    ...[undefined, 604_800, 604_801, 61, 60, 60, 2_147_483_647],
  ])
})

it('the limit of tokens rejects another one until one is revoked, unless expired tokens can be deleted', () => {
  /** The limit that docs/reference/limits.md states. */
  const maxTokens = 10_000
  const outcomeOf = (result: WriteResult<{ outcome: string }, { outcome: string }>): string =>
    'error' in result ? result.error.outcome : result.value.outcome
  const sql = openSql()
  const issue = (id: string, expires?: number) => outcomeOf(issueToken(sql, record(id, expires), id, 'admin'))
  const revoke = (id: string) => outcomeOf(revokeToken(sql, id, 'admin'))
  createTables(sql)
  sql.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO tokens (id, hash, expires, record) SELECT 't' || i, 'h' || i, NULL, '{}' FROM n`,
    maxTokens - 1,
  )
  expect([issue('old', Date.now() - 1), issue('new'), revoke('old')]).toEqual(['issued', 'issued', 'unknown'])
  expect(issue('more')).toBe('too-many-tokens')
  expect([revoke('t1'), issue('more')]).toEqual(['revoked', 'issued'])
})

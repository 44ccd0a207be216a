import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_RECORDED_REFUSALS } from '../../../src/limits.ts'
import { type AuditEntry, findChainBreak } from '../../../src/registry/audit/chain.ts'
import {
  type AuditQuery,
  appendEntry,
  type Refusal,
  recordRefusal,
  selectHead,
  selectPage,
} from '../../../src/registry/audit/index.ts'
import type { Registration } from '../../../src/registry/prepare.ts'
import { register, remove } from '../../../src/registry/store/registrations.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { issueToken, revokeToken } from '../../../src/registry/tables/token-table.ts'
import { registration } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

const HOUR_MS = 3_600_000
const start = Date.parse('2027-01-01T00:00:00Z')

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
})

const read = (query: Partial<AuditQuery> = {}): AuditEntry[] =>
  selectPage(sql, { before: Number.MAX_SAFE_INTEGER, limit: 100, ...query }).entries
const summarize = ({ actor, what, agent, seq, details }: AuditEntry) => [actor, what, agent, seq, details]
const put = (text: string, more: Partial<Registration> = {}) =>
  register(sql, registration('a', text, { manifestEtag: `"${text}"`, ...more }), true)

describe('the audit', () => {
  it('records writes, acceptances, rollbacks and tokens, each with its actor', () => {
    put('One')
    put('Two', { actor: 'abcdefghijkl', changeClass: 'breaking' })
    put('Three', { actor: 'host' })
    put('Four', { cause: { accepted: '"etag"' } })
    put('Five', { cause: { restored: 2 } })
    remove(sql, 'a', {}, 'admin')
    const record = { id: 't', note: 'Ann', scopes: ['read' as const], agents: ['*'], tiers: [], created: 1, expires: 0 }
    issueToken(sql, record, 'hash of the token', 'admin')
    revokeToken(sql, 't', 'admin')
    expect(read().reverse().map(summarize)).toEqual([
      ['admin', 'agent-registered', 'a', 1, { manifest: '"One"' }],
      ['abcdefghijkl', 'agent-changed', 'a', 2, { manifest: '"Two"', class: 'breaking' }],
      ['host', 'agent-changed', 'a', 3, { manifest: '"Three"' }],
      ['admin', 'card-accepted', 'a', 4, { manifest: '"Four"', accepted: '"etag"' }],
      ['admin', 'agent-rolled-back', 'a', 5, { manifest: '"Five"', restored: 2 }],
      ['admin', 'agent-removed', 'a', 6, {}],
      [
        ...['admin', 'token-issued', undefined, undefined],
        { token: 't', scopes: ['read'], agents: ['*'], tiers: [], expires: '1970-01-01T00:00:00.000Z' },
      ],
      ['admin', 'token-revoked', undefined, undefined, { token: 't' }],
    ])
    expect(JSON.stringify(read())).not.toContain('hash of the token')
  })

  it('records nothing for a write that is rejected or changes nothing', () => {
    put('One')
    put('One')
    put('Two', { expected: { absent: true } })
    remove(sql, 'b', {}, 'admin')
    revokeToken(sql, 'unknown', 'admin')
    expect(read()).toHaveLength(1)
  })

  it('is a chain whose times never decrease, even if the clock is set back', () => {
    for (const at of [start, start + 5, start + 2]) appendEntry(sql, { actor: 'admin', what: 'agent-changed' }, at)
    const entries = read().reverse()
    expect(entries.map((entry, index) => findChainBreak(entry, entries[index - 1]))).toEqual(Array(3).fill(undefined))
    expect(entries.map(({ time }) => Date.parse(time) - start)).toEqual([0, 5, 5])
    expect(selectHead(sql)).toMatchObject({ number: 3, hash: entries[2]?.hash })
  })

  it('is read in pages, filtered by agent, actor, event and time', () => {
    for (let index = 0; index < 9; index++) {
      const actor = index % 2 === 0 ? 'admin' : 'host'
      appendEntry(sql, { actor, agent: `a${index % 3}`, what: 'agent-changed' }, start + 10 * index)
    }
    appendEntry(sql, { actor: 'admin', what: 'token-issued' }, start + 100)
    const numbers = (query: Partial<AuditQuery>) => read(query).map(({ number }) => number)
    expect(numbers({ limit: 3 })).toEqual([10, 9, 8])
    expect(numbers({ before: 8, limit: 3 })).toEqual([7, 6, 5])
    expect(numbers({ agent: 'a1', actor: 'host' })).toEqual([8, 2])
    expect(numbers({ what: 'token-issued' })).toEqual([10])
    expect(numbers({ since: start + 20, until: start + 50 })).toEqual([5, 4, 3])
    expect(numbers({ since: start + 11, until: start + 21 })).toEqual([3])
    expect(numbers({ since: start + 101 })).toEqual([])
    expect(numbers({ until: start })).toEqual([])
  })

  it('has no copies to filter by, which could be changed without a break in the chain', () => {
    appendEntry(sql, { actor: 'abcdefghijkl', agent: 'a', what: 'agent-changed' }, start)
    for (const column of ['time', 'actor', 'agent', 'what'])
      expect(() => sql.exec(`UPDATE audit SET ${column} = 'x'`)).toThrow('generated column')
  })
})

describe('recordRefusal', () => {
  const refuse = (at: number, more: Partial<Refusal> = {}) =>
    recordRefusal(sql, { actor: 'anonymous', code: 'no-token', status: 401, omitted: 0, ...more }, at)

  it('records a bounded number for each actor and hour, and counts the rest', () => {
    for (let count = 0; count < MAX_RECORDED_REFUSALS + 5; count++) refuse(start)
    expect(read()).toHaveLength(MAX_RECORDED_REFUSALS)
    refuse(start, { actor: 'abcdefghijkl', agent: 'a', code: 'forbidden', status: 403 })
    expect(read()[0]).toMatchObject({ actor: 'abcdefghijkl', agent: 'a', details: { code: 'forbidden', status: 403 } })
    refuse(start + HOUR_MS, { omitted: 3 })
    refuse(start + HOUR_MS)
    expect(read({ limit: 2 }).map(({ details }) => details)).toEqual([
      { code: 'no-token', status: 401 },
      { code: 'no-token', status: 401, omitted: 8 },
    ])
  })

  it('forgets the counts of actors after a day', () => {
    refuse(start)
    refuse(start + 30 * HOUR_MS, { actor: 'admin' })
    expect(sql.exec('SELECT actor FROM refusals').toArray()).toEqual([{ actor: 'admin' }])
  })
})

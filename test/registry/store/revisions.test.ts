import { beforeEach, describe, expect, it } from 'vitest'
import type { Drift } from '../../../src/card/diff/drift.ts'
import type { SourceRecord } from '../../../src/registry/records.ts'
import { getManifest } from '../../../src/registry/store/agents.ts'
import { register, remove } from '../../../src/registry/store/register.ts'
import { revisionRows } from '../../../src/registry/store/revisions.ts'
import { serializeDrift } from '../../../src/registry/store/sources.ts'
import { createTables } from '../../../src/registry/store/tables.ts'
import { fetched, registration } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

const put = (text: string, source?: SourceRecord) =>
  register(sql, registration('a', text, source ? { source } : { manifestEtag: `"${text}"` }), true)
const drift: Drift = [{ op: 'replace', pointer: '/name', before: 'One', after: 'Two' }]
const rows = (before = Number.MAX_SAFE_INTEGER, limit = 100) => revisionRows(sql, 'a', before, limit)

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
})

describe('the revisions of an agent', () => {
  it('say who made them, the newest first, and what of a fetched card had changed', () => {
    put('One', fetched('One'))
    put('Two', fetched('Two', { by: 'fetch', drift }))
    put('Own')
    remove(sql, 'a', {})
    const created = expect.any(Number)
    expect(rows()).toEqual([
      { seq: 4, created, by: 'removal' },
      { seq: 3, created, by: 'manifest' },
      { seq: 2, created, by: 'fetch', drift },
      { seq: 1, created, by: 'manifest' },
    ])
  })

  it('come in pages', () => {
    for (const text of ['One', 'Two', 'Three', 'Four']) put(text)
    expect([rows(4, 2), rows(2, 2)].map(page => page.map(({ seq }) => seq))).toEqual([[3, 2], [1]])
  })

  it('are the newest hundred of those that refreshes made, and every other', () => {
    put('Own')
    for (let count = 0; count < 120; count++) put(`${count}`, fetched(`${count}`, { by: 'fetch' }))
    put('Last')
    const seqs = revisionRows(sql, 'a', 22, 100).map(({ seq }) => seq)
    expect([rows().length, rows().at(-1)?.seq, seqs]).toEqual([100, 23, [1]])
    expect(getManifest(sql, 'a')).toMatchObject({ etag: '"Last"' })
  })
})

describe('a drift', () => {
  const large = (count: number, pointer: string): Drift =>
    Array.from({ length: count }, () => ({ op: 'replace' as const, pointer, before: 'x'.repeat(4000), after: 1 }))

  it.each<[string, Drift, Drift]>([
    ['is kept whole', drift, drift],
    [
      'loses its values where they are too large',
      large(50, '/a'),
      large(50, '/a').map(({ op, pointer }) => ({ op, pointer, leftOut: ['before', 'after'] }) as Drift[number]),
    ],
    [
      'loses its end where its pointers are, and says how much',
      [...large(50, `/${'b'.repeat(4000)}`), { op: 'more', pointer: '', count: 7 }],
      [],
    ],
  ])('%s', (_, given, expected) => {
    const text = serializeDrift(given)
    expect(text.length).toBeLessThanOrEqual(64 * 1024)
    const kept: Drift = JSON.parse(text)
    if (expected.length > 0) expect(kept).toEqual(expected)
    else expect([kept.length, kept.at(-1)]).toEqual([17, { op: 'more', pointer: '', count: 41 }])
  })
})

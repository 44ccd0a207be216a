import { describe, expect, it } from 'vitest'
import { openChangeFeed, readPage, writePage } from '../../../src/registry/events/change-feed.ts'
import type { StoredChange } from '../../../src/registry/tables/change-table.ts'
import { openSql } from '../../support/storage.ts'

const change = (more: Partial<StoredChange>): StoredChange => ({
  ...{ number: 1, id: 'weather', seq: 4, kind: 'changed', at: Date.UTC(2026, 10, 22) },
  ...more,
})

describe('the event of a change', () => {
  it('is what its reader may see', () => {
    const eventFor = (more: Partial<StoredChange>, covered: string[]) => {
      const { events } = readPage(writePage(1, [change(more)], covered))
      const [, event = '', data = '{}'] = /^event: (.*)\ndata: (.*)$/m.exec(events) ?? []
      return `${event} ${JSON.parse(data).class ?? ''}`.trim()
    }
    for (const [more, everybody, covered] of [
      [{ publicKind: 'changed', class: 'additive' }, 'changed additive', 'changed additive'],
      // It becomes internal, becomes public, is internal, or is removed as an internal one.
      [{ publicKind: 'removed', class: 'breaking' }, 'removed', 'changed breaking'],
      [{ publicKind: 'registered', class: 'cosmetic' }, 'registered', 'changed cosmetic'],
      [{ class: 'breaking' }, '', 'changed breaking'],
      [{ kind: 'removed' }, '', 'removed'],
    ] as const) {
      const events = [[], ['other-*'], ['other-*', 'weath*']].map(globs => eventFor(more, globs))
      expect([more, ...events]).toEqual([more, everybody, everybody, covered])
    }
  })

  it('is written with its number, type and data, and without what the reader may not see', () => {
    const changes = [change({ number: 9, publicKind: 'changed', class: 'additive' }), change({ number: 10 })]
    expect(writePage(12, changes, [])).toBe(
      '12\nid: 9\nevent: changed\ndata: {"agent":"weather","seq":4,"class":"additive","time":"2026-11-22T00:00:00.000Z"}\n\n',
    )
  })
})

it('the table of changes ignores what it has already', () => {
  const table = openChangeFeed(openSql())
  const changes = [1, 2].map(number => change({ number }))
  expect([table.append(changes), table.append(changes), table.newest()]).toEqual([changes, [], 2])
})

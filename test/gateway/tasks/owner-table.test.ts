import { beforeEach, describe, expect, it, vi } from 'vitest'
import { OwnerTable } from '../../../src/gateway/tasks/owner-table.ts'
import { OWNED_ID_LIFETIME_SECONDS } from '../../../src/limits.ts'
import { openSql } from '../../support/storage.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const ANONYMOUS = ''

let table: OwnerTable
beforeEach(() => {
  vi.useFakeTimers({ now: 0 })
  table = new OwnerTable(openSql())
})

const tasks = (...ids: string[]) => ({ tasks: ids, contexts: [] })
const contexts = (...ids: string[]) => ({ tasks: [], contexts: ids })

/** Whether a caller may use ids that exist. */
const mayUse = (caller: string, ids: Parameters<OwnerTable['use']>[1]) => table.use(caller, ids, false) !== null

describe('a task', () => {
  beforeEach(() => {
    table.record('token:a', tasks('a1', 'a2'))
    table.record(ANONYMOUS, tasks('n1'))
  })

  it('may be used by its owner, and by all if an anonymous caller started it', () => {
    const rows: [caller: string, ids: string[], expected: boolean][] = [
      ['token:a', ['a1', 'a2'], true],
      ['token:b', ['n1'], true],
      ...['token:b', ANONYMOUS].map((caller): [string, string[], boolean] => [caller, ['a1'], false]),
      ['token:a', ['a1', 'unknown'], false],
    ]
    for (const [caller, ids, expected] of rows) expect(mayUse(caller, tasks(...ids)), `${caller} ${ids}`).toBe(expected)
  })

  it('stays with its first owner', () => {
    expect(table.record('token:b', tasks('b1', 'a1'))).toBeNull()
    expect([mayUse('token:a', tasks('a1')), mayUse('token:b', tasks('b1'))]).toEqual([true, false])
    expect(table.record('token:b', tasks('n1'))?.tasks).toEqual(new Map([['n1', ANONYMOUS]]))
  })

  it('is in its own list only, and in none if it is anonymous', () => {
    const all = ['a1', 'n1', 'a2', 'unknown']
    expect([table.own('token:a', all), table.own('token:b', all), table.own(ANONYMOUS, all)]).toEqual([
      { own: ['a1', 'a2'], total: 2 },
      { own: [], total: 0 },
      { own: [], total: 0 },
    ])
  })
})

describe('a context', () => {
  it('becomes that of the caller who first names it in a message', () => {
    expect(table.use('token:a', contexts('c'), true)?.contexts).toEqual(new Map([['c', 'token:a']]))
    expect(table.use('token:b', contexts('c'), true)).toBeNull()
    expect(table.use(ANONYMOUS, contexts('c'), true)).toBeNull()
    expect(mayUse('token:a', contexts('c'))).toBe(true)
  })

  it('is not claimed by a call that is refused, nor by one that is no message', () => {
    expect(table.use('token:a', { tasks: ['unknown'], contexts: ['c'] }, true)).toBeNull()
    expect(table.use('token:a', contexts('c'), false)).toBeNull()
    expect(table.use('token:b', contexts('c'), true)).not.toBeNull()
  })

  it('is refused to others in a form that some agents read as the same', () => {
    table.use('token:a', contexts('session-one'), true)
    for (const variant of ['Session-ONE', '{session one}']) {
      expect(table.use('token:b', contexts(variant), true), variant).toBeNull()
      expect(table.use('token:a', contexts(variant), true), variant).not.toBeNull()
    }
    // Without letters.
    expect(table.use('token:a', contexts('--'), true)).not.toBeNull()
    expect(table.use('token:b', contexts('++'), true)).not.toBeNull()
  })

  it('of the agent stays with its first owner, and an answer in it is refused to others', () => {
    table.record('token:a', { tasks: ['a1'], contexts: ['default'] })
    expect(table.record('token:b', { tasks: ['b1'], contexts: ['default'] })).toBeNull()
    expect(mayUse('token:b', tasks('b1'))).toBe(false)
  })

  it("that an anonymous caller chooses is nobody's, and becomes that of the first known caller", () => {
    expect(table.use(ANONYMOUS, contexts('c'), true)?.contexts).toEqual(new Map())
    expect(table.use(ANONYMOUS, contexts('c'), true)).not.toBeNull()
    expect(table.use('token:a', contexts('c'), true)?.contexts).toEqual(new Map([['c', 'token:a']]))
    expect(table.use(ANONYMOUS, contexts('c'), true)).toBeNull()
  })

  it('that the agent chose for an anonymous caller may be used by whoever has its id', () => {
    table.record(ANONYMOUS, { tasks: ['n1'], contexts: ['c'] })
    expect([mayUse(ANONYMOUS, contexts('c')), mayUse('token:a', contexts('c'))]).toEqual([true, true])
  })

  it('is not claimed together with another one, but beside one that is known', () => {
    table.use('token:a', contexts('known'), true)
    for (const caller of ['token:a', ANONYMOUS]) expect(table.use(caller, contexts('c', 'd'), true)).toBeNull()
    expect(table.use('token:b', contexts('d'), true)).not.toBeNull()
    expect(table.use('token:a', contexts('known', 'c'), true)).not.toBeNull()
  })
})

describe('the table', () => {
  it('forgets what was not used for the lifetime of an id', () => {
    table.record('token:a', { tasks: ['old', 'used'], contexts: ['c'] })
    vi.setSystemTime(2 * DAY_MS)
    mayUse('token:a', tasks('used'))
    vi.setSystemTime(OWNED_ID_LIFETIME_SECONDS * 1000)
    expect(table.deleteExpired(Date.now())).toBe(Date.now() + DAY_MS)
    expect([mayUse('token:a', tasks('old')), mayUse('token:a', tasks('used'))]).toEqual([false, true])
    expect(table.deleteExpired(Date.now() + OWNED_ID_LIFETIME_SECONDS * 1000)).toBeUndefined()
  })

  it('deletes from the owner with most, the oldest tasks first, when it is full', () => {
    table = new OwnerTable(openSql(), { maxIds: 6 })
    table.record('token:a', tasks('a1', 'a2'))
    table.use('token:b', contexts('b0'), true)
    for (const id of ['b1', 'b2', 'b3', 'b4', 'b5']) {
      vi.setSystemTime(Date.now() + 1)
      table.record('token:b', tasks(id))
    }
    expect(mayUse('token:a', tasks('a1', 'a2'))).toBe(true)
    expect(mayUse('token:b', contexts('b0'))).toBe(true)
    expect(['b1', 'b2', 'b3', 'b4', 'b5'].filter(id => mayUse('token:b', tasks(id)))).toEqual(['b3', 'b4', 'b5'])
  })
})

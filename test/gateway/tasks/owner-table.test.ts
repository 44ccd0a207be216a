import { beforeEach, describe, expect, it, vi } from 'vitest'
import { contextKey, type Ids, OwnerTable } from '../../../src/gateway/tasks/owner-table.ts'
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

/** Records what one response has started. */
const record = (caller: string, ids: Ids): boolean | undefined => table.record([{ caller, ids }])[0]

/** Whether a caller may use ids that exist. */
const mayUse = (caller: string, ids: Ids) => table.use(caller, ids, false) !== null

describe('a task', () => {
  beforeEach(() => {
    record('token:a', tasks('a1', 'a2'))
    record(ANONYMOUS, tasks('n1'))
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
    expect(record('token:b', tasks('b1', 'a1'))).toBe(false)
    expect([mayUse('token:a', tasks('a1')), mayUse('token:b', tasks('b1'))]).toEqual([true, false])
    expect([record('token:b', tasks('n1')), mayUse('token:c', tasks('n1'))]).toEqual([true, true])
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
    expect(table.use('token:a', contexts('c'), true)).toEqual(new Map([[contextKey('c'), 'token:a']]))
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
    record('token:a', { tasks: ['a1'], contexts: ['default'] })
    expect(record('token:b', { tasks: ['b1'], contexts: ['default'] })).toBe(false)
    expect(mayUse('token:b', tasks('b1'))).toBe(false)
  })

  it("that an anonymous caller chooses is nobody's, and becomes that of the first known caller", () => {
    expect(table.use(ANONYMOUS, contexts('c'), true)).toEqual(new Map())
    expect(table.use(ANONYMOUS, contexts('c'), true)).not.toBeNull()
    expect(table.use('token:a', contexts('c'), true)).toEqual(new Map([[contextKey('c'), 'token:a']]))
    expect(table.use(ANONYMOUS, contexts('c'), true)).toBeNull()
  })

  it('that the agent chose for an anonymous caller may be used by whoever has its id', () => {
    record(ANONYMOUS, { tasks: ['n1'], contexts: ['c'] })
    expect([mayUse(ANONYMOUS, contexts('c')), mayUse('token:a', contexts('c'))]).toEqual([true, true])
  })

  it('is not claimed together with another one, but beside one that is known', () => {
    table.use('token:a', contexts('known'), true)
    for (const caller of ['token:a', ANONYMOUS]) expect(table.use(caller, contexts('c', 'd'), true)).toBeNull()
    expect(table.use('token:b', contexts('d'), true)).not.toBeNull()
    expect(table.use('token:a', contexts('known', 'c'), true)).not.toBeNull()
  })
})

describe('responses that are recorded together', () => {
  it('start what they show in their order: a later one with the same id is refused to another caller', () => {
    const response = (caller: string, task: string) => ({ caller, ids: { tasks: [task], contexts: [`of ${task}`] } })
    const responses = [response('token:a', 't1'), response('token:b', 't1'), response('token:b', 't2')]
    expect(table.record(responses)).toEqual([true, false, true])
    for (const [caller, id, expected] of [
      ['token:a', 't1', true],
      ['token:b', 't1', false],
      ['token:b', 't2', true],
      ['token:a', 't2', false],
    ] as const)
      expect(mayUse(caller, { tasks: [id], contexts: [`of ${id}`] }), `${caller} ${id}`).toBe(expected)
  })

  it('may show the same id to one caller, and one of an anonymous caller to all', () => {
    const started = ['token:a', 'token:a'].map(caller => ({ caller, ids: tasks('t1') }))
    const shared = [ANONYMOUS, 'token:b'].map(caller => ({ caller, ids: tasks('n1') }))
    expect(table.record([...started, ...shared])).toEqual([true, true, true, true])
    expect([mayUse('token:b', tasks('t1')), mayUse('token:c', tasks('n1'))]).toEqual([false, true])
  })

  it('start nothing if one is refused: its other ids are those of the next caller', () => {
    record('token:a', tasks('a1'))
    const refused = { caller: 'token:b', ids: tasks('x', 'a1') }
    const next = { caller: 'token:c', ids: tasks('x') }
    expect(table.record([refused, next])).toEqual([false, true])
    expect([mayUse('token:b', tasks('x')), mayUse('token:c', tasks('x'))]).toEqual([false, true])
  })

  it('take one statement that reads and one that writes, however many they are', () => {
    const sql = openSql()
    table = new OwnerTable(sql)
    const exec = vi.spyOn(sql, 'exec')
    table.record(['t1', 't2', 't3'].map(id => ({ caller: `token:${id}`, ids: { tasks: [id], contexts: [id] } })))
    expect(exec.mock.calls.map(([query]) => query.split(' ')[0])).toEqual(['SELECT', 'INSERT'])
  })
})

it('takes ids that SQLite cannot tell apart for the same, and those that it can for different ones', () => {
  record('token:a', { tasks: ['x\ud800', 'x\u0000'], contexts: ['x\ud800', 'x'] })
  for (const ids of [tasks('x\ud801'), contexts('x\ud801')]) expect(record('token:b', ids), ids.tasks[0]).toBe(false)
  expect(record('token:b', { tasks: ['x', 'x\u0001', 'x\n'], contexts: ['x\n', 'X'] })).toBe(true)
  expect(mayUse('token:a', tasks('x\ud801', 'x\u0000'))).toBe(true)
})

describe('the table', () => {
  it('forgets what was not used for the lifetime of an id', () => {
    record('token:a', { tasks: ['old', 'used'], contexts: ['c'] })
    vi.setSystemTime(2 * DAY_MS)
    mayUse('token:a', tasks('used'))
    vi.setSystemTime(OWNED_ID_LIFETIME_SECONDS * 1000)
    expect(table.deleteExpired(Date.now())).toBe(Date.now() + DAY_MS)
    expect([mayUse('token:a', tasks('old')), mayUse('token:a', tasks('used'))]).toEqual([false, true])
    expect(table.deleteExpired(Date.now() + OWNED_ID_LIFETIME_SECONDS * 1000)).toBeUndefined()
  })

  it('deletes from the owner with most, the oldest tasks first, when it is full', () => {
    table = new OwnerTable(openSql(), { maxIds: 6 })
    record('token:a', tasks('a1', 'a2'))
    table.use('token:b', contexts('b0'), true)
    for (const id of ['b1', 'b2', 'b3', 'b4', 'b5']) {
      vi.setSystemTime(Date.now() + 1)
      record('token:b', tasks(id))
    }
    expect(mayUse('token:a', tasks('a1', 'a2'))).toBe(true)
    expect(mayUse('token:b', contexts('b0'))).toBe(true)
    expect(['b1', 'b2', 'b3', 'b4', 'b5'].filter(id => mayUse('token:b', tasks(id)))).toEqual(['b3', 'b4', 'b5'])
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { TaskTable } from '../../../src/mcp/agent/task-table.ts'
import { openStorage } from '../../support/storage.ts'

const DAY_MS = 24 * 60 * 60 * 1000

let storage: DurableObjectStorage
let table: TaskTable
beforeEach(() => {
  storage = openStorage().storage
  table = new TaskTable(storage)
})

/** Saves a completed task, with the given differences. */
const save = (
  id: string,
  changed: number,
  { state = 'TASK_STATE_COMPLETED', owner = 'alice', ...more }: JsonObject = {},
) =>
  table.save({
    id,
    owner: String(owner),
    principal: String(owner),
    context: 'c',
    state: String(state),
    changed,
    task: { id, contextId: 'c', status: { state, timestamp: 't' }, ...more },
  })

const ids = (query: Partial<Parameters<TaskTable['list']>[0]> = {}) =>
  table.list({ owner: 'alice', withArtifacts: false, limit: 300, ...query }).tasks.map(({ id }) => id)

describe('a stored task', () => {
  it('is loaded as it was saved, though longer than the largest value of the database, in any script', () => {
    const text = '𝄞ü'.repeat(700_000)
    const more = { artifacts: [{ artifactId: 'a', parts: [{ text }] }], history: [{ messageId: text }] }
    save('t', 1, more)
    expect(table.load('t', 'alice')).toEqual({
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_COMPLETED', timestamp: 't' },
      ...more,
    })
  })

  it('is replaced when it is saved again, and keeps no text of earlier versions, nor after its deletion', () => {
    const pieces = () => storage.sql.exec('SELECT task FROM pieces').toArray().length
    save('t', 1, { artifacts: [{ text: 'x'.repeat(2_000_000) }] })
    save('t', 2, { artifacts: [] })
    expect([table.load('t', 'alice')?.artifacts, ids(), pieces()]).toEqual([[], ['t'], 2])
    table.deleteExpired(2 + DAY_MS)
    expect(pieces()).toBe(0)
  })

  it('is visible to its owner only', () => {
    save('t', 1)
    expect([table.load('t', 'bob'), table.load('t', ''), ids({ owner: 'bob' })]).toEqual([undefined, undefined, []])
  })
})

describe('the stored tasks', () => {
  it('are the newest two hundred finished ones and all running ones', () => {
    save('open', 0, { state: 'TASK_STATE_WORKING' })
    for (let count = 1; count <= 210; count++) save(`t${count}`, count)
    expect(ids()).toEqual([...Array.from({ length: 200 }, (_, index) => `t${210 - index}`), 'open'])
  })

  it('are deleted a day after their last change', () => {
    save('old', 1)
    save('new', DAY_MS)
    expect([table.deleteExpired(DAY_MS), ids()]).toEqual([DAY_MS + 1, ['new', 'old']])
    expect([table.deleteExpired(DAY_MS + 1), ids()]).toEqual([2 * DAY_MS, ['new']])
    expect([table.deleteExpired(2 * DAY_MS), ids()]).toEqual([undefined, []])
  })

  it('are the newest ones that fit into the size limit', () => {
    table = new TaskTable(storage, { maxBytes: 64 * 1024 })
    for (let count = 0; count < 6; count++) save(`t${count}`, count, { artifacts: [{ text: 'x'.repeat(15 * 1024) }] })
    const areStored = Array.from({ length: 6 }, (_, count) => table.load(`t${count}`, 'alice') !== undefined)
    expect(areStored).toEqual([false, false, true, true, true, true])
  })
})

describe('list', () => {
  beforeEach(() => {
    save('a', 1, { artifacts: [{ text: 'a' }] })
    save('b', 2, { state: 'TASK_STATE_FAILED' })
    save('c', 2)
    save('d', 3, { owner: 'bob' })
  })

  it('returns pages, the last changed task first', () => {
    const query = { owner: 'alice', withArtifacts: false, limit: 2 }
    const { last, ...first } = table.list(query)
    expect([first, last]).toMatchObject([
      { tasks: [{ id: 'c' }, { id: 'b' }], total: 3 },
      { changed: 2, id: 'b' },
    ])
    expect(table.list({ ...query, ...(last && { after: last }) })).toMatchObject({
      tasks: [{ id: 'a' }],
      total: 3,
      last: undefined,
    })
  })

  it('returns artifacts only when they are requested', () => {
    const listArtifacts = (withArtifacts: boolean) =>
      table.list({ owner: 'alice', withArtifacts, limit: 9 }).tasks.map(task => task.artifacts)
    expect([listArtifacts(true), listArtifacts(false)]).toEqual([
      [[], [], [{ text: 'a' }]],
      [undefined, undefined, undefined],
    ])
  })

  it('returns fewer tasks a page when they are large, but at least one', () => {
    for (const id of ['x', 'y', 'z']) save(id, 9, { history: [{ text: 'x'.repeat(1_500_000) }] })
    const { tasks, last } = table.list({ owner: 'alice', withArtifacts: false, limit: 5 })
    expect([tasks.map(({ id }) => id), last]).toMatchObject([['z'], { id: 'z' }])
  })
})

describe('failInterrupted', () => {
  it('fails the tasks that were running, with a message, and leaves the others alone', () => {
    save('done', Date.now())
    save('open', Date.now(), { state: 'TASK_STATE_WORKING', history: [{ messageId: 'm' }] })
    new TaskTable(storage).failInterrupted()
    expect([table.load('done', 'alice'), table.load('open', 'alice')]).toMatchObject([
      { status: { state: 'TASK_STATE_COMPLETED' } },
      {
        status: {
          state: 'TASK_STATE_FAILED',
          timestamp: expect.stringMatching(/^2/),
          message: {
            taskId: 'open',
            contextId: 'c',
            role: 'ROLE_AGENT',
            parts: [{ text: expect.stringMatching(/^This host was interrupted/), mediaType: 'text/plain' }],
          },
        },
        history: [{ messageId: 'm' }],
      },
    ])
    expect(ids({ state: 'TASK_STATE_FAILED' })).toEqual(['open'])
  })
})

const evictionLimits = { maxTasks: 20, maxBytes: 64_000 }

type Batch = { by: string; count: number; from?: number; size?: number; state?: string }

/** Saves tasks, the last of each batch the newest, and counts those that remain by principal. Addresses share the owner ''. */
const countStored = (...batches: Batch[]): Record<string, number> => {
  const table = new TaskTable(openStorage().storage, evictionLimits)
  const saved = batches.flatMap(({ by, count, from = 1, size = 10, state = 'TASK_STATE_COMPLETED' }) =>
    Array.from({ length: count }, (_, index) => ({
      id: `${by} ${index}`,
      owner: /^\d/.test(by) ? '' : by,
      principal: by,
      context: 'c',
      state,
      changed: from + index,
      task: { id: `${by} ${index}`, artifacts: [{ text: 'x'.repeat(size) }] },
    })),
  )
  for (const task of saved.toSorted((left, right) => left.changed - right.changed)) table.save(task)
  const remaining = saved.filter(({ id, owner }) => table.load(id, owner) !== undefined)
  return Object.fromEntries(
    [...Map.groupBy(remaining, task => task.principal)].map(([name, { length }]) => [name, length]),
  )
}

describe('eviction of finished tasks', () => {
  const alice = (count: number) => ({ by: 'alice', count })

  it('deletes the oldest tasks of the caller with the most, and no running task', () => {
    const rows: [title: string, stored: Record<string, number>, expected: Record<string, number>][] = [
      ['none up to the limit', countStored(alice(20)), { alice: 20 }],
      ['the oldest', countStored(alice(21)), { alice: 20 }],
      ['of the busiest caller', countStored(alice(1), { by: 'bob', count: 25, from: 100 }), { alice: 1, bob: 19 }],
      ['of an address', countStored(alice(1), { by: '7.7.7.7', count: 25, from: 100 }), { alice: 1, '7.7.7.7': 19 }],
      [
        'of the busiest address',
        countStored({ by: '1.1.1.1', count: 2 }, { by: '2.2.2.2', count: 19, from: 100 }),
        { '1.1.1.1': 2, '2.2.2.2': 18 },
      ],
      [
        'no running task',
        countStored(alice(20), { by: 'bob', count: 16, state: 'TASK_STATE_WORKING' }),
        { alice: 20, bob: 16 },
      ],
    ]
    for (const [title, stored, expected] of rows) expect(stored, title).toEqual(expected)
  })

  it('deletes the tasks of anonymous callers before those of a caller, however many addresses they have', () => {
    const addresses = Array.from({ length: 21 }, (_, index) => ({ by: `${index}.0.0.1`, count: 1, from: 100 + index }))
    const { alice, ...anonymous } = countStored({ by: 'alice', count: 5 }, ...addresses)
    expect([alice, Object.keys(anonymous).length]).toEqual([5, 15])
  })

  it('deletes the tasks of the caller with the most text when all tasks together are too large', () => {
    const size = 10_000
    expect(
      countStored(
        { by: 'alice', count: 9 },
        { by: 'bob', count: 1, size },
        { by: '7.7.7.7', count: 7, from: 100, size },
      ),
    ).toEqual({ alice: 9, bob: 1, '7.7.7.7': 5 })
  })
})

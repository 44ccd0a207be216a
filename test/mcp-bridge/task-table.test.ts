import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { TaskTable } from '../../src/mcp-bridge/task-table.ts'
import { openStorage } from '../support/storage.ts'

const day = 24 * 60 * 60 * 1000

let storage: DurableObjectStorage
let rows: TaskTable
beforeEach(() => {
  storage = openStorage().storage
  rows = new TaskTable(storage)
})

/** Saves a task that is done, but for `changes`. */
const save = (
  id: string,
  changed: number,
  { state = 'TASK_STATE_COMPLETED', owner = 'alice', ...more }: JsonObject = {},
) =>
  rows.save({
    id,
    owner: String(owner),
    principal: String(owner),
    context: 'c',
    state: String(state),
    changed,
    task: { id, contextId: 'c', status: { state, timestamp: 't' }, ...more },
  })

const ids = (query: Partial<Parameters<TaskTable['list']>[0]> = {}) =>
  rows.list({ owner: 'alice', withArtifacts: false, limit: 300, ...query }).tasks.map(({ id }) => id)

describe('a task that is kept', () => {
  it('is what it was', () => {
    const more = { artifacts: [{ artifactId: 'a', parts: [{ text: 'made' }] }], history: [{ messageId: 'm' }] }
    save('t', 1, more)
    expect(rows.load('t', 'alice')).toEqual({
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_COMPLETED', timestamp: 't' },
      ...more,
    })
  })

  it('may be longer than a value of the database, in any script', () => {
    const text = '𝄞ü'.repeat(700_000)
    save('t', 1, { artifacts: [{ text }], history: [{ text }] })
    expect(rows.load('t', 'alice')).toMatchObject({ artifacts: [{ text }], history: [{ text }] })
  })

  it('takes the place of what it was', () => {
    save('t', 1, { artifacts: [{ text: 'x'.repeat(2_000_000) }] })
    save('t', 2, { artifacts: [] })
    expect([rows.load('t', 'alice')?.artifacts, ids()]).toEqual([[], ['t']])
  })

  it("is its owner's", () => {
    save('t', 1)
    expect([rows.load('t', 'bob'), rows.load('t', ''), ids({ owner: 'bob' })]).toEqual([undefined, undefined, []])
  })
})

describe('the tasks that are kept', () => {
  it('are the newest two hundred, and those that have not ended', () => {
    save('open', 0, { state: 'TASK_STATE_WORKING' })
    for (let count = 1; count <= 210; count++) save(`t${count}`, count)
    expect(ids()).toEqual([...Array.from({ length: 200 }, (_, index) => `t${210 - index}`), 'open'])
  })

  it('are those of the last day', () => {
    save('old', 1)
    save('new', day)
    expect([rows.deleteExpired(day), ids()]).toEqual([day + 1, ['new', 'old']])
    expect([rows.deleteExpired(day + 1), ids()]).toEqual([2 * day, ['new']])
    expect([rows.deleteExpired(2 * day), ids()]).toEqual([undefined, []])
  })

  it('are those that fit into the limit of their size', () => {
    rows = new TaskTable(storage, { maxBytes: 64 * 1024 })
    for (let count = 0; count < 6; count++) save(`t${count}`, count, { artifacts: [{ text: 'x'.repeat(15 * 1024) }] })
    const kept = Array.from({ length: 6 }, (_, count) => rows.load(`t${count}`, 'alice') !== undefined)
    expect(kept).toEqual([false, false, true, true, true, true])
  })
})

describe('a list of tasks', () => {
  beforeEach(() => {
    save('a', 1, { artifacts: [{ text: 'a' }] })
    save('b', 2, { state: 'TASK_STATE_FAILED' })
    save('c', 2)
    save('d', 3, { owner: 'bob' })
  })

  it('has the last changed first, by pages', () => {
    const query = { owner: 'alice', withArtifacts: false, limit: 2 }
    const { last, ...first } = rows.list(query)
    expect([first, last]).toMatchObject([
      { tasks: [{ id: 'c' }, { id: 'b' }], total: 3 },
      { changed: 2, id: 'b' },
    ])
    expect(rows.list({ ...query, ...(last && { after: last }) })).toMatchObject({
      tasks: [{ id: 'a' }],
      last: undefined,
    })
  })

  it('counts the tasks of all pages, past the last page too', () => {
    const after = { changed: 1, id: 'a' }
    expect(rows.list({ owner: 'alice', withArtifacts: false, limit: 2, after })).toEqual({ tasks: [], total: 3 })
  })

  it.each<[query: Parameters<typeof ids>[0], found: string[]]>([
    [{ state: 'TASK_STATE_FAILED' }, ['b']],
    [{ context: 'c' }, ['c', 'b', 'a']],
    [{ context: 'x' }, []],
    [{ changedAfter: 1 }, ['c', 'b']],
    [{ owner: 'bob' }, ['d']],
  ])('has those of %j', (query, found) => {
    expect(ids(query)).toEqual(found)
  })

  it('has what they made where that is asked for', () => {
    const made = (artifacts: boolean) =>
      rows.list({ owner: 'alice', withArtifacts: artifacts, limit: 9 }).tasks.map(task => task.artifacts)
    expect([made(true), made(false)]).toEqual([
      [[], [], [{ text: 'a' }]],
      [undefined, undefined, undefined],
    ])
  })

  it('has fewer to a page where they are long, but one', () => {
    for (const id of ['x', 'y', 'z']) save(id, 9, { history: [{ text: 'x'.repeat(1_500_000) }] })
    const { tasks, last } = rows.list({ owner: 'alice', withArtifacts: false, limit: 5 })
    expect([tasks.map(({ id }) => id), last]).toMatchObject([['z'], { id: 'z' }])
  })
})

describe('tasks that were under way when their object died', () => {
  it('have failed, and say so; the others are as they were', () => {
    save('done', Date.now())
    save('open', Date.now(), { state: 'TASK_STATE_WORKING', history: [{ messageId: 'm' }] })
    new TaskTable(storage).failInterrupted()
    expect([rows.load('done', 'alice'), rows.load('open', 'alice')]).toMatchObject([
      { status: { state: 'TASK_STATE_COMPLETED' } },
      {
        status: { state: 'TASK_STATE_FAILED', message: { taskId: 'open', parts: [{ text: expect.any(String) }] } },
        history: [{ messageId: 'm' }],
      },
    ])
    expect(ids({ state: 'TASK_STATE_FAILED' })).toEqual(['open'])
  })
})

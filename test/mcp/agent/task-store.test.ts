import { ListTasksRequest, Task } from '@a2a-js/sdk'
import { expect, it, vi } from 'vitest'
import { CallerTaskStore, TaskTable } from '../../../src/mcp/agent/task-table.ts'
import { openStorage } from '../../support/storage.ts'

const table = () => new TaskTable(openStorage().storage)
const alice = { authenticated: true, name: 'alice' }

const task = (id: string, timestamp?: string, more: object = {}) =>
  Task.fromJSON({ id, contextId: 'c', status: { state: 'TASK_STATE_COMPLETED', timestamp }, ...more })

const list = async (store: CallerTaskStore, more: object = {}) => {
  const { tasks, ...page } = await store.list(ListTasksRequest.fromJSON(more))
  return { ids: tasks.map(({ id }) => id), ...page }
}

it('lists the tasks of an authenticated caller in pages, the last changed first', async () => {
  const store = new CallerTaskStore(table(), alice)
  for (const second of [1, 2, 3]) await store.save(task(`t${second}`, `2026-11-22T10:00:0${second}.000Z`))
  const first = await list(store, { pageSize: 2 })
  const nextPageToken = `${Date.parse('2026-11-22T10:00:02.000Z')}.t2`
  expect(first).toEqual({ ids: ['t3', 't2'], nextPageToken, pageSize: 2, totalSize: 3 })
  const second = await list(store, { pageToken: nextPageToken })
  expect(second).toEqual({ ids: ['t1'], nextPageToken: '', pageSize: 50, totalSize: 3 })
  const filters = [
    { contextId: 'x' },
    { status: 'TASK_STATE_FAILED' },
    { statusTimestampAfter: '2026-11-22T10:00:01Z' },
  ]
  expect((await Promise.all(filters.map(filter => list(store, filter)))).map(({ ids }) => ids)).toEqual([
    ...[[], [], ['t3', 't2']],
  ])
  for (const pageToken of ['x', '1', '.t2', '1.'])
    await expect(list(store, { pageToken })).rejects.toThrow('`pageToken` is not from this agent.')
})

it('lists no tasks of anonymous callers, who find them by their ids alone', async () => {
  const tasks = table()
  const stores = ['one', 'two'].map(name => new CallerTaskStore(tasks, { authenticated: false, name }))
  const [one, two] = stores as [CallerTaskStore, CallerTaskStore]
  await one.save(task('t'))
  expect(await list(one)).toEqual({ ids: [], nextPageToken: '', pageSize: 50, totalSize: 0 })
  expect([await two.load('t'), await new CallerTaskStore(tasks, alice).load('t')]).toMatchObject([
    { id: 't' },
    undefined,
  ])
})

it('takes the current time for a task without one, and looks up no id that is too long', async () => {
  vi.useFakeTimers({ now: 7_000 })
  const store = new CallerTaskStore(table(), alice)
  const [id, longer] = ['t'.repeat(256), 't'.repeat(257)]
  await store.save(task(id))
  await store.save(task(longer))
  expect(await list(store, { pageSize: 1 })).toMatchObject({ nextPageToken: `7000.${longer}` })
  expect([await store.load(id), await store.load(longer)]).toMatchObject([{ id }, undefined])
})

it('keeps the first and the newest 49 messages of a history', async () => {
  const store = new CallerTaskStore(table(), alice)
  const history = (count: number) => Array.from({ length: count }, (_, index) => ({ messageId: `m${index}` }))
  const idsOf = async (count: number) => {
    await store.save(task('t', undefined, { history: history(count) }))
    return (await store.load('t'))?.history.map(({ messageId }) => messageId) ?? []
  }
  expect((await idsOf(50)).slice(0, 2)).toEqual(['m0', 'm1'])
  const kept = await idsOf(52)
  expect([kept.length, kept.slice(0, 2), kept.at(-1)]).toEqual([50, ['m0', 'm3'], 'm51'])
})

import { describe, expect, it } from 'vitest'
import { TaskTable } from '../../src/mcp-bridge/task-table.ts'
import { openStorage } from '../support/storage.ts'

const limits = { maxTasks: 20, maxBytes: 64_000 }

type Batch = { by: string; count: number; from?: number; size?: number; state?: string }

/** Saves tasks, the last of each batch the newest, and counts those that remain by owner; addresses own theirs together. */
const countKept = (...batches: Batch[]): Record<string, number> => {
  const table = new TaskTable(openStorage().storage, limits)
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
  const kept = saved.filter(({ id, owner }) => table.load(id, owner) !== undefined)
  return Object.fromEntries([...Map.groupBy(kept, task => task.principal)].map(([name, { length }]) => [name, length]))
}

describe('of more finished tasks than may be stored', () => {
  it.each<[title: string, batches: Batch[], kept: Record<string, number>]>([
    ['keeps all while there are no more', [{ by: 'alice', count: 20 }], { alice: 20 }],
    ['deletes the oldest', [{ by: 'alice', count: 21 }], { alice: 20 }],
    [
      'deletes those of the caller that has more',
      [
        { by: 'alice', count: 1 },
        { by: 'bob', count: 25, from: 100 },
      ],
      { alice: 1, bob: 19 },
    ],
    [
      'deletes those of an address that has more',
      [
        { by: 'alice', count: 1 },
        { by: '7.7.7.7', count: 25, from: 100 },
      ],
      { alice: 1, '7.7.7.7': 19 },
    ],
    [
      'deletes those of the address that has most',
      [
        { by: '1.1.1.1', count: 2 },
        { by: '2.2.2.2', count: 19, from: 100 },
      ],
      { '1.1.1.1': 2, '2.2.2.2': 18 },
    ],
    [
      'deletes none that still runs',
      [
        { by: 'alice', count: 20 },
        { by: 'bob', count: 16, state: 'TASK_STATE_WORKING' },
      ],
      { alice: 20, bob: 16 },
    ],
  ])('%s', (_, batches, kept) => {
    expect(countKept(...batches)).toEqual(kept)
  })

  it('deletes those of anonymous callers, however many addresses they have', () => {
    const addresses = Array.from({ length: 21 }, (_, index) => ({ by: `${index}.0.0.1`, count: 1, from: 100 + index }))
    const { alice, ...anonymous } = countKept({ by: 'alice', count: 5 }, ...addresses)
    expect([alice, Object.keys(anonymous).length]).toEqual([5, 15])
  })
})

it('deletes the tasks of the caller with most text where all together are too large', () => {
  const size = 10_000
  expect(
    countKept({ by: 'alice', count: 9 }, { by: 'bob', count: 1, size }, { by: '7.7.7.7', count: 7, from: 100, size }),
  ).toEqual({ alice: 9, bob: 1, '7.7.7.7': 5 })
})

import { describe, expect, it } from 'vitest'
import { type KeptTask, selectEvictions } from '../../src/mcp-bridge/task-table.ts'

const mebibyte = 1024 * 1024

/** Tasks of somebody, of which the last is the newest; unknown callers are called by their address. */
const tasks = (who: string, count: number, { from = 1, length = 10, open = false } = {}): KeptTask[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `${who} ${index}`,
    account: { known: !/^\d/.test(who), name: who },
    changed: from + index,
    length,
    open,
  }))

/** How many of whose are forgotten. */
const forgotten = (...kept: KeptTask[][]) => {
  const newestFirst = kept.flat().sort((left, right) => right.changed - left.changed)
  const names = selectEvictions(newestFirst, 1_000).map(id => id.replace(/ \d+$/, ''))
  return Object.fromEntries([...Map.groupBy(names, name => name)].map(([name, { length }]) => [name, length]))
}

describe('of too many tasks', () => {
  it.each<[title: string, kept: KeptTask[][], told: Record<string, number>]>([
    ['none, while there are two hundred', [tasks('alice', 200)], {}],
    ['the oldest', [tasks('alice', 201)], { alice: 1 }],
    ['those of whoever has more', [tasks('alice', 1), tasks('bob', 205, { from: 100 })], { bob: 6 }],
    ['those of an address', [tasks('alice', 1), tasks('7.7.7.7', 205, { from: 100 })], { '7.7.7.7': 6 }],
    [
      'those of the address that has most',
      [tasks('1.1.1.1', 20), tasks('2.2.2.2', 181, { from: 100 })],
      { '2.2.2.2': 1 },
    ],
    ['not those that run', [tasks('alice', 200), tasks('alice', 64, { open: true })], {}],
  ])('%s', (_, kept, told) => {
    expect(forgotten(...kept)).toEqual(told)
  })

  it('those of unknown callers, however many addresses they have', () => {
    const addresses = Array.from({ length: 210 }, (_, index) =>
      tasks(`${index}.0.0.1`, 1, { from: 100 + index }),
    ).flat()
    const alices = tasks('alice', 50)
    const gone = new Set(selectEvictions([...addresses.reverse(), ...alices.reverse()], 1_000))
    expect([gone.size, alices.some(({ id }) => gone.has(id))]).toEqual([60, false])
  })
})

it('forgets the tasks of whoever has most text, where there is too much of it', () => {
  const long = { length: 3 * mebibyte }
  expect(forgotten(tasks('alice', 30), tasks('alice', 1, long), tasks('7.7.7.7', 23, { from: 100, ...long }))).toEqual({
    '7.7.7.7': 3,
  })
})

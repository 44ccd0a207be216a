import { expect, it } from 'vitest'
import { RunningTasks } from '../../src/mcp-bridge/executor.ts'

const of = (name: string) => ({ known: true, name })

it('runs 64 tools of an agent at once, 48 of one caller, and no more until one has ended', () => {
  const open = new RunningTasks()
  const begin = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => open.begin(`${name}${index}`, 'c', of(name))).map(begun =>
      'full' in begun ? begun.full : 'begun',
    )
  expect([begin('alice', 49).at(-1), begin('bob', 17).at(-1), open.size]).toEqual(['account', 'all', 64])
  open.end('alice0')
  open.end('alice0')
  expect([begin('carol', 2), open.size]).toEqual([['begun', 'all'], 64])
})

it('cancels a task that runs, and no other', () => {
  const open = new RunningTasks()
  const begun = ['a', 'b'].map(id => open.begin(id, `context of ${id}`, of('alice')))
  const isCancelled = begun.map(each => () => 'cancelled' in each && each.cancelled.aborted)
  expect([open.cancel('a'), open.cancel('x'), isCancelled.map(each => each())]).toEqual([
    'context of a',
    undefined,
    [true, false],
  ])
})

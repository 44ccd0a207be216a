import { expect, it } from 'vitest'
import { OpenTasks } from '../../src/bridge/open-tasks.ts'

it('runs 64 tools of an agent at once, and no more until one has ended', () => {
  const open = new OpenTasks()
  const begun = Array.from({ length: 65 }, (_, index) => open.begin(`t${index}`, 'c') !== undefined)
  open.end('t0')
  expect([begun.filter(Boolean).length, begun.at(-1), open.begin('t65', 'c') !== undefined, open.size]).toEqual([
    64,
    false,
    true,
    64,
  ])
})

it('cancels a task that runs, and no other', () => {
  const open = new OpenTasks()
  const signals = ['a', 'b'].map(id => open.begin(id, `context of ${id}`))
  expect([open.cancel('a'), open.cancel('x'), signals.map(signal => signal?.aborted)]).toEqual([
    'context of a',
    undefined,
    [true, false],
  ])
})

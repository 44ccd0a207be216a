import { expect, it } from 'vitest'
import { RunningTasks } from '../../src/mcp-bridge/executor.ts'

const principal = (name: string) => ({ authenticated: true, name })

it('runs 16 tools of an agent at once, 12 of one caller, and the next one when one has ended', () => {
  const tasks = new RunningTasks()
  const begin = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => tasks.begin(`${name}${index}`, 'c', principal(name))).map(begun =>
      'exceeded' in begun ? begun.exceeded : 'begun',
    )
  expect([begin('alice', 13).at(-1), begin('bob', 5).at(-1), tasks.size]).toEqual(['principal', 'agent', 16])
  tasks.end('alice0')
  tasks.end('alice0')
  expect([begin('carol', 2), tasks.size]).toEqual([['begun', 'agent'], 16])
})

it('cancels a running task, and no other', () => {
  const tasks = new RunningTasks()
  const begun = ['a', 'b'].map(id => tasks.begin(id, `context of ${id}`, principal('alice')))
  expect([tasks.cancel('a'), tasks.cancel('x')]).toEqual(['context of a', undefined])
  expect(begun.map(each => 'signal' in each && each.signal.aborted)).toEqual([true, false])
})

import { describe, expect, it } from 'vitest'
import { History, type Write } from '../../../tools/soak/history.ts'

const write = (state: string | undefined, start: number, end: number, isAcknowledged = true): Write => ({
  state,
  start,
  end,
  isAcknowledged,
})

const historyOf = (...writes: Write[]): History => {
  const history = new History()
  for (const each of writes) history.add(each)
  return history
}

describe('the history of a resource', () => {
  it.each<[string, Write[], string | undefined, number]>([
    ['the newest write is stored', [write('a', 0, 1), write('b', 2, 3)], 'b', 0],
    ['an older write is stored', [write('a', 0, 1), write('b', 2, 3), write('c', 4, 5)], 'a', 2],
    ['nothing is stored', [write('a', 0, 1)], undefined, 1],
    ['nothing was written', [], undefined, 0],
    ['a removal is undone', [write('a', 0, 1), write(undefined, 2, 3)], 'a', 1],
    ['either of two concurrent writes is stored', [write('a', 0, 3), write('b', 1, 2)], 'a', 0],
    ['a write without an answer is stored', [write('a', 0, 1), write('b', 2, 3, false)], 'b', 0],
    ['a write without an answer is not stored', [write('a', 0, 1), write('b', 2, 3, false)], 'a', 0],
    ['a write without an answer undoes a later one', [write('b', 0, 1, false), write('a', 2, 3)], 'b', 1],
    ['a state that nobody wrote is stored', [write('a', 0, 1), write('b', 2, 3)], 'x', 2],
  ])('counts what is lost if %s', (_, writes, current, lost) => {
    expect(historyOf(...writes).countLost(current)).toBe(lost)
  })
})

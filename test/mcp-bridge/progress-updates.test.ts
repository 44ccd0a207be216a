import { beforeEach, describe, expect, it, vi } from 'vitest'
import { throttleProgress } from '../../src/mcp-bridge/executor.ts'

beforeEach(() => void vi.useFakeTimers())

describe('what is told of progress', () => {
  it.each([
    [{ progress: 3 }, '3'],
    [{ progress: 1, total: 3 }, '33 %'],
    [{ progress: 1, total: 0 }, '1'],
    [{ progress: 1, message: 'Looking' }, 'Looking'],
    [{ progress: 1, total: 4, message: ' Looking ' }, 'Looking (25 %)'],
    [{ progress: 1, message: 'x'.repeat(2_000) }, 'x'.repeat(1_000)],
  ])('%j', (progress, text) => {
    const told: string[] = []
    throttleProgress(each => told.push(each))(progress)
    expect(told).toEqual([text])
  })

  it('is twenty updates at once, and then one a second', () => {
    let told = 0
    const update = throttleProgress(() => told++)
    const counts = [0, 999, 1, 5_000, 60_000].map(passed => {
      vi.advanceTimersByTime(passed)
      for (let progress = 0; progress < 100; progress++) update({ progress })
      return told
    })
    expect(counts).toEqual([20, 20, 21, 26, 46])
  })
})

import { beforeEach, expect, it, vi } from 'vitest'
import { throttle } from '../../src/mcp-bridge/tool-bridge.ts'

beforeEach(() => void vi.useFakeTimers())

it('does the work at once, and for all news that come meanwhile once more', async () => {
  const work = vi.fn(async () => undefined)
  const news = throttle(work, 1_000)
  const told = [news(), news(), news()]
  await vi.advanceTimersByTimeAsync(999)
  expect(work).toHaveBeenCalledTimes(1)
  news()
  await vi.advanceTimersByTimeAsync(1_001)
  expect(work).toHaveBeenCalledTimes(2)
  await Promise.all(told)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(work).toHaveBeenCalledTimes(2)
  void news()
  expect(work).toHaveBeenCalledTimes(3)
})

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RefreshReport } from '../../src/sources/refresh.ts'

const now = Date.parse('2026-11-22T00:00:00Z')
const health = { checked: now - 300_000, ttl: 300 }

let revalidate: typeof import('../../src/sources/revalidate.ts').revalidate
let refresh: ReturnType<typeof vi.fn<(id: string, options: object) => Promise<RefreshReport>>>
let waiting: Promise<unknown>[]
let env: Env
const ctx = { waitUntil: (promise: Promise<unknown>) => waiting.push(promise) } as unknown as ExecutionContext

// Each test is an isolate of its own.
beforeEach(async () => {
  vi.useFakeTimers({ now })
  vi.resetModules()
  ;({ revalidate } = await import('../../src/sources/revalidate.ts'))
  waiting = []
  refresh = vi.fn(async () => ({ result: { outcome: 'unchanged' } }) as const)
  env = {
    REMOTE_CARDS: { getByName: (name: string) => ({ refresh: (...args: [string, object]) => refresh(...args), name }) },
  } as unknown as Env
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const calls = async (seconds = 0) => {
  vi.advanceTimersByTime(seconds * 1000)
  revalidate('a', health, env, ctx)
  await Promise.all(waiting)
  return refresh.mock.calls.length
}

describe('a reader of a remote card', () => {
  it('has it refreshed once it is older than its ttl, and does not wait for that', async () => {
    revalidate('a', { ...health, checked: now - 299_999 }, env, ctx)
    const before = waiting.length
    revalidate('a', health, env, ctx)
    expect([before, waiting.length, refresh.mock.calls]).toEqual([0, 1, [['a', {}]]])
  })

  it('asks at most once in half a minute', async () => {
    expect([await calls(), await calls(29), await calls(2)]).toEqual([1, 1, 2])
  })

  it('does not ask again before the card is due', async () => {
    refresh.mockResolvedValue({ result: { outcome: 'not-due', due: now + 90_000 } })
    expect([await calls(), await calls(89), await calls(2)]).toEqual([1, 1, 2])
  })

  it('is not disturbed by an object that is unavailable, which is logged', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue()
    refresh.mockRejectedValue(new Error('away'))
    await calls()
    expect(logged.mock.calls).toEqual([['{"event":"refresh-failed","agent":"a","error":"Error: away"}']])
  })
})

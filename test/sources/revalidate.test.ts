import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { RefreshReport } from '../../src/sources/refresh-card.ts'
import { revalidate } from '../../src/sources/start.ts'

const now = Date.parse('2026-11-22T00:00:00Z')
const health = { checked: now - 300_000, ttl: 300 }

// The isolate remembers agents, so each test has its own.
let id: string
let tests = 0
let refresh: ReturnType<typeof vi.fn<(id: string, options: object) => Promise<RefreshReport>>>
let background: Promise<unknown>[]
let env: Env
const ctx = { waitUntil: (promise: Promise<unknown>) => background.push(promise) } as unknown as ExecutionContext
beforeEach(() => {
  vi.useFakeTimers({ now })
  id = `revalidated-${++tests}`
  background = []
  refresh = vi.fn(async () => ({ result: { outcome: 'unchanged' } }) as const)
  const object = { refresh: (...args: [string, object]) => refresh(...args) }
  env = { REMOTE_CARDS: { getByName: (name: string) => (name === id ? object : undefined) } } as unknown as Env
})

/** Serves the card after some seconds, and returns how many refreshes have been requested so far. */
const serve = async (seconds = 0) => {
  vi.advanceTimersByTime(seconds * 1000)
  revalidate(id, health, env, ctx)
  await Promise.all(background)
  return refresh.mock.calls.length
}

describe('revalidate', () => {
  it('requests a refresh in the background once the card is older than its ttl', () => {
    revalidate(id, { ...health, checked: now - 299_999 }, env, ctx)
    expect(background).toEqual([])
    revalidate(id, health, env, ctx)
    expect([background.length, refresh.mock.calls]).toEqual([1, [[id, {}]]])
  })

  it('requests at most one refresh in 30 seconds', async () => {
    expect([await serve(), await serve(29), await serve(2)]).toEqual([1, 1, 2])
  })

  it('requests no refresh before the time that the last one returned', async () => {
    refresh.mockResolvedValue({ result: { outcome: 'not-due', due: now + 90_000 } })
    expect([await serve(), await serve(89), await serve(2)]).toEqual([1, 1, 2])
  })

  it('logs the failure of a refresh', async () => {
    const logError = vi.spyOn(console, 'error').mockReturnValue()
    refresh.mockRejectedValue(new Error('unavailable'))
    await serve()
    const line = `{"event":"refresh-failed","gen_ai.agent.id":"${id}","exception.message":"Error: unavailable"}`
    expect(logError.mock.calls).toEqual([[line]])
  })
})

import { describe, expect, it } from 'vitest'
import { poll, systemClock } from '../../cli/clock.ts'
import { createClock } from './workspace.ts'

describe('systemClock.sleep', () => {
  it.each(['before', 'while'])('returns when the signal is aborted %s it sleeps', async when => {
    const interruption = new AbortController()
    if (when === 'before') interruption.abort()
    const sleeping = systemClock.sleep(2 ** 30, interruption.signal)
    interruption.abort()
    expect(await sleeping).toBeUndefined()
  })

  it('waits without a signal', async () => {
    expect(await systemClock.sleep(1)).toBeUndefined()
  })
})

describe('poll', () => {
  const options = { clock: createClock(), timeoutMs: 1000, pauseMs: 100 }

  it.each([
    ['true once the check succeeds', 3, true, 3],
    ['false after the timeout', Number.POSITIVE_INFINITY, false, 11],
  ])('returns %s', async (_, succeedsAt, result, checks) => {
    let count = 0
    expect(await poll(async () => ++count >= succeedsAt, options)).toBe(result)
    expect(count).toBe(checks)
  })

  it('returns false without another check once the signal is aborted', async () => {
    const interruption = new AbortController()
    let count = 0
    const check = async () => {
      count++
      interruption.abort()
      return false
    }
    expect(await poll(check, { ...options, signal: interruption.signal })).toBe(false)
    expect(count).toBe(1)
  })
})

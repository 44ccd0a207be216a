import { setTimeout as delay } from 'node:timers/promises'

/** The time as commands see it. Tests pass their own, so that no test waits. */
export type Clock = {
  /** Milliseconds since 1970. */
  now: () => number
  /** Waits. Returns early if the signal is aborted. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** The real time. */
export const systemClock: Clock = {
  now: Date.now,
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal && { signal })
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  },
}

/** How `poll` waits. The pause doubles after each check, up to `maxPauseMs`. An aborted signal ends it. */
export type PollOptions = {
  clock: Clock
  timeoutMs: number
  pauseMs: number
  maxPauseMs?: number
  signal?: AbortSignal | undefined
}

/** Calls `check` until it returns true. Returns false once another pause would exceed the timeout. */
export const poll = async (
  check: () => Promise<boolean>,
  { clock, timeoutMs, pauseMs, maxPauseMs = pauseMs, signal }: PollOptions,
): Promise<boolean> => {
  const deadline = clock.now() + timeoutMs
  for (let pause = pauseMs; ; pause = Math.min(pause * 2, maxPauseMs)) {
    if (await check()) return true
    if (clock.now() + pause > deadline || signal?.aborted) return false
    await clock.sleep(pause, signal)
  }
}

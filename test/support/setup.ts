import { timingSafeEqual } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, vi } from 'vitest'
import { numRuns } from './cards/generated.ts'

fc.configureGlobal({ numRuns })

// workerd has this function in `crypto.subtle`, Node in `node:crypto`.
Object.assign(crypto.subtle, {
  timingSafeEqual: (left: ArrayBuffer, right: ArrayBuffer) => timingSafeEqual(Buffer.from(left), Buffer.from(right)),
})

// Files share a process, but no replaced clocks, functions and globals.
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  // Last: a mock of a replaced timer restores the replaced one.
  vi.useRealTimers()
})

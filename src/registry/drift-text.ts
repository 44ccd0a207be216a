import type { Drift } from '../card/drift.ts'

/** A row holds 2 MB at most, and a drift can be as large as the cards that it compares. In characters. */
const most = 64 * 1024

/** A drift as it is kept: of one that is too large the values are left out, and then the end. */
export const driftText = (drift: Drift): string => {
  const whole = JSON.stringify(drift)
  if (whole.length <= most) return whole
  let room = most
  const kept = drift
    .map(({ op, pointer }) => ({ op, pointer }))
    .filter(entry => {
      room -= JSON.stringify(entry).length + 1
      return room > 0
    })
  return JSON.stringify(kept)
}

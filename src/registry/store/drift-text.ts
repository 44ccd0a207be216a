import type { Drift } from '../../card/diff/drift.ts'

/** A row holds 2 MB at most, and a drift can be as large as the cards that it compares. In characters. */
const most = 64 * 1024

/** A drift as it is kept: of one that is too large the values are left out, and then the end; and it says so. */
export const serializeDrift = (drift: Drift): string => {
  const whole = JSON.stringify(drift)
  if (whole.length <= most) return whole
  let room = most - forMore
  const kept = drift.map(withoutValues).filter(entry => {
    room -= JSON.stringify(entry).length + 1
    return entry.op !== 'more' && room > 0
  })
  const count = drift.reduce((sum, entry) => sum + (entry.op === 'more' ? entry.count : 1), -kept.length)
  return JSON.stringify(count === 0 ? kept : [...kept, { op: 'more', pointer: '', count }])
}

/** What it takes to say how many more there are. */
const forMore = 64

const values = ['before', 'after'] as const

const withoutValues = (entry: Drift[number]): Drift[number] => {
  if (entry.op === 'more') return entry
  const { op, pointer } = entry
  const leftOut = values.filter(when => when in entry || entry.leftOut?.includes(when))
  return { op, pointer, ...(leftOut.length > 0 && { leftOut }) }
}

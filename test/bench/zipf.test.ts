import { describe, expect, it } from 'vitest'
import { zipf } from '../../bench/zipf.ts'

const drawn = (count: number, seed: number) => Array.from({ length: count }, zipf(100, seed))

describe('zipf', () => {
  it('draws a rank in proportion to one over its place', () => {
    const times = new Array<number>(100).fill(0)
    for (const rank of drawn(200_000, 1)) times[rank] = (times[rank] ?? 0) + 1
    const ratios = [1, 4, 9, 49].map(rank => (times[0] ?? 0) / (times[rank] ?? 0) / (rank + 1))
    for (const ratio of ratios) expect(Math.abs(ratio - 1)).toBeLessThan(0.1)
  })

  it('draws the same with the same seed, and otherwise with another', () => {
    expect(drawn(50, 1)).toEqual(drawn(50, 1))
    expect(drawn(50, 1)).not.toEqual(drawn(50, 2))
  })
})

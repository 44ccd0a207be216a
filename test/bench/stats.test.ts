import { describe, expect, it } from 'vitest'
import { compareBuilds, type Figure, interval, judge, median, ratios, verdictOf, zipf } from '../../bench/stats.ts'

describe('median', () => {
  it('is the middle sample, or the mean of the two in the middle, and leaves the samples as they are', () => {
    const samples = [3, 1, 2]
    expect(median(samples)).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(samples).toEqual([3, 1, 2])
  })
})

describe('interval', () => {
  it('contains the median of noisy samples and narrows with their number', () => {
    const noisy = (count: number) =>
      interval(Array.from({ length: count }, (_, index) => 1 + ((index * 7919) % 101) / 100))
    const [few, many] = [noisy(20), noisy(400)]
    expect(few.low).toBeLessThan(few.median)
    expect(few.high).toBeGreaterThan(few.median)
    expect(many.high - many.low).toBeLessThan(few.high - few.low)
  })

  it('is a point where all samples are equal', () => {
    expect(interval([0.9, 0.9, 0.9, 0.9])).toEqual({ median: 0.9, low: 0.9, high: 0.9 })
  })
})

describe('ratios', () => {
  it('are taken sample by sample, so that a machine that slows down during a run changes nothing', () => {
    expect(ratios([1, 2, 4, 8], [2, 4, 8, 16])).toEqual({ median: 0.5, low: 0.5, high: 0.5 })
  })
})

describe('compareBuilds', () => {
  it('returns the ratio of this build to the other one', () => {
    expect(
      compareBuilds('PUT', [
        [3, 3, 3],
        [2, 2, 2],
      ]),
    ).toEqual([
      {
        name: 'PUT, beside the other build',
        unit: 'ratio',
        value: { median: 1.5, low: 1.5, high: 1.5 },
        note: '3.00 ms beside 2.00 ms',
      },
    ])
  })

  it('returns nothing where there is one build', () => {
    expect(compareBuilds('PUT', [[3, 3, 3]])).toEqual([])
  })
})

describe('verdictOf', () => {
  it.each([
    [{ median: 0.95, low: 0.91, high: 0.99 }, { min: 0.9 }, 'pass'],
    [{ median: 0.91, low: 0.88, high: 0.94 }, { min: 0.9 }, 'inconclusive'],
    [{ median: 0.85, low: 0.82, high: 0.89 }, { min: 0.9 }, 'fail'],
    [{ median: 4, low: 3, high: 5 }, { max: 5 }, 'pass'],
    [{ median: 5, low: 4, high: 6 }, { max: 5 }, 'inconclusive'],
    [{ median: 7, low: 6, high: 8 }, { max: 5 }, 'fail'],
  ] as const)('compares %o with %o: %s', (value, bound, expected) => {
    expect(verdictOf(value, bound)).toBe(expected)
  })
})

describe('judge', () => {
  const figure = (value: number, more: Partial<Figure> = {}): Figure => ({
    name: 'host',
    unit: 'ratio',
    value: { median: value, low: value, high: value },
    ...more,
  })

  it.each([
    ['higher', 0.73, 'pass'],
    ['higher', 0.71, 'fail'],
    ['lower', 0.87, 'pass'],
    ['lower', 0.89, 'fail'],
  ] as const)(
    'allows a tenth less than the last good run, where %s is better: %d of 0.8 is a %s',
    (better, value, expected) => {
      expect(judge(figure(value, { better }), { host: 0.8 }).verdict).toBe(expected)
    },
  )

  it('gives no verdict on a figure for context or one that the last good run does not have', () => {
    expect(judge(figure(0.1), { host: 0.8 }).verdict).toBeUndefined()
    expect(judge(figure(0.1, { better: 'higher' }), {}).verdict).toBeUndefined()
  })

  it('prefers a bound of the figure itself', () => {
    expect(judge(figure(2, { better: 'lower', bound: { max: 3 } }), { host: 1 }).verdict).toBe('pass')
    expect(judge(figure(4, { bound: { max: 3 } }), {}).verdict).toBe('fail')
  })
})

describe('zipf', () => {
  const drawn = (count: number, seed: number) => Array.from({ length: count }, zipf(100, seed))

  it('draws a rank in proportion to one over its place', () => {
    const times = new Array<number>(100).fill(0)
    for (const rank of drawn(200_000, 1)) times[rank] = (times[rank] ?? 0) + 1
    const ratios = [1, 4, 9, 49].map(rank => (times[0] ?? 0) / (times[rank] ?? 0) / (rank + 1))
    for (const ratio of ratios) expect(Math.abs(ratio - 1)).toBeLessThan(0.1)
  })

  it('draws the same ranks with the same seed, and others with another seed', () => {
    expect(drawn(50, 1)).toEqual(drawn(50, 1))
    expect(drawn(50, 1)).not.toEqual(drawn(50, 2))
  })
})

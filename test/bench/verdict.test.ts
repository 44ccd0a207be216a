import { describe, expect, it } from 'vitest'
import { verdict } from '../../bench/bound.ts'
import { interval } from '../../bench/interval.ts'

describe('interval', () => {
  it('holds the median of noisy samples, and narrows with their number', () => {
    const noisy = (count: number) =>
      interval(Array.from({ length: count }, (_, index) => 1 + ((index * 7919) % 101) / 100))
    const [few, many] = [noisy(20), noisy(400)]
    expect(few.low).toBeLessThan(few.median)
    expect(few.high).toBeGreaterThan(few.median)
    expect(many.high - many.low).toBeLessThan(few.high - few.low)
  })

  it('is a point where nothing varies', () => {
    expect(interval([0.9, 0.9, 0.9, 0.9])).toEqual({ median: 0.9, low: 0.9, high: 0.9 })
  })
})

describe('verdict', () => {
  it.each([
    [{ median: 0.95, low: 0.91, high: 0.99 }, { least: 0.9 }, 'pass'],
    [{ median: 0.91, low: 0.88, high: 0.94 }, { least: 0.9 }, 'inconclusive'],
    [{ median: 0.85, low: 0.82, high: 0.89 }, { least: 0.9 }, 'fail'],
    [{ median: 4, low: 3, high: 5 }, { most: 5 }, 'pass'],
    [{ median: 5, low: 4, high: 6 }, { most: 5 }, 'inconclusive'],
    [{ median: 7, low: 6, high: 8 }, { most: 5 }, 'fail'],
  ] as const)('of %o by %o is %s', (value, bound, expected) => {
    expect(verdict(value, bound)).toBe(expected)
  })
})

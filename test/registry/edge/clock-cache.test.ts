import { describe, expect, it } from 'vitest'
import { ClockCache } from '../../../src/registry/edge/clock-cache.ts'

type Sized = { size: number }
const cacheOf = (...keys: string[]) => {
  const cache = new ClockCache<Sized>(100)
  for (const key of keys) cache.set(key, { size: 40 })
  return cache
}
/** Returns those of the one-letter `keys` that are in the cache. */
const cachedOf = (cache: ClockCache<Sized>, keys: string) => [...keys].filter(key => cache.get(key)).join('')

describe('ClockCache', () => {
  it('makes room for an item that grows while the cache is full', () => {
    const cache = new ClockCache<Sized>(10)
    for (const [key, size] of [
      ['a', 1],
      ['b', 9],
      ['a', 2],
    ] as const)
      cache.set(key, { size })
    expect([cache.get('a'), cache.get('b')]).toStrictEqual([{ size: 2 }, undefined])
  })

  it('fills its limit, and evicts no more than it must', () => {
    const cache = new ClockCache<Sized>(100)
    for (const [key, size] of Object.entries({ a: 60, b: 40, c: 60 })) cache.set(key, { size })
    expect(cachedOf(cache, 'abc')).toBe('bc')
    cache.set('d', { size: 100 })
    expect(cachedOf(cache, 'bcd')).toBe('d')
  })

  it('evicts the oldest item that has not been read since, or the oldest of all', () => {
    for (const [read, left] of [
      ['a', 'ac'],
      ['ab', 'bc'],
    ] as const) {
      const cache = cacheOf('a', 'b')
      cachedOf(cache, read)
      cache.set('c', { size: 40 })
      expect(cachedOf(cache, 'abc')).toBe(left)
    }
  })

  it('keeps an item that is read again and again, however many others are added', () => {
    const cache = cacheOf('a')
    for (let index = 0; index < 100; index++) {
      cache.get('a')
      cache.set(`other-${index}`, { size: 40 })
    }
    expect(cachedOf(cache, 'a')).toBe('a')
  })

  it('stores no item larger than the cache, and deletes the previous item of that key', () => {
    const cache = cacheOf('a', 'b')
    cache.set('a', { size: 101 })
    cache.set('c', { size: 40 })
    expect(cachedOf(cache, 'abc')).toBe('bc')
  })
})

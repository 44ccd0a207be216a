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
  it('never exceeds its size limit', () => {
    const cache = new ClockCache<Sized>(1000)
    for (let index = 0; index < 5000; index++) {
      cache.set(`key-${(index * 31) % 97}`, { size: (index * 7919) % 400 })
      if (index % 3 === 0) cache.get(`key-${index % 97}`)
      if (index % 500 === 499) {
        const sizes = Array.from({ length: 97 }, (_, key) => cache.get(`key-${key}`)?.size ?? 0)
        const total = sizes.reduce((sum, size) => sum + size)
        expect(total).toBeLessThanOrEqual(1000)
        expect(total).toBeGreaterThan(500)
      }
    }
  })

  it('counts a key once, however often it is set', () => {
    const cache = cacheOf('a', 'a', 'a')
    cache.set('b', { size: 40 })
    expect(cachedOf(cache, 'ab')).toBe('ab')
  })

  it('evicts the oldest item that has not been read since', () => {
    const cache = cacheOf('a', 'b')
    cache.get('a')
    cache.set('c', { size: 40 })
    expect(cachedOf(cache, 'abc')).toBe('ac')
  })

  it('evicts an item for a new one even when all have been read', () => {
    const cache = cacheOf('a', 'b')
    cachedOf(cache, 'ab')
    cache.set('c', { size: 40 })
    expect(cachedOf(cache, 'abc')).toBe('bc')
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

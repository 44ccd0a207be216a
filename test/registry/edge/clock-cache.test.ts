import { describe, expect, it } from 'vitest'
import { ClockCache } from '../../../src/registry/edge/clock-cache.ts'

type Sized = { size: number }
const memoryOf = (...keys: string[]) => {
  const memory = new ClockCache<Sized>(100)
  for (const key of keys) memory.set(key, { size: 40 })
  return memory
}
const held = (memory: ClockCache<Sized>, keys: string) => [...keys].filter(key => memory.get(key)).join('')

describe('Memory', () => {
  it('never holds more than it may', () => {
    const memory = new ClockCache<Sized>(1000)
    for (let index = 0; index < 5000; index++) {
      memory.set(`key-${(index * 31) % 97}`, { size: (index * 7919) % 400 })
      if (index % 3 === 0) memory.get(`key-${index % 97}`)
      if (index % 500 === 499) {
        const sizes = Array.from({ length: 97 }, (_, key) => memory.get(`key-${key}`)?.size ?? 0)
        const total = sizes.reduce((sum, size) => sum + size)
        expect(total).toBeLessThanOrEqual(1000)
        expect(total).toBeGreaterThan(500)
      }
    }
  })

  it('counts a key once, however often it is set', () => {
    const memory = memoryOf('a', 'a', 'a')
    memory.set('b', { size: 40 })
    expect(held(memory, 'ab')).toBe('ab')
  })

  it('drops the oldest that was not read since', () => {
    const memory = memoryOf('a', 'b')
    memory.get('a')
    memory.set('c', { size: 40 })
    expect(held(memory, 'abc')).toBe('ac')
  })

  it('makes room for a newcomer even where all was read', () => {
    const memory = memoryOf('a', 'b')
    held(memory, 'ab')
    memory.set('c', { size: 40 })
    expect(held(memory, 'abc')).toBe('bc')
  })

  it('keeps what is read again and again, however many pass by', () => {
    const memory = memoryOf('a')
    for (let index = 0; index < 100; index++) {
      memory.get('a')
      memory.set(`passer-${index}`, { size: 40 })
    }
    expect(held(memory, 'a')).toBe('a')
  })

  it('does not hold what is larger than all of it, and forgets what was under that key', () => {
    const memory = memoryOf('a', 'b')
    memory.set('a', { size: 101 })
    memory.set('c', { size: 40 })
    expect(held(memory, 'abc')).toBe('bc')
  })
})

import { describe, expect, it } from 'vitest'
import { Memory } from '../../src/registry/memory.ts'

const entry = (bytes: number) => ({ bytes })
const filled = (...keys: string[]) => {
  const memory = new Memory<{ bytes: number }>(100)
  for (const key of keys) memory.set(key, entry(40))
  return memory
}
const held = (memory: Memory<{ bytes: number }>, keys: string) => [...keys].filter(key => memory.get(key)).join('')

describe('Memory', () => {
  it('never holds more bytes than it may', () => {
    const memory = new Memory<{ bytes: number }>(1000)
    for (let index = 0; index < 500; index++) {
      memory.set(`key-${index % 37}`, entry((index * 7919) % 400))
      expect(memory.bytes).toBeLessThanOrEqual(1000)
    }
  })

  it('counts a key once, however often it is set', () => {
    const memory = filled('a', 'a', 'a')
    expect([memory.bytes, held(memory, 'a')]).toEqual([40, 'a'])
  })

  it('drops the oldest that was not read since', () => {
    const memory = filled('a', 'b')
    memory.get('a')
    memory.set('c', entry(40))
    expect(held(memory, 'abc')).toBe('ac')
  })

  it('keeps what was read over a newcomer, once', () => {
    const memory = filled('a', 'b')
    held(memory, 'ab')
    memory.set('c', entry(40))
    memory.set('d', entry(40))
    expect([memory.bytes, held(memory, 'abcd')]).toEqual([80, 'bd'])
  })

  it('does not hold what is larger than all of it, and forgets what was under that key', () => {
    const memory = filled('a', 'b')
    memory.set('a', entry(101))
    expect([memory.bytes, held(memory, 'ab')]).toEqual([40, 'b'])
  })
})

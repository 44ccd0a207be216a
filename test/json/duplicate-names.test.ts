import { describe, expect, it } from 'vitest'
import { findDuplicateName, hasDuplicateName } from '../../src/json/duplicate-names.ts'
import { growth, linear } from '../support/cpu-time.ts'

describe('a name that an object has twice', () => {
  it('is found with its pointer and line, and only within one object', () => {
    for (const [text, pointer, line] of [
      ['{"a":1,"a":2}', '/a', 1],
      ['{"a":{"b":1},\n"a":2}', '/a', 2],
      ['{"card":{"skills":[{"id":"a"},\n{"id":"b",\n"id":"c"}]}}', '/card/skills/1/id', 3],
      ['[[],{"x":[],"x":{}}]', '/1/x', 1],
      ['{"a":1,"\\u0061":2}', '/a', 1],
      ['{"a/b~":1,"a/b~":2}', '/a~1b~0', 1],
      ['{"":1,"":2}', '/', 1],
      ['{"__proto__":1,"__proto__":2}', '/__proto__', 1],
      ['{"\\"":1, "\\"" :2}', '/"', 1],
      ['{"a":"}","b":"\\\\","a":[1,2,"a"]}', '/a', 1],
      ['{"a":{"a":{"a":1}},"b":["a","a",{"a":"a"}]}'],
      ['[{"a":1},{"a":1}]'],
      ['{"a":"\\",\\"a\\":1","A":1}'],
      ['"a"'],
      ['["a","a"]'],
      ['{}'],
    ] as [string, string?, number?][]) {
      expect([text, findDuplicateName(text)]).toEqual([text, pointer === undefined ? undefined : { pointer, line }])
      expect(hasDuplicateName(text, JSON.parse(text)), text).toBe(pointer !== undefined)
    }
  })

  it('is found in linear time', () => {
    const object = (size: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: size }, (_, n) => [n, [n]])))
    const texts = new Map([100, 1000].map(size => [size, object(size)]))
    expect(growth(100, size => findDuplicateName(texts.get(size) ?? ''))).toBeLessThan(linear)
    expect(growth(100, size => hasDuplicateName(`["${'\\\\'.repeat(100 * size)}","\\":"]`, []))).toBeLessThan(linear)
  })
})

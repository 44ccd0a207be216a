import { describe, expect, it } from 'vitest'
import { formatPointer, type Json, jsonEntries, jsonEquals, parsePointer } from '../../src/json/json.ts'
import { canonicalJson, collectStrings } from '../../src/json/tree.ts'

describe('jsonEquals', () => {
  it('compares values in any order of members, an undefined one as if it were missing', () => {
    for (const [left, right, equal] of [
      [1, 1, true],
      [1, '1', false],
      [null, undefined, false],
      [null, {}, false],
      [[], {}, false],
      [[1, 2], [1, 2], true],
      [[1, 2], [2, 1], false],
      [[1], [1, 2], false],
      [{ a: 1, b: { c: [] } }, { b: { c: [] }, a: 1 }, true],
      [{ a: 1 }, { a: 2 }, false],
      [{ a: 1 }, { b: 1 }, false],
      [{ a: 1, b: undefined }, { a: 1 }, true],
      [{ a: undefined }, { b: undefined }, true],
      [{ a: undefined }, { a: null }, false],
      [JSON.parse('{"toString":1}'), {}, false],
    ] as [Json | undefined, Json | undefined, boolean][]) {
      const results = [jsonEquals(left, right), jsonEquals(right, left)]
      expect([left, right, ...results]).toStrictEqual([left, right, equal, equal])
    }
  })
})

describe('jsonEntries', () => {
  it('leaves out undefined members', () => {
    expect(jsonEntries({ a: undefined, b: null })).toStrictEqual([['b', null]])
  })
})

describe('parsePointer and formatPointer', () => {
  it('convert a pointer to its tokens and back', () => {
    for (const [pointer, ...tokens] of [[''], ['/', ''], ['/a~1b/m~0n/0', 'a/b', 'm~n', '0'], ['/~01', '~1']]) {
      expect(parsePointer(pointer ?? '')).toStrictEqual(tokens)
      expect(formatPointer(...tokens)).toBe(pointer)
    }
  })
})

describe('collectStrings', () => {
  it('returns every string with the name of its member and its pointer', () => {
    const strings = collectStrings({ a: 'x', list: ['y', { 'b/c': 'z' }], n: 1 })
    expect(strings.map(({ value, name, pointer }) => [value, name, pointer()].join())).toEqual([
      ...['x,a,/a', 'y,list,/list/0', 'z,b/c,/list/1/b~1c'],
    ])
  })
})

describe('canonicalJson', () => {
  it('serializes as RFC 8785 does', () => {
    const values = [
      { b: 1, a: [true, null, 'é\u0001"'] },
      { '\ufb33': 1, '😀': 2, é: 3 },
      { a: undefined, b: { d: 1, c: 2 } },
    ]
    expect(values.map(value => canonicalJson(value))).toEqual([
      ...['{"a":[true,null,"é\\u0001\\""],"b":1}', '{"é":3,"😀":2,"\ufb33":1}', '{"b":{"c":2,"d":1}}'],
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { formatPointer, type Json, jsonEntries, jsonEquals, parsePointer } from '../../src/json/json.ts'
import { collectStrings } from '../../src/json/tree.ts'

describe('jsonEquals', () => {
  it.each<[Json | undefined, Json | undefined, boolean]>([
    [1, 1, true],
    [1, '1', false],
    [null, undefined, false],
    [null, {}, false],
    [[], {}, false],
    [[1, 2], [1, 2], true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [{ a: 1, b: { c: [] } }, { b: { c: [] }, a: 1 }, true],
    [{ a: 1 }, { b: 1 }, false],
    [{ a: 1, b: undefined }, { a: 1 }, true],
    [{ a: undefined }, { b: undefined }, true],
    [{ a: undefined }, { a: null }, false],
    [JSON.parse('{"toString":1}'), {}, false],
  ])('compares %j and %j: %s', (left, right, equal) => {
    expect([jsonEquals(left, right), jsonEquals(right, left)]).toStrictEqual([equal, equal])
  })
})

describe('jsonEntries', () => {
  it('leaves out undefined members', () => {
    expect(jsonEntries({ a: undefined, b: null })).toStrictEqual([['b', null]])
  })
})

describe('parsePointer and formatPointer', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['/', ['']],
    ['/a~1b/m~0n/0', ['a/b', 'm~n', '0']],
    ['/~01', ['~1']],
  ])('convert %j from and to the tokens %j', (pointer, tokens) => {
    expect([parsePointer(pointer), formatPointer(...tokens)]).toStrictEqual([tokens, pointer])
  })
})

describe('collectStrings', () => {
  it('returns every string with the name of its member and its pointer', () => {
    const strings = collectStrings({ a: 'x', list: ['y', { 'b/c': 'z' }], n: 1 })
    expect(strings.map(({ value, name, pointer }) => [value, name, pointer()])).toStrictEqual([
      ['x', 'a', '/a'],
      ['y', 'list', '/list/0'],
      ['z', 'b/c', '/list/1/b~1c'],
    ])
  })
})

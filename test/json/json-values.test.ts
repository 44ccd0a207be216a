import { describe, expect, it } from 'vitest'
import {
  formatPointer,
  type Json,
  type JsonObject,
  jsonEntries,
  jsonEquals,
  parsePointer,
} from '../../src/json/json.ts'
import { collectStrings, mergePatch } from '../../src/json/tree.ts'

describe('equality of JSON values', () => {
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
  ])('of %j and %j is %s', (left, right, equal) => {
    expect([jsonEquals(left, right), jsonEquals(right, left)]).toStrictEqual([equal, equal])
  })
})

describe('members that are undefined', () => {
  const object: JsonObject = { a: undefined, b: null }

  it('are not listed', () => {
    expect(jsonEntries(object)).toStrictEqual([['b', null]])
  })

  it('change nothing in a merge patch', () => {
    expect(mergePatch({ a: 1, b: 2 }, object)).toStrictEqual({ a: 1 })
  })
})

describe('a JSON Pointer', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['/', ['']],
    ['/a~1b/m~0n/0', ['a/b', 'm~n', '0']],
    ['/~01', ['~1']],
  ])('%j has the tokens %j', (pointer, tokens) => {
    expect([parsePointer(pointer), formatPointer(...tokens)]).toStrictEqual([tokens, pointer])
  })
})

it('collects strings with the name of their member and their pointer', () => {
  const strings = collectStrings({ a: 'x', list: ['y', { 'b/c': 'z' }], n: 1 })
  expect(strings.map(({ value, name, pointer }) => [value, name, pointer()])).toStrictEqual([
    ['x', 'a', '/a'],
    ['y', 'list', '/list/0'],
    ['z', 'b/c', '/list/1/b~1c'],
  ])
})

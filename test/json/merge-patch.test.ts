import fc from 'fast-check'
import reference from 'json-merge-patch'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/json/json.ts'
import { mergePatch } from '../../src/json/tree.ts'

const copy = <Value extends Json>(value: Value): Value => JSON.parse(JSON.stringify(value))

describe('a JSON Merge Patch', () => {
  // RFC 7396, appendix A.
  it.each<[Json, Json, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('makes of %j with %j: %j', (target, patch, expected) => {
    expect(mergePatch(target, patch)).toStrictEqual(expected)
  })

  it('makes what the reference implementation makes, and changes neither', () => {
    // The reference looks members up carelessly: names of Object.prototype are not for it.
    const name = fc.constantFrom('a', 'b', 'name', 'skills', 'ü/~', '0')
    const { json } = fc.letrec<{ json: Json }>(tie => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Json>(null, true, 0, 'x'),
        fc.array(tie('json'), { maxLength: 2 }),
        fc.dictionary(name, tie('json'), { maxKeys: 3 }).map(object => ({ ...object })),
      ),
    }))
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const [before, beforePatch] = [copy(target), copy(patch)]
        expect(mergePatch(target, patch)).toStrictEqual(reference.apply(copy(target) as object, copy(patch) as object))
        expect([target, patch]).toStrictEqual([before, beforePatch])
      }),
    )
  })

  it.each(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString'])('takes %s for a name', name => {
    const patched = mergePatch(
      JSON.parse(`{"${name}": {"a": 1}, "b": 2}`),
      JSON.parse(`{"${name}": {"c": 3}, "b": null}`),
    )
    expect(JSON.stringify(patched)).toBe(`{"${name}":{"a":1,"c":3}}`)
    expect(({} as Record<string, unknown>).c).toBeUndefined()
  })
})

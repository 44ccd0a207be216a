import fc from 'fast-check'
import reference from 'json-merge-patch'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/json/json.ts'
import { mergePatch } from '../../src/json/tree.ts'

const copy = <Value extends Json>(value: Value): Value => JSON.parse(JSON.stringify(value))

describe('mergePatch', () => {
  it('does what the examples of RFC 7396 do, appendix A', () => {
    for (const [target, patch, expected] of [
      [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
      [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
      [{ a: 'b' }, { a: null }, {}],
      [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
      [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
      [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
      [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
      [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
      [['a'], ['c', 'd'], ['c', 'd']],
      [{ a: 'b' }, ['c'], ['c']],
      [{ a: 'foo' }, null, null],
      [{ a: 'foo' }, 'bar', 'bar'],
      [{ e: null }, { a: 1 }, { e: null, a: 1 }],
      [[1, 2], { a: 'b', c: null }, { a: 'b' }],
      [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ] as [Json, Json, Json][])
      expect([target, patch, mergePatch(target, patch)]).toStrictEqual([target, patch, expected])
  })

  it('returns the result of the reference implementation, and changes neither argument', () => {
    // The reference implementation also finds inherited members, so no name here is a member of Object.prototype.
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

  it('ignores undefined members', () => {
    expect(mergePatch({ a: 1, b: 2 }, { a: undefined, b: null })).toStrictEqual({ a: 1 })
  })

  it('treats names of members that each object inherits as plain names', () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString']) {
      const [target, patch] = [`{"${name}": {"a": 1}, "b": 2}`, `{"${name}": {"c": 3}, "b": null}`].map(text =>
        JSON.parse(text),
      )
      expect(JSON.stringify(mergePatch(target, patch))).toBe(`{"${name}":{"a":1,"c":3}}`)
      expect(({} as Record<string, unknown>).c).toBeUndefined()
    }
  })
})

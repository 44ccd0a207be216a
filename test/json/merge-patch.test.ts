import fc from 'fast-check'
import reference from 'json-merge-patch'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/json/json.ts'
import { mergePatch } from '../../src/json/tree.ts'

const copy = <Value extends Json>(value: Value): Value => JSON.parse(JSON.stringify(value))

describe('mergePatch', () => {
  // The examples of RFC 7396, appendix A
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
  ])('changes %j with the patch %j to %j', (target, patch, expected) => {
    expect(mergePatch(target, patch)).toStrictEqual(expected)
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

  it.each(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString'])(
    'treats %s as a plain member name',
    name => {
      const patched = mergePatch(
        JSON.parse(`{"${name}": {"a": 1}, "b": 2}`),
        JSON.parse(`{"${name}": {"c": 3}, "b": null}`),
      )
      expect(JSON.stringify(patched)).toBe(`{"${name}":{"a":1,"c":3}}`)
      expect(({} as Record<string, unknown>).c).toBeUndefined()
    },
  )
})

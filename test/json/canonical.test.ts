import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/json/canonical.ts'

describe('canonicalJson', () => {
  it.each([
    [{ b: 1, a: [true, null, 'é\u0001"'] }, '{"a":[true,null,"é\\u0001\\""],"b":1}'],
    [{ '\ufb33': 1, '😀': 2, é: 3 }, '{"é":3,"😀":2,"\ufb33":1}'],
    [{ a: undefined, b: { d: 1, c: 2 } }, '{"b":{"c":2,"d":1}}'],
  ])('serializes %j as RFC 8785 does', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })
})

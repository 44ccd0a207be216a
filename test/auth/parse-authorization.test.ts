import { describe, expect, it } from 'vitest'
import { parseAuthorization } from '../../src/auth/authenticate.ts'
import { growth, linear } from '../support/cpu-time.ts'

const of = (...values: string[]) => {
  const headers = new Headers()
  for (const value of values) headers.append('Authorization', value)
  return parseAuthorization(headers)
}
const bearer = (token: string) => ({ scheme: 'bearer', token })

describe('the Authorization header', () => {
  it.each([
    ['none', [], { scheme: 'none' }],
    ['empty', [''], { scheme: 'none' }],
    ['a bearer token', ['Bearer abc'], bearer('abc')],
    ['whatever its case', ['bEARER abc'], bearer('abc')],
    ['spaces between', ['Bearer   abc  '], bearer('abc')],
    ['a token with commas', ['Bearer a,b'], bearer('a,b')],
    ['no token', ['Bearer'], { scheme: 'unrecognized' }],
    ['no space', ['Bearerabc'], { scheme: 'unrecognized' }],
    ['another scheme', ['Basic dTpw'], { scheme: 'unrecognized' }],
    ['a scheme with parameters', ['Digest username="u", realm="r"'], { scheme: 'unrecognized' }],
    ['a token alone', ['abc'], { scheme: 'unrecognized' }],
    ['two headers', ['Bearer a', 'Bearer b'], { scheme: 'several' }],
    ['the same header twice', ['Bearer a', 'Bearer a'], { scheme: 'several' }],
    ['a bearer token behind another scheme', ['Basic dTpw', 'Bearer a'], { scheme: 'several' }],
    ['another scheme behind a bearer token', ['Bearer a', 'Basic dTpw'], { scheme: 'several' }],
    ['two in one', ['Bearer a,Bearer b'], { scheme: 'several' }],
    ['two words', ['Bearer a b'], { scheme: 'several' }],
    ['8,192 characters', [`Bearer ${'a'.repeat(8192)}`], bearer('a'.repeat(8192))],
    ['more', [`Bearer ${'a'.repeat(8193)}`], { scheme: 'unrecognized' }],
  ])('%s', (_, values, expected) => {
    expect(of(...values)).toEqual(expected)
  })

  it('is read in linear time', () => {
    for (const text of [',', ' ,', '\t', 'Bearer', ',Bearer'])
      expect(growth(10_000, size => of(`x${text.repeat(size)}x`))).toBeLessThan(linear)
  })
})

import { describe, expect, it } from 'vitest'
import { parseAuthorization } from '../../src/auth/authenticate.ts'
import { growth, linear } from '../support/cpu-time.ts'

const parse = (...values: string[]) => {
  const headers = new Headers()
  for (const value of values) headers.append('Authorization', value)
  return parseAuthorization(headers)
}
const bearer = (token: string) => ({ scheme: 'bearer', token })

describe('parseAuthorization', () => {
  it.each([
    ['no header', [], { scheme: 'none' }],
    ['an empty header', [''], { scheme: 'none' }],
    ['a bearer token', ['Bearer abc'], bearer('abc')],
    ['a scheme in mixed case', ['bEARER abc'], bearer('abc')],
    ['several spaces', ['Bearer   abc  '], bearer('abc')],
    ['a token with commas', ['Bearer a,b'], bearer('a,b')],
    ['a scheme without a token', ['Bearer'], { scheme: 'unrecognized' }],
    ['a scheme without a space', ['Bearerabc'], { scheme: 'unrecognized' }],
    ['another scheme', ['Basic dTpw'], { scheme: 'unrecognized' }],
    ['a scheme with parameters', ['Digest username="u", realm="r"'], { scheme: 'unrecognized' }],
    ['a token without a scheme', ['abc'], { scheme: 'unrecognized' }],
    ['two headers', ['Bearer a', 'Bearer b'], { scheme: 'several' }],
    ['the same header twice', ['Bearer a', 'Bearer a'], { scheme: 'several' }],
    ['a bearer token behind another scheme', ['Basic dTpw', 'Bearer a'], { scheme: 'several' }],
    ['another scheme behind a bearer token', ['Bearer a', 'Basic dTpw'], { scheme: 'several' }],
    ['two tokens in one header', ['Bearer a,Bearer b'], { scheme: 'several' }],
    ['two words after the scheme', ['Bearer a b'], { scheme: 'several' }],
    ['a token of 8,192 characters', [`Bearer ${'a'.repeat(8192)}`], bearer('a'.repeat(8192))],
    ['a longer token', [`Bearer ${'a'.repeat(8193)}`], { scheme: 'unrecognized' }],
  ])('parses %s', (_, values, expected) => {
    expect(parse(...values)).toEqual(expected)
  })

  it('takes linear time', () => {
    for (const text of [',', ' ,', '\t', 'Bearer', ',Bearer'])
      expect(growth(10_000, size => parse(`x${text.repeat(size)}x`))).toBeLessThan(linear)
  })
})

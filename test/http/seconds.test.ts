import { expect, it } from 'vitest'
import { parseSeconds } from '../../src/http/bindings.ts'

it.each([
  ['0.3', 0.3],
  ['1', 1],
  ['86400', 86_400],
  ['86401', 60],
  ['1e300', 60],
  ['Infinity', 60],
  ['0', 60],
  ['-1', 60],
  ['soon', 60],
  ['', 60],
])('%j seconds are %d', (text, expected) => {
  expect(parseSeconds(text, 60)).toBe(expected)
})

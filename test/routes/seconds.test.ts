import { expect, it } from 'vitest'
import { seconds } from '../../src/http/bindings.ts'

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
  expect(seconds(text, 60)).toBe(expected)
})

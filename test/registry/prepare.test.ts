import { expect, it } from 'vitest'
import { fitsInRow } from '../../src/registry/prepare.ts'

it.each([
  ['the maximum', ['a'.repeat(1_900_000), ''], true],
  ['a byte more than the maximum', ['', 'a'.repeat(1_900_001)], false],
  ['a text within the maximum in characters but not in bytes', ['€'.repeat(700_000)], false],
  ['no text', [], true],
])('fitsInRow measures %s', (_, texts, expected) => {
  expect(fitsInRow(texts)).toBe(expected)
})

import { expect, it } from 'vitest'
import { fitsInRow } from '../../src/registry/prepare.ts'

it.each([
  ['as much as fits', ['a'.repeat(1_900_000), ''], true],
  ['a byte more', ['', 'a'.repeat(1_900_001)], false],
  ['what fits by its characters, but not by its bytes', ['€'.repeat(700_000)], false],
  ['nothing', [], true],
])('a row of the Registry has room for %s, or not', (_, texts, expected) => {
  expect(fitsInRow(texts)).toBe(expected)
})

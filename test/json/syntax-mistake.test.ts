import { expect, it } from 'vitest'
import { findSyntaxMistake } from '../../src/json/syntax-mistake.ts'

const text = '{"a": ["x", {}, [[], "y"]], "b\\u0041": {"c": ""}}'

it('finds the end of a text that ends early, or the beginning of a string without an end', () => {
  for (let length = 1; length < text.length; length++) {
    const { column } = findSyntaxMistake(text.slice(0, length))
    expect(text.slice(column - 1, length), text.slice(0, length)).toMatch(/^(?:"[^"]*|\\(?:u\d*)?)?$/)
  }
})

it('finds the place, in any line, where a text has a character too many', () => {
  for (let at = 0; at <= text.length; at++) {
    const { line, column } = findSyntaxMistake(`\n\r\n${text.slice(0, at)}\u0001${text.slice(at)}`)
    // An escape is invalid from its beginning.
    expect([line, text.slice(column - 1, at)], text.slice(0, at)).toEqual([3, expect.stringMatching(/^(?:\\u?\d*)?$/)])
  }
})

it.each([
  '{"password": hunter2}',
  'hunter2',
  '{"password": "hunter2" "a"}',
  '{"password": "hunter2',
  "{'hunter2': 1}",
  '{"a": "hunter2\\x"}',
  '{"a": 1}\nhunter2',
])('quotes no word of the text, which may be a secret: %s', text => {
  expect(findSyntaxMistake(text).message).toMatch(/^This is not JSON\. (?!.*unter2)/)
})

it('finds where a text becomes too deep', () => {
  const message = 'The document nests deeper than 64 levels.'
  expect(findSyntaxMistake(`[\n${'['.repeat(100_000)}`)).toEqual({ line: 2, column: 65, message })
})

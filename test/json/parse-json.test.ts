import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/json/parse.ts'
import { findSyntaxMistake } from '../../src/json/syntax-mistake.ts'

const nestArrays = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

describe('parseJson', () => {
  it('returns a value of up to 64 levels', () => {
    for (const [text, value] of [
      ['{"a":1}', { a: 1 }],
      ['\uFEFF{"a":1}', { a: 1 }],
      ['{"a":"[[[{{{ \\" ]"}', { a: '[[[{{{ " ]' }],
    ] as const)
      expect(parseJson(text), text).toStrictEqual({ value })
    expect(parseJson(nestArrays(64))).toHaveProperty('value')
  })

  it('describes what is wrong with a text, and what is expected', () => {
    for (const [text, message, what] of [
      ['', /^The body is empty; expected a card or a manifest as JSON\./],
      ['<!doctype html>', /^This is HTML or XML, not JSON\./],
      ['{"a":1,}', /^This is not JSON\. .+/],
      ['---\nname: A', /^This is not JSON\. /, 'a call'],
    ] as [string, RegExp, string?][])
      expect(parseJson(text, what)).toStrictEqual({ refused: 'not-json', detail: expect.stringMatching(message) })
  })

  it('rejects more levels without a stack overflow', () => {
    const refused = { refused: 'too-deep', detail: 'The document nests deeper than 64 levels.' }
    for (const levels of [65, 1_000_000])
      expect([parseJson(nestArrays(levels)), parseJson('{"a":'.repeat(levels))]).toStrictEqual([refused, refused])
  })
})

describe('a mistake in JSON', () => {
  const text = '{"a": ["x", {}, [[], "y"]], "b\\u0041": {"c": ""}}'

  it('is at the end of a text that ends early, or at the beginning of a string without an end', () => {
    for (let length = 1; length < text.length; length++) {
      const { column } = findSyntaxMistake(text.slice(0, length))
      expect(text.slice(column - 1, length), text.slice(0, length)).toMatch(/^(?:"[^"]*|\\(?:u\d*)?)?$/)
    }
  })

  it('is at the place, in any line, where a text has a character too many', () => {
    for (let at = 0; at <= text.length; at++) {
      const { line, column } = findSyntaxMistake(`\n\r\n${text.slice(0, at)}\u0001${text.slice(at)}`)
      // An escape is invalid from its beginning.
      expect([line, text.slice(column - 1, at)], text.slice(0, at)).toEqual([
        3,
        expect.stringMatching(/^(?:\\u?\d*)?$/),
      ])
    }
  })

  it('is at the place where a text becomes too deep', () => {
    const message = 'The document nests deeper than 64 levels.'
    expect(findSyntaxMistake(`[\n${'['.repeat(100_000)}`)).toEqual({ line: 2, column: 65, message })
  })

  it('says what to do about what people write by mistake', () => {
    const hints = [
      ['<<<<<<< HEAD\n{}', 'Resolve this Git conflict: keep one of the two versions'],
      ['{\n=======', 'Resolve this Git conflict: keep one of the two versions'],
      ['<html>', 'This is HTML or XML, not a card'],
      [
        'name: A',
        'This looks like YAML or Markdown: name the file .yaml or .md. A host accepts JSON (sync-card converts it)',
      ],
      ['{"a": 1 # x\n}', 'Remove this comment: JSON has none'],
      ['{{x}}', 'Replace this template by its value'],
      ['{\u00a0"a":1}', 'Remove this invisible character'],
      ['{"a":1,}', 'Remove the comma before this bracket'],
      ['[1,]', 'Remove the comma before this bracket'],
      ['{,}', 'Remove this comma'],
      ['[,1]', 'Remove this comma'],
      ['[NaN]', 'Write null or a number'],
      ['[True]', 'Write true, false or null, in lowercase letters'],
      ['[+1]', 'Write the number as in 5, -0.5 or 1e3'],
      ["{'a':1}", 'Write this in straight double quotes, as in "name": "Weather"'],
      ['[a]', 'Write this in straight double quotes, as in "name": "Weather"'],
      ['{:1}', 'Write a name in double quotes here, as in "name": "Weather"'],
      ['[:', 'Write a value here, as in "name": "Weather"'],
      ['{"a" 1}', 'Write a colon before this, as in "name": "Weather"'],
      ['{"a":1 "b":2}', 'Write a comma before this'],
      ['{"a":"x\ty"}', 'Write a tab as \\t'],
      ['{"a":"\\x"}', 'Write a backslash as \\\\'],
      ['{"a":"x', 'Close this text with ": a line break in it is written as \\n'],
      ['{"a":1}}', 'Remove this: each agent has a document of its own'],
      ['["a"', 'Write ] here: the [ of line 1 is open'],
    ]
    const found = hints.map(([text = '']) => [text, findSyntaxMistake(text).message])
    expect(found).toEqual(hints.map(([text, hint]) => [text, `This is not JSON. ${hint}.`]))
  })

  it('quotes no word of the text, which may be a secret', () => {
    for (const text of [
      '{"password": hunter2}',
      '{"a": "b" "password": "hunter2"}',
      '{"password": "hunter2" "a"}',
      '{"password": "hunter2',
      "{'hunter2': 1}",
      '{"a": "hunter2\\x"}',
      '{"a": 1}\nhunter2',
    ]) {
      expect(findSyntaxMistake(text).message, text).toMatch(/^This is not JSON\. (?!.*unter2)/)
      expect(JSON.stringify(parseJson(text)), text).toMatch(/^(?!.*unter2).*This is not JSON\. \w/)
    }
  })
})

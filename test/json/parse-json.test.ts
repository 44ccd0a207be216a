import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/json/parse.ts'

const nestArrays = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

describe('parseJson with valid JSON', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['\uFEFF{"a":1}', { a: 1 }],
    ['{"a":"[[[{{{ \\" ]"}', { a: '[[[{{{ " ]' }],
  ])('returns the value of %j', (text, value) => {
    expect(parseJson(text)).toStrictEqual({ value })
  })

  it('accepts 64 levels of nesting', () => {
    expect(parseJson(nestArrays(64))).toHaveProperty('value')
  })
})

describe('parseJson with an invalid document', () => {
  it.each([
    ['', /^The body is empty; expected a card or a manifest as JSON\./],
    ['<!doctype html>', /^This is HTML or XML, not JSON\./],
    ['{"a":1,}', /^This is not JSON\. .+/],
  ])('describes what is wrong with %j', (text, message) => {
    expect(parseJson(text)).toStrictEqual({ refused: 'not-json', detail: expect.stringMatching(message) })
  })

  it.each([
    '{"password": hunter2}',
    '{"name": "a", "description": "b", "password": hunter2, "url": "https://a.example.com/a2a", "skills": []}',
    'hunter2',
    '{"a": "b" "password": "hunter2"}',
  ])('does not quote it: %s', text => {
    expect(JSON.stringify(parseJson(text))).toMatch(/^(?!.*unter2).*This is not JSON\. \w/)
  })

  it.each([
    ['', /^The body is empty; expected a call as JSON\.$/],
    ['---\nname: A', /^This is not JSON\. /],
  ])('does not mention cards where it expects a call: %j', (text, message) => {
    expect(parseJson(text, 'a call')).toStrictEqual({ refused: 'not-json', detail: expect.stringMatching(message) })
  })

  it.each([65, 1_000_000])('rejects %i levels of nesting without a stack overflow', levels => {
    const refused = { refused: 'too-deep', detail: 'The document nests deeper than 64 levels.' }
    expect([parseJson(nestArrays(levels)), parseJson('{"a":'.repeat(levels))]).toStrictEqual([refused, refused])
  })
})

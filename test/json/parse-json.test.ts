import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/json/parse.ts'

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

describe('text that is JSON', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['\uFEFF{"a":1}', { a: 1 }],
    ['{"a":"[[[{{{ \\" ]"}', { a: '[[[{{{ " ]' }],
  ])('%j is read', (text, value) => {
    expect(parseJson(text)).toStrictEqual({ value })
  })

  it('nests up to 64 levels', () => {
    expect(parseJson(nested(64))).toHaveProperty('value')
  })
})

describe('text that is not', () => {
  it.each([
    ['', /^The body is empty; expected a card or a manifest as JSON\./],
    ['<!doctype html>', /^This is HTML or XML, not JSON\./],
    ['---\nname: A\n---', /^This looks like YAML or Markdown; this host accepts JSON \(sync-card converts it\)\./],
    ['{"a":1,}', /^This is not JSON\. .+/],
  ])('%j says what it is', (text, detail) => {
    expect(parseJson(text)).toStrictEqual({ refused: 'not-json', detail: expect.stringMatching(detail) })
  })

  it.each([
    ['', /^The body is empty; expected a call as JSON\.$/],
    ['---\nname: A', /^This is not JSON\. /],
  ])('%j says nothing of cards to whoever sends something else', (text, detail) => {
    expect(parseJson(text, 'a call')).toStrictEqual({ refused: 'not-json', detail: expect.stringMatching(detail) })
  })

  it.each([65, 1_000_000])('nesting of %i levels is refused before anything recurses into it', levels => {
    const refused = { refused: 'too-deep', detail: 'The document nests deeper than 64 levels.' }
    expect([parseJson(nested(levels)), parseJson('{"a":'.repeat(levels))]).toStrictEqual([refused, refused])
  })
})

import { parse } from 'content-type'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { intersects, MediaRanges, parseMediaRange } from '../../src/json/media-type.ts'

describe('parseMediaRange', () => {
  it('reads the type and its parameters', () => {
    for (const [text, ...parameters] of [
      ['text/plain'],
      ['text/plain;'],
      ['text/plain ; Charset = UTF-8 ', ['charset', 'utf-8']],
      ['text/plain;a="x;y, z=\\"1\\"";b=2', ['a', 'x;y, z="1"'], ['b', '2']],
      ['text/plain;a=1;a=2', ['a', '1']],
      ['text/plain;flag;a=1', ['a', '1']],
      ['text/plain;a=', ['a', '']],
      ['text/plain;a=1;q=0.5', ['a', '1']],
      ['text/plain;__proto__=1;constructor=2', ['__proto__', '1'], ['constructor', '2']],
    ] as [string, ...[string, string][]][]) {
      const parsed = parseMediaRange(text)
      const expected = { range: 'text/plain', parameters, excluded: false, isValid: true }
      expect({ text, ...parsed, parameters: [...parsed.parameters].sort() }).toStrictEqual({ text, ...expected })
    }
  })

  it('reads the words that stand for a kind of media types', () => {
    const words = ['*', 'text', 'image', 'audio', 'video', 'other']
    const ranges = ['*/*', 'text/*', 'image/*', 'audio/*', 'video/*', 'other']
    expect(words.map(word => parseMediaRange(word).range)).toEqual(ranges)
  })

  it('agrees with the content-type package of Node servers', () => {
    const token = fc.stringMatching(/^[a-z0-9!#$&^_.+-]{1,8}$/)
    const value = fc.oneof(
      token,
      fc.stringMatching(/^[ -~]{0,8}$/).map(text => `"${text.replace(/["\\]/g, '\\$&')}"`),
    )
    const header = fc
      .tuple(token, token, fc.array(fc.tuple(token, value, fc.constantFrom('', ' ', '\t')), { maxLength: 4 }))
      .map(([type, subtype, parameters]) =>
        [`${type}/${subtype}`, ...parameters.map(([name, value, space]) => `${space}${name}${space}=${value}`)].join(
          ';',
        ),
      )
    fc.assert(
      fc.property(header, text => {
        const { type, parameters } = parse(text)
        const { q: _, ...others } = parameters
        expect(parseMediaRange(text)).toMatchObject({ range: type })
        expect(Object.fromEntries(parseMediaRange(text).parameters)).toStrictEqual(
          Object.fromEntries(Object.entries(others).map(([name, value]) => [name, value.toLowerCase()])),
        )
      }),
    )
  })
})

describe('MediaRanges', () => {
  it('finds the ranges that intersect another one, as a comparison with each does', () => {
    const segment = fc.constantFrom('*', 'text', 'image', 'a', 'b', '', 'a/*', '*/*')
    const range = fc
      .tuple(segment, fc.option(segment), fc.constantFrom('', ';a=1', ';a=2', ';b=1', ';a=1;b=2'))
      .map(([type, subtype, parameters]) =>
        parseMediaRange((subtype === null ? type : `${type}/${subtype}`) + parameters),
      )
    fc.assert(
      fc.property(fc.array(range, { maxLength: 6 }), range, (ranges, other) => {
        const expected = ranges.some(each => intersects(each, other))
        expect(new MediaRanges(ranges).intersects(other)).toBe(expected)
      }),
      { numRuns: 2000 },
    )
  })
})

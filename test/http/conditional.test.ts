import { describe, expect, it } from 'vitest'
import {
  isNotModified,
  matchesIfNoneMatch,
  parsePrecondition,
  preconditionHolds,
  sha256Hex,
  strongEtag,
} from '../../src/http/conditional.ts'

describe('parsePrecondition', () => {
  it('parses If-Match, and an asterisk in If-None-Match', () => {
    for (const [headers, expected] of [
      [{}, {}],
      [{ 'If-Match': '"a"' }, { ifMatch: ['"a"'] }],
      [{ 'If-Match': '"a" , W/"b",*' }, { ifMatch: ['"a"', 'W/"b"', '*'] }],
      [{ 'If-None-Match': ' * ' }, { absent: true }],
      [
        { 'If-Match': '*', 'If-None-Match': '*' },
        { ifMatch: ['*'], absent: true },
      ],
    ] as [Record<string, string>, object][])
      expect(parsePrecondition(new Headers(headers))).toEqual(expected)
    const rejection = expect.objectContaining({ code: 'bad-condition' })
    for (const value of ['"a"', '', '*, "a"'])
      expect(() => parsePrecondition(new Headers({ 'If-None-Match': value })), value).toThrow(rejection)
  })
})

describe('preconditionHolds', () => {
  it('compares strongly with the entity tags of what exists', () => {
    for (const [precondition, etags, expected] of [
      [{}, undefined, true],
      [{}, ['"a"'], true],
      [{ absent: true }, undefined, true],
      [{ absent: true }, ['"a"'], false],
      [{ ifMatch: ['*'] }, ['"a"'], true],
      [{ ifMatch: ['*'] }, undefined, false],
      [{ ifMatch: ['"b"'] }, ['"a"', '"b"'], true],
      [{ ifMatch: ['"x"', '"a"'] }, ['"a"'], true],
      [{ ifMatch: ['"x"'] }, ['"a"'], false],
      [{ ifMatch: ['W/"a"'] }, ['"a"'], false],
      [{ ifMatch: ['*'], absent: true }, ['"a"'], false],
      [{ ifMatch: ['*'], absent: true }, undefined, false],
    ] as [object, string[] | undefined, boolean][])
      expect([precondition, etags, preconditionHolds(precondition, etags)]).toEqual([precondition, etags, expected])
  })
})

describe('matchesIfNoneMatch', () => {
  it('compares weakly with one entity tag', () => {
    const matches = (header: string | null) => matchesIfNoneMatch(header, '"a"')
    expect(['"a"', ' * ', 'W/"a"', '"b", "a"', '"b",W/"a"'].filter(header => !matches(header))).toEqual([])
    expect([null, '', '"b"', 'a', '"aa"'].filter(matches)).toEqual([])
  })
})

describe('strongEtag and sha256Hex', () => {
  it('return the SHA-256 of a text in hexadecimal, and in quotes', async () => {
    const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(await sha256Hex('abc')).toBe(sha256)
    expect(await strongEtag(new TextEncoder().encode('abc'))).toBe(`"${sha256}"`)
  })
})

describe('isNotModified', () => {
  it('is true for the same entity tag, or without one for the same date, of a caller without a token', () => {
    const modified = 'Sun, 06 Nov 1994 08:49:37 GMT'
    for (const [headers, expected] of [
      [{}, false],
      [{ 'If-None-Match': 'W/"a"' }, true],
      [{ 'If-Modified-Since': modified }, true],
      // The obsolete forms of a date (§5.6.7).
      [{ 'If-Modified-Since': 'Sunday, 06-Nov-94 08:49:37 GMT' }, true],
      [{ 'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:36 GMT' }, false],
      // The URL may have had a card that changed later: that of another agent.
      [{ 'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:38 GMT' }, false],
      [{ 'If-Modified-Since': 'yesterday' }, false],
      [{ 'If-Modified-Since': '' }, false],
      [{ 'If-None-Match': '"b"', 'If-Modified-Since': modified }, false],
      // The caller may get another card than everybody.
      [{ Authorization: 'Bearer x', 'If-Modified-Since': modified }, false],
    ] as [Record<string, string>, boolean][])
      expect([headers, isNotModified(new Headers(headers), { etag: '"a"', modified })]).toEqual([headers, expected])
  })
})

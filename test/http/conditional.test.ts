import { describe, expect, it } from 'vitest'
import {
  isNotModified,
  matchesIfNoneMatch,
  type Precondition,
  parsePrecondition,
  preconditionHolds,
  sha256Hex,
  strongEtag,
} from '../../src/http/conditional.ts'

describe('parsePrecondition', () => {
  it.each<[Record<string, string>, Precondition]>([
    [{}, {}],
    [{ 'If-Match': '"a"' }, { ifMatch: ['"a"'] }],
    [{ 'If-Match': '"a" , W/"b",*' }, { ifMatch: ['"a"', 'W/"b"', '*'] }],
    [{ 'If-None-Match': ' * ' }, { absent: true }],
    [
      { 'If-Match': '*', 'If-None-Match': '*' },
      { ifMatch: ['*'], absent: true },
    ],
  ])('parses %j', (headers, expected) => {
    expect(parsePrecondition(new Headers(headers))).toEqual(expected)
  })

  it.each(['"a"', '', '*, "a"'])('rejects If-None-Match: %s', value => {
    const headers = new Headers({ 'If-None-Match': value })
    expect(() => parsePrecondition(headers)).toThrow(expect.objectContaining({ status: 400, code: 'bad-condition' }))
  })
})

describe('preconditionHolds', () => {
  it.each<[Precondition, string[] | undefined, boolean]>([
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
  ])('for %j and the entity tags %j is %s', (precondition, etags, expected) => {
    expect(preconditionHolds(precondition, etags)).toBe(expected)
  })
})

describe('matchesIfNoneMatch', () => {
  it.each([
    [null, false],
    ['', false],
    ['"a"', true],
    [' * ', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['"b",W/"a"', true],
    ['"b"', false],
    ['a', false],
    ['"aa"', false],
  ])('for the entity tag "a" and the header %j is %s', (header, expected) => {
    expect(matchesIfNoneMatch(header, '"a"')).toBe(expected)
  })
})

describe('strongEtag', () => {
  it('returns the quoted SHA-256 of the bytes', async () => {
    const bytes = new TextEncoder().encode('abc')
    expect(await strongEtag(bytes)).toBe(`"${await sha256Hex(bytes)}"`)
  })
})

describe('sha256Hex', () => {
  it('returns the SHA-256 of a text in hexadecimal', async () => {
    expect(await sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})

describe('isNotModified', () => {
  const stored = { etag: '"a"', modified: 'Sun, 06 Nov 1994 08:49:37 GMT' }

  it.each<[Record<string, string>, boolean]>([
    [{}, false],
    [{ 'If-None-Match': 'W/"a"' }, true],
    [{ 'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT' }, true],
    // The obsolete forms of a date (§5.6.7).
    [{ 'If-Modified-Since': 'Sunday, 06-Nov-94 08:49:37 GMT' }, true],
    [{ 'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:36 GMT' }, false],
    // The URL may have had a card that changed later: that of another agent.
    [{ 'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:38 GMT' }, false],
    [{ 'If-Modified-Since': 'yesterday' }, false],
    [{ 'If-Modified-Since': '' }, false],
    [{ 'If-None-Match': '"b"', 'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT' }, false],
    // The caller may get another card than everybody.
    [{ Authorization: 'Bearer x', 'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT' }, false],
  ])('evaluates %j: %s', (headers, expected) => {
    expect(isNotModified(new Headers(headers), stored)).toBe(expected)
  })
})

import { describe, expect, it } from 'vitest'
import {
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

import { describe, expect, it } from 'vitest'
import { parseExtensions, parseVersion, versionForError } from '../../src/a2a/service-parameters.ts'

const none: string[] = []

describe('parseVersion', () => {
  it.each([
    [null, none, undefined],
    ['', none, undefined],
    [' ', [''], undefined],
    [',', none, undefined],
    ['0.3', none, '0.3'],
    ['0.3.0', none, '0.3'],
    ['0.2', none, '0.3'],
    ['0.2.6', none, '0.3'],
    ['1.0', none, '1.0'],
    ['1.0.1', none, '1.0'],
    [' 1.0 ', none, '1.0'],
    ['1.0, 1.0', none, '1.0'],
    ['1.0, 1.0.1', none, '1.0'],
    ['1.0,', none, '1.0'],
    ['0.2, 0.3', none, '0.3'],
    [null, ['1.0'], '1.0'],
    [null, ['0.3', '0.3'], '0.3'],
    ['', ['1.0.1'], '1.0'],
    ['1.0', ['1.0'], '1.0'],
    ['1.0', [''], '1.0'],
  ])('reads the header %j and the query %j as %s', (header, query, version) => {
    expect(parseVersion(header, query)).toStrictEqual({ version })
  })

  it.each([
    ['9.9', none, '9.9'],
    ['1', none, '1'],
    ['v1.0', none, 'v1.0'],
    ['1.0-beta', none, '1.0-beta'],
    ['1.1', none, '1.1'],
    ['0.1', none, '0.1'],
    ['0.4', none, '0.4'],
    ['00.3', none, '00.3'],
    ['latest', none, 'latest'],
    ['0.3, 1.0', none, '0.3, 1.0'],
    ['1.0, 9.9', none, '1.0, 9.9'],
    ['9.9, 9.9.1', none, '9.9'],
    ['0.3', ['1.0'], '0.3, 1.0'],
    [null, ['0.3', '1.0'], '0.3, 1.0'],
    [null, ['9.9'], '9.9'],
    ['1.0', ['toString'], '1.0, toString'],
  ])('rejects the header %j and the query %j', (header, query, offered) => {
    expect(parseVersion(header, query)).toStrictEqual({ kind: 'version', offered, accepted: ['0.3', '1.0'] })
  })
})

describe('versionForError', () => {
  it.each([
    ['0.3', 'SendMessage', '0.3'],
    ['1.0', 'message/send', '1.0'],
    [null, 'message/send', '0.3'],
    [null, 'SendMessage', '1.0'],
    [null, '', '0.3'],
    [null, undefined, '0.3'],
    ['9.9', undefined, '1.0'],
    ['9.9', 'SendMessage', '1.0'],
    ['9.9', 'message/send', '0.3'],
  ])('for the version %j and the method %j is %s', (header, method, version) => {
    expect(versionForError(parseVersion(header), method)).toBe(version)
  })
})

describe('parseExtensions', () => {
  it.each([
    [[null, null], []],
    [['', ' , '], []],
    [['https://a.example/x'], ['https://a.example/x']],
    [['https://a.example/x, https://a.example/y,https://a.example/x'], ['https://a.example/x', 'https://a.example/y']],
    [
      ['https://a.example/x', 'https://a.example/y'],
      ['https://a.example/x', 'https://a.example/y'],
    ],
  ])('reads the headers %j as %j', (headers, extensions) => {
    expect(parseExtensions(...headers)).toStrictEqual(extensions)
  })

  it('returns at most 200 extensions', () => {
    expect(parseExtensions(Array.from({ length: 1000 }, (_, index) => `urn:${index}`).join(','))).toHaveLength(200)
  })
})

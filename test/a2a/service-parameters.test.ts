import { describe, expect, it } from 'vitest'
import { parseExtensions, parseVersion, versionForError } from '../../src/a2a/service-parameters.ts'

describe('parseVersion', () => {
  const versionOf = (header: string | null, ...query: string[]) => {
    const parsed = parseVersion(header, query)
    return 'kind' in parsed ? parsed : (parsed.version ?? 'none')
  }
  const all = (...headers: (string | null)[]) => new Set(headers.map(header => versionOf(header)))

  it('reads the header and the query', () => {
    expect(all(null, '', ',')).toEqual(new Set(['none']))
    expect(all('0.3', '0.3.0', '0.2', '0.2.6', '0.2, 0.3')).toEqual(new Set(['0.3']))
    expect(all('1.0', '1.0.1', ' 1.0 ', '1.0, 1.0', '1.0, 1.0.1', '1.0,')).toEqual(new Set(['1.0']))
    expect([
      ...[versionOf(' ', ''), versionOf(null, '1.0'), versionOf(null, '0.3', '0.3'), versionOf('', '1.0.1')],
      ...[versionOf('1.0', '1.0'), versionOf('1.0', '')],
    ]).toEqual(['none', '1.0', '0.3', '1.0', '1.0', '1.0'])
  })

  it('rejects other versions, and several', () => {
    const rejected = (offered: string) => ({ kind: 'version', offered, accepted: ['0.3', '1.0'] })
    const other = ['9.9', '1', 'v1.0', '1.0-beta', '1.1', '0.1', '0.4', '00.3', 'latest', '0.3, 1.0', '1.0, 9.9']
    for (const header of other) expect(versionOf(header)).toStrictEqual(rejected(header))
    expect(versionOf('9.9, 9.9.1')).toStrictEqual(rejected('9.9'))
    expect(versionOf('0.3', '1.0')).toStrictEqual(rejected('0.3, 1.0'))
    expect(versionOf(null, '0.3', '1.0')).toStrictEqual(rejected('0.3, 1.0'))
    expect(versionOf(null, '9.9')).toStrictEqual(rejected('9.9'))
    expect(versionOf('1.0', 'toString')).toStrictEqual(rejected('1.0, toString'))
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

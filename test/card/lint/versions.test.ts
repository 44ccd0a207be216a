import { expect, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

const notSemver = 'version-semver warning /version'
const unknown = 'protocol-version-unknown warning /protocolVersion'

it.each<[Json | undefined, string[]]>([
  [undefined, []],
  [null, []],
  ['1.0', [notSemver]],
  ['v1.0.0', [notSemver]],
  ['1.0.0.0', [notSemver]],
  ['01.0.0', [notSemver]],
  ['latest', [notSemver]],
  [2, [notSemver]],
  ['1.0.0', []],
  ['0.1.0-rc.1+build.5', []],
])('version %j: %j', (version, expected) => {
  expect(formatIssues(lintFields({ version }))).toEqual(expected)
})

it.each<[Json | undefined, string[]]>([
  [undefined, []],
  ['2.0', [unknown]],
  ['0.4.0', [unknown]],
  ['a2a-v1', [unknown]],
  ['0.3', []],
  ['0.3.0', []],
  ['0.2.6', []],
  ['1.0', []],
  ['1.0.1', []],
  [1, []],
  ['2024-11-05', []],
])('protocolVersion %j: %j', (protocolVersion, expected) => {
  expect(formatIssues(lintFields({ protocolVersion }))).toEqual(expected)
})

it('asks each listed interface for its version', () => {
  const url = 'https://review.example.com/a2a'
  const supportedInterfaces = [
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'GRPC', protocolVersion: '3.0' },
    { url, protocolBinding: 'HTTP+JSON' },
  ]
  const fields = { supportedInterfaces, url: undefined, preferredTransport: undefined, protocolVersion: undefined }
  expect(formatIssues(lintFields(fields))).toEqual([
    'protocol-version-unknown warning /supportedInterfaces/1/protocolVersion',
  ])
})

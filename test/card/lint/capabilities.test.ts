import { expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

const both = { streaming: true, pushNotifications: true }
const impossible = [
  'capability-impossible warning /capabilities/streaming',
  'capability-impossible warning /capabilities/pushNotifications',
]
const undeclared = ['capability-undeclared info /capabilities']

it.each<[string, Json | undefined, string[]]>([
  ['none', undefined, undeclared],
  ['streaming only', { streaming: true }, undeclared],
  ['both', both, []],
  ['both false', { streaming: false, pushNotifications: false }, []],
  ['push in snake_case', { streaming: false, push_notifications: true }, []],
  ['a list of names', ['streaming'], undeclared],
  ['a list of both names', ['streaming', 'push_notifications'], []],
])('declared capabilities: %s', (_, capabilities, expected) => {
  expect(formatIssues(lintFields({ capabilities }))).toEqual(expected)
})

it.each<[string, JsonObject, JsonObject, string[]]>([
  ['only an MCP binding', { preferredTransport: 'MCP' }, {}, impossible],
  ["SuperX's MCP server", { protocol: 'mcp' }, {}, impossible],
  ['a closed route', {}, { route: 'closed' }, impossible],
  ['a gateway', {}, { route: 'gateway' }, []],
  ['GRPC', { preferredTransport: 'GRPC' }, {}, []],
  ['a binding of its own', { preferredTransport: 'https://example.com/bindings/websocket' }, {}, []],
  [
    'MCP beside JSONRPC',
    {
      preferredTransport: 'MCP',
      additionalInterfaces: [{ url: 'https://review.example.com/rpc', transport: 'JSONRPC' }],
    },
    {},
    [],
  ],
])('streaming and push declared with %s', (_, fields, manifest, expected) => {
  expect(formatIssues(lintFields({ capabilities: both, ...fields }, manifest))).toEqual(expected)
})

it('says nothing of flags that are false, where the route is closed', () => {
  const capabilities = { streaming: false, pushNotifications: false }
  expect(formatIssues(lintFields({ capabilities }, { route: 'closed' }))).toEqual([])
})

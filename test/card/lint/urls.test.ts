import { expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

const on = (rule: string) => [`${rule} /url`]

it.each<[string, string[]]>([
  ['https://review.example.com/a2a', []],
  ['https://8.8.8.8/a2a', []],
  ['http://review.example.com/a2a', on('insecure-url warning')],
  ['http://localhost:8000/', on('private-url error')],
  ['https://10.1.2.3/a2a', on('private-url error')],
  ['https://[fd00::1]/a2a', on('private-url error')],
  ['http://internal-agent:8001/a2a', on('private-url error')],
  ['https://superx.local/agents/x', on('private-url error')],
  ['https://review.example.com/.well-known/agent.json', on('endpoint-is-card error')],
  ['https://review.example.com/.well-known/agent-card.json?x=1', on('endpoint-is-card error')],
  ['https://review.example.com/.well-known/a2a', on('endpoint-is-card error')],
  ['https://review.example.com/cards/AGENT.JSON', on('endpoint-is-card error')],
  ['https://review.example.com/json', []],
  ['https://review.example.com/a2a?format=.json', []],
  ['https://your-agent-domain.com/a2a', on('placeholder-url warning')],
  ['https://yourcompany.com/a2a', on('placeholder-url warning')],
  ['https://api.your-company.io/a2a', on('placeholder-url warning')],
  ['https://changeme.dev/a2a', on('placeholder-url warning')],
  ['https://review.example.com/YOUR_AGENT_ID', on('placeholder-url warning')],
  ['https://review.example.com/agents/%7Bid%7D', on('placeholder-url warning')],
  ['https://your-agent.example.com/a2a', []],
  ['https://my-agent.example.com/book-your-table', []],
  ['https://yourmechanic.com/a2a', []],
])('an endpoint at %s: %j', (url, expected) => {
  expect(formatIssues(lintFields({ url }))).toEqual(expected)
})

it.each<[string, JsonObject, string[]]>([
  ['public', {}, on('private-url error')],
  ['closed', { route: 'closed' }, ['private-url error /url', 'capability-impossible warning /capabilities/streaming']],
  ['internal', { visibility: 'internal' }, []],
  ['behind the gateway', { route: 'gateway' }, []],
])('a private endpoint on a card that is %s', (_, manifest, expected) => {
  expect(formatIssues(lintFields({ url: 'http://10.0.0.7/a2a' }, manifest))).toEqual(expected)
})

const url = 'https://review.example.com/a2a'
const open = { securitySchemes: undefined }
it.each<[string, Record<string, Json | undefined>, string[]]>([
  [
    'an additional interface',
    { additionalInterfaces: [{ url: 'http://review.example.com/rest', transport: 'HTTP+JSON' }] },
    ['insecure-url warning /additionalInterfaces/0/url'],
  ],
  [
    'a listed interface',
    {
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: 'https://192.168.0.9/a2a', protocolBinding: 'GRPC', protocolVersion: '1.0' },
      ],
    },
    ['private-url error /supportedInterfaces/1/url'],
  ],
  [
    'a token endpoint',
    {
      ...open,
      securitySchemes: {
        bearer: {
          type: 'oauth2',
          flows: {
            clientCredentials: {
              tokenUrl: 'http://id.example.com/token',
              refreshUrl: 'https://id.local/r',
              scopes: {},
            },
          },
        },
      },
    },
    [
      'private-url error /securitySchemes/bearer/flows/clientCredentials/refreshUrl',
      'insecure-url warning /securitySchemes/bearer/flows/clientCredentials/tokenUrl',
    ],
  ],
])('looks at %s', (_, fields, expected) => {
  expect(formatIssues(lintFields(fields))).toEqual(expected)
})

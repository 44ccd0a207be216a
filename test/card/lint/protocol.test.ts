import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { cleanSkill } from '../../support/cards/cards.ts'
import { expectIssues, formatIssues, lintFields } from '../../support/cards/compile.ts'

type Fields = Record<string, Json | undefined>

describe('the linter on capabilities', () => {
  const both = { streaming: true, pushNotifications: true }
  const none = { streaming: false, pushNotifications: false }
  const undeclared = 'capability-undeclared info /capabilities'
  const impossible = [
    'capability-impossible warning /capabilities/streaming',
    'capability-impossible warning /capabilities/pushNotifications',
  ]

  it('reports capabilities that a card does not declare only where they would be assumed', () => {
    expectIssues([
      [{ capabilities: undefined }],
      [{ capabilities: { streaming: true } }],
      [{ capabilities: both }],
      [{ capabilities: none }],
      [{ capabilities: ['streaming'] }],
    ])
    /** The clean card without the marks of A2A 0.3. */
    const gopherhole = {
      protocolVersion: '1.0',
      preferredTransport: undefined,
      defaultInputModes: undefined,
      defaultOutputModes: undefined,
      supportedInputModes: ['text/plain'],
      supportedOutputModes: ['text/plain'],
    }
    expectIssues([
      [{ ...gopherhole, capabilities: undefined }, undeclared],
      [{ ...gopherhole, capabilities: { streaming: true } }, undeclared],
      [{ ...gopherhole, capabilities: both }],
      [{ ...gopherhole, capabilities: ['streaming'] }],
    ])
  })

  it('reports streaming and push notifications where no client can use them', () => {
    const rpc = { url: 'https://review.example.com/rpc', transport: 'JSONRPC' }
    expectIssues([
      [{ capabilities: both, preferredTransport: 'MCP' }, ...impossible],
      [{ capabilities: both, protocol: 'mcp' }, ...impossible],
      [{ capabilities: both, preferredTransport: 'GRPC' }],
      [{ capabilities: both, preferredTransport: 'https://example.com/bindings/websocket' }],
      [{ capabilities: both, preferredTransport: 'MCP', additionalInterfaces: [rpc] }],
    ])
    expectIssues([[{ capabilities: both }, ...impossible], [{ capabilities: none }]], { route: 'closed' })
    expectIssues([[{ capabilities: both }]], { route: 'gateway' })
  })
})

describe('the linter on versions', () => {
  it('reports a version that is not of Semantic Versioning', () => {
    expectIssues([
      ...[undefined, null, '1.0.0', '0.1.0-rc.1+build.5'].map((version): [Fields] => [{ version }]),
      ...['1.0', 'v1.0.0', '1.0.0.0', '01.0.0', 2].map((version): [Fields, string] => [
        { version },
        'version-semver warning /version',
      ]),
    ])
  })

  it('reports a version of the protocol that does not exist', () => {
    const known = [undefined, '0.3', '0.3.0', '0.2.6', '1.0', '1.0.1', 1, '2024-11-05']
    expectIssues([
      ...known.map((protocolVersion): [Fields] => [{ protocolVersion }]),
      ...['2.0', '0.4.0', 'a2a-v1'].map((protocolVersion): [Fields, string] => [
        { protocolVersion },
        'protocol-version-unknown warning /protocolVersion',
      ]),
    ])
    const url = 'https://review.example.com/a2a'
    const supportedInterfaces = [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'GRPC', protocolVersion: '3.0' },
      { url, protocolBinding: 'HTTP+JSON' },
    ]
    const fields = { supportedInterfaces, url: undefined, preferredTransport: undefined, protocolVersion: undefined }
    expectIssues([[fields, 'protocol-version-unknown warning /supportedInterfaces/1/protocolVersion']])
  })
})

describe('the linter on security', () => {
  const bearer = { type: 'http', scheme: 'bearer' }

  it('reports a required scheme that the card does not define', () => {
    const tokenUrl = 'https://id.example.com/token'
    const flows = {
      clientCredentials: { tokenUrl, scopes: {} },
      authorizationCode: { authorizationUrl: 'https://id.example.com/authorize', tokenUrl, scopes: {} },
    }
    expectIssues([
      [{ security: [{ bearer: [] }, { oauth: [] }] }, 'scheme-undefined error /security/1/oauth'],
      [{ security: { oauth: [] } }, 'scheme-undefined error /security/oauth'],
      [{ security: [{ toString: [] as never }] }, 'scheme-undefined error /security/0/toString'],
      [
        { security: undefined, securityRequirements: [{ schemes: { oauth: { list: [] } } }] },
        'scheme-undefined error /securityRequirements/0/schemes/oauth',
      ],
      [{ skills: [{ ...cleanSkill, security: [{ 'a/b': [] }] }] }, 'scheme-undefined error /skills/0/security/0/a~1b'],
      [{ skills: [{ ...cleanSkill, security: [{ bearer: ['read'] }] }] }],
      // The canonical card splits a scheme that has several flows.
      [{ securitySchemes: { oauth: { type: 'oauth2', flows } }, security: [{ oauth: [] }] }],
    ])
  })

  it('reports a required scheme of an unknown type', () => {
    const rows: [scheme: JsonObject, advice: string][] = [
      [{ type: 'bearer' }, 'write { "type": "http", "scheme": "bearer" }'],
      [{ type: 'Basic' }, 'write { "type": "http", "scheme": "basic" }'],
      [{}, 'use apiKey, http, oauth2, openIdConnect or mutualTLS'],
    ]
    const security = [{ 'k/1': [] }]
    for (const [scheme, advice] of rows)
      for (const required of [{ security }, { security: undefined, skills: [{ ...cleanSkill, security }] }]) {
        const message = `is of a type that A2A does not have: ${advice}`
        expect(lintFields({ securitySchemes: { bearer, 'k/1': scheme }, ...required })).toEqual([
          expect.objectContaining({
            rule: 'scheme-type-unknown',
            severity: 'error',
            pointer: '/securitySchemes/k~11',
            message,
          }),
        ])
      }
    expectIssues([[{ securitySchemes: { bearer, k: { type: 'jwt' } }, security: [{ bearer: [] }] }]])
  })

  it('reports a card that does not say how to authenticate', () => {
    const none = { securitySchemes: undefined, security: undefined }
    const provider = { organization: 'Acme', url: 'https://acme.example' }
    expectIssues([
      [none, 'security-undeclared info /securitySchemes'],
      [{ ...none, securitySchemes: { bearer } }],
      [{ ...none, authentication: { required: false, methods: [] }, provider }],
    ])
  })
})

describe('the linter on words for transports', () => {
  it('reports a word that it does not know, where nothing else names the transport', () => {
    const bare = { protocolVersion: undefined, preferredTransport: undefined }
    const listed = (item: JsonObject): Fields => ({
      ...bare,
      url: undefined,
      supportedInterfaces: [{ url: 'https://review.example.com/a2a', protocolVersion: '1.0', ...item }],
    })
    const rows: [Fields, ...pointers: string[]][] = [
      [{ ...bare, transport: 'websocket' }, '/transport'],
      [{ ...bare, protocol: 'websocket' }, '/protocol'],
      [{ ...bare, transport: { type: 'http' } }, '/transport'],
      [listed({ protocol: 'websocket' }), '/supportedInterfaces/0/protocol'],
      [{ ...bare, protocol: 'A2A' }],
      [{ ...bare, protocol: 'a2a/0.3' }],
      [{ ...bare, protocol: 'mcp', transport: { type: 'http' } }],
      [{ preferredTransport: 'JSONRPC', protocol: 'acp' }],
      [{ ...listed({ protocolBinding: 'JSONRPC' }), protocol: 'acp' }],
    ]
    for (const [fields, ...pointers] of rows) {
      const found = formatIssues(lintFields(fields)).filter(line => line.startsWith('transport-'))
      expect([fields, found]).toEqual([fields, pointers.map(pointer => `transport-unknown warning ${pointer}`)])
    }
  })
})

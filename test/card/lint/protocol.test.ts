import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { cleanSkill } from '../../support/cards/cards.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

describe('the linter on capabilities', () => {
  const bothFlags = { streaming: true, pushNotifications: true }
  const impossible = [
    'capability-impossible warning /capabilities/streaming',
    'capability-impossible warning /capabilities/pushNotifications',
  ]
  /** The clean card without the marks of A2A 0.3. */
  const gopherhole = {
    protocolVersion: '1.0',
    preferredTransport: undefined,
    defaultInputModes: undefined,
    defaultOutputModes: undefined,
    supportedInputModes: ['text/plain'],
    supportedOutputModes: ['text/plain'],
  }
  const undeclared = ['capability-undeclared info /capabilities']

  it.each<[string, Json | undefined, string[]]>([
    ['none', undefined, []],
    ['streaming only', { streaming: true }, []],
    ['both', bothFlags, []],
    ['both as false', { streaming: false, pushNotifications: false }, []],
    ['push in snake_case', { streaming: false, push_notifications: true }, []],
    ['a list of names', ['streaming'], []],
    ['a list of both names', ['streaming', 'push_notifications'], []],
  ])('checks a card that declares %s', (_, capabilities, expected) => {
    expect(formatIssues(lintFields({ capabilities }))).toEqual(expected)
  })

  it.each<[string, Json | undefined, string[]]>([
    ['none', undefined, undeclared],
    ['streaming only', { streaming: true }, undeclared],
    ['both', bothFlags, []],
    ['a list of names', ['streaming'], []],
  ])("checks a card in GopherHole's form that declares %s", (_, capabilities, expected) => {
    expect(formatIssues(lintFields({ ...gopherhole, capabilities }))).toEqual(expected)
  })

  it.each<[string, JsonObject, JsonObject, string[]]>([
    ['only an MCP binding', { preferredTransport: 'MCP' }, {}, impossible],
    ["SuperX's MCP server", { protocol: 'mcp' }, {}, impossible],
    ['a closed route', {}, { route: 'closed' }, impossible],
    ['a gateway', {}, { route: 'gateway' }, []],
    ['GRPC', { preferredTransport: 'GRPC' }, {}, []],
    ['a custom binding', { preferredTransport: 'https://example.com/bindings/websocket' }, {}, []],
    [
      'MCP beside JSONRPC',
      {
        preferredTransport: 'MCP',
        additionalInterfaces: [{ url: 'https://review.example.com/rpc', transport: 'JSONRPC' }],
      },
      {},
      [],
    ],
  ])('checks streaming and push notifications with %s', (_, fields, manifest, expected) => {
    expect(formatIssues(lintFields({ capabilities: bothFlags, ...fields }, manifest))).toEqual(expected)
  })

  it('allows flags that are false with a closed route', () => {
    const capabilities = { streaming: false, pushNotifications: false }
    expect(formatIssues(lintFields({ capabilities }, { route: 'closed' }))).toEqual([])
  })
})

describe('the linter on versions', () => {
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
  ])('checks the version %j: %j', (version, expected) => {
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
  ])('checks the protocolVersion %j: %j', (protocolVersion, expected) => {
    expect(formatIssues(lintFields({ protocolVersion }))).toEqual(expected)
  })

  it('checks the protocolVersion of each interface', () => {
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
})

describe('the linter on security', () => {
  const provider = { organization: 'Acme', url: 'https://acme.example' }
  const bearer = { type: 'http', scheme: 'bearer' }

  it.each<[string, Record<string, Json | undefined>, string[]]>([
    ['an unknown name', { security: [{ bearer: [] }, { oauth: [] }] }, ['scheme-undefined error /security/1/oauth']],
    [
      'an unknown name beside a known one',
      { security: [{ bearer: [], oauth: [] }] },
      ['scheme-undefined error /security/0/oauth'],
    ],
    ['an object in place of the list', { security: { oauth: [] } }, ['scheme-undefined error /security/oauth']],
    [
      'a name of a member of Object.prototype',
      { security: [{ toString: [] }] },
      ['scheme-undefined error /security/0/toString'],
    ],
    [
      'an unknown name in the format of v1.0',
      { security: undefined, securityRequirements: [{ schemes: { oauth: { list: [] } } }] },
      ['scheme-undefined error /securityRequirements/0/schemes/oauth'],
    ],
    [
      'an unknown name in a skill',
      { skills: [{ ...cleanSkill, security: [{ 'a/b': [] }] }] },
      ['scheme-undefined error /skills/0/security/0/a~1b'],
    ],
    ['a defined scheme in a skill', { skills: [{ ...cleanSkill, security: [{ bearer: ['read'] }] }] }, []],
    ['no requirement', { security: undefined }, []],
    ['an empty requirement, for anonymous calls', { security: [{}] }, []],
    [
      'a scheme that has several flows',
      {
        securitySchemes: {
          oauth: {
            type: 'oauth2',
            flows: {
              clientCredentials: { tokenUrl: 'https://id.example.com/token', scopes: {} },
              authorizationCode: {
                authorizationUrl: 'https://id.example.com/authorize',
                tokenUrl: 'https://id.example.com/token',
                scopes: {},
              },
            },
          },
        },
        security: [{ oauth: [] }],
      },
      [],
    ],
  ])('checks security with %s', (_, fields, expected) => {
    expect(formatIssues(lintFields(fields))).toEqual(expected)
  })

  it.each<[JsonObject, string]>([
    [{ type: 'bearer' }, 'write { "type": "http", "scheme": "bearer" }'],
    [{ type: 'Basic' }, 'write { "type": "http", "scheme": "basic" }'],
    [{ scheme: 'bearer' }, 'write { "type": "http", "scheme": "bearer" }'],
    [{ type: 'jwt' }, 'use apiKey, http, oauth2, openIdConnect or mutualTLS'],
    [{}, 'use apiKey, http, oauth2, openIdConnect or mutualTLS'],
  ])('reports the required scheme %j, whose type is unknown', (scheme, advice) => {
    const message = `is of a type that A2A does not have: ${advice}`
    const required = [
      { security: [{ 'k/1': [] }] },
      { security: undefined, skills: [{ ...cleanSkill, security: [{ 'k/1': [] }] }] },
    ]
    for (const fields of required)
      expect(lintFields({ securitySchemes: { bearer, 'k/1': scheme }, ...fields })).toEqual([
        { rule: 'scheme-type-unknown', severity: 'error', pointer: '/securitySchemes/k~11', message },
      ])
  })

  it('allows a scheme of an unknown type that nothing requires', () => {
    expect(lintFields({ securitySchemes: { bearer, k: { type: 'jwt' } }, security: [{ bearer: [] }] })).toEqual([])
  })

  it.each<[string, Record<string, Json | undefined>, string[]]>([
    ['no schemes', {}, ['security-undeclared info /securitySchemes']],
    ['an empty map of schemes', { securitySchemes: {} }, ['security-undeclared info /securitySchemes']],
    ['a scheme', { securitySchemes: { bearer } }, []],
    ["v0.2's authentication", { authentication: { schemes: ['bearer'] } }, []],
    ['in Telex that none is required', { authentication: { required: false, methods: [] }, provider }, []],
  ])('checks a card that declares %s', (_, fields, expected) => {
    expect(formatIssues(lintFields({ securitySchemes: undefined, security: undefined, ...fields }))).toEqual(expected)
  })
})

describe('the linter on words for transports', () => {
  const bare = { protocolVersion: undefined, preferredTransport: undefined }
  const url = 'https://review.example.com/a2a'
  const listed = (item: JsonObject): Record<string, Json | undefined> => ({
    ...bare,
    url: undefined,
    supportedInterfaces: [{ url, protocolVersion: '1.0', ...item }],
  })
  const lintTransports = (fields: Record<string, Json | undefined>): string[] =>
    formatIssues(lintFields(fields)).filter(line => line.startsWith('transport-'))

  it.each<[string, Record<string, Json | undefined>, string[]]>([
    ['an unknown transport', { ...bare, transport: 'websocket' }, ['/transport']],
    ['an unknown protocol', { ...bare, protocol: 'websocket' }, ['/protocol']],
    ['a list', { ...bare, transport: ['rest'] }, ['/transport']],
    ['an object', { ...bare, transport: { type: 'http' } }, ['/transport']],
    ['an object as the protocol', { ...bare, protocol: { name: 'rest' } }, ['/protocol']],
    ['an unknown protocol of an interface', listed({ protocol: 'websocket' }), ['/supportedInterfaces/0/protocol']],
    ['a list of an interface', listed({ protocol: ['rest'] }), ['/supportedInterfaces/0/protocol']],
    ['the protocol A2A', { ...bare, protocol: 'A2A' }, []],
    ['the protocol A2A with its version', { ...bare, protocol: 'a2a/0.3' }, []],
    ['the protocol MCP', { ...bare, protocol: 'MCP' }, []],
    ['the transport of an MCP server', { ...bare, protocol: 'mcp', transport: { type: 'http' } }, []],
    ['a known protocol', { ...bare, protocol: 'rest' }, []],
    ['an unknown protocol beside a transport', { preferredTransport: 'JSONRPC', protocol: 'acp' }, []],
    ['an unknown protocol beside interfaces', { ...listed({ protocolBinding: 'JSONRPC' }), protocol: 'acp' }, []],
  ])('checks %s', (_, fields, pointers) => {
    expect(lintTransports(fields)).toEqual(pointers.map(pointer => `transport-unknown warning ${pointer}`))
  })
})

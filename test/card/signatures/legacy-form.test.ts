import { describe, expect, it } from 'vitest'
import { listContradictions } from '../../../src/card/signatures/legacy-form.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'

const [a, b, c] = ['https://a.example', 'https://b.example', 'https://c.example']
const jsonrpc = (url: string, protocolVersion: string) => ({ url, protocolBinding: 'JSONRPC', protocolVersion })
const grpc = (url: string, protocolVersion: string) => ({ url, protocolBinding: 'GRPC', protocolVersion })
const http = (url: string) => ({ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' })

const interfaces = { supportedInterfaces: [jsonrpc(a, '0.3'), grpc(b, '0.3')] }
const mirrors = { supportedInterfaces: [http(a), http(b), jsonrpc(c, '0.3')] }
const onlyV1 = { supportedInterfaces: [http(a), http(b)] }
/** An agent of both versions: its hybrids have the URL and the transport of the second interface. */
const mixed = { supportedInterfaces: [jsonrpc(a, '1.0'), jsonrpc(b, '0.3')] }
const protoNames = { supported_interfaces: [{ url: a }] }
const additional = (...items: Json[]) => ({ additionalInterfaces: items })

const required = { securityRequirements: [{ schemes: { b: { list: ['x'] } } }, { schemes: { c: {} } }] }
const wrapper = { httpAuthSecurityScheme: { scheme: 'bearer' } }
const key = { apiKeySecurityScheme: { name: 'X', location: 'header' } }
const bearer = { type: 'http', scheme: 'bearer' }
const flows = (...names: string[]) => ({ flows: Object.fromEntries(names.map(name => [name, {}])) })
const scheme = (members: JsonObject, name = 'a') => ({ securitySchemes: { [name]: members } })

describe('listContradictions', () => {
  it('returns the place of each field that contradicts A2A 1.0', () => {
    const rows: [card: JsonObject, pointer: string][] = [
      [{ ...interfaces, url: c }, '/url'],
      [{ ...interfaces, ...additional({ url: b, transport: 'GRPC' }, { url: c }) }, '/additionalInterfaces/1'],
      // Another transport under the name of 1.0, and the name of drafts of A2A.
      [
        { ...interfaces, ...additional({ url: b, transport: 'GRPC', protocolBinding: 'HTTP+JSON' }) },
        '/additionalInterfaces/0',
      ],
      [{ ...interfaces, interfaces: [{ url: c, transport: 'GRPC' }] }, '/interfaces/0'],
      // Under their names in the proto.
      [{ ...interfaces, additional_interfaces: [{ url: c }] }, '/additional_interfaces/0'],
      [{ ...mixed, url: b, preferred_transport: 'GRPC' }, '/preferred_transport'],
      [{ ...mixed, url: b, protocol_version: '0.2.0' }, '/protocol_version'],
      [{ supports_authenticated_extended_card: true }, '/supports_authenticated_extended_card'],
      [{ skills: [{ security: [{}], security_requirements: [] }] }, '/skills/0/security_requirements'],
      // Without a transport, readers take it for JSONRPC.
      [{ ...interfaces, ...additional({ url: b }) }, '/additionalInterfaces/0'],
      [{ ...interfaces, ...additional(b) }, '/additionalInterfaces/0'],
      // Not the first URL of its transport and version.
      [{ ...mirrors, url: b, preferredTransport: 'HTTP+JSON', protocolVersion: '1.0' }, '/url'],
      // The URL of 1.0 beside one of 0.3.
      [{ ...mixed, url: a, protocolVersion: '1.0' }, '/url'],
      [{ ...mixed, url: b, protocolVersion: '1.1' }, '/protocolVersion'],
      // The version of agent.json with another transport, and without the transport that it has.
      [{ ...mixed, url: b, preferredTransport: 'GRPC', protocolVersion: '1.0' }, '/preferredTransport'],
      [{ supportedInterfaces: [jsonrpc(a, '1.0'), grpc(b, '0.3')], url: b, protocolVersion: '1.0' }, '/url'],
      [{ ...mixed, url: b, ...additional({ url: a, transport: 'JSONRPC' }) }, '/additionalInterfaces/0'],
      [{ ...interfaces, protocolVersion: '1.0' }, '/protocolVersion'],
      [
        { supportsAuthenticatedExtendedCard: false, capabilities: { extendedAgentCard: true } },
        '/supportsAuthenticatedExtendedCard',
      ],
      // Schemes: another type, value or wrapper beside the wrapper, and a second flow.
      [scheme({ type: 'hmac', ...wrapper }), '/securitySchemes/a'],
      [{ securitySchemes: { a: wrapper, b: { type: 'http', scheme: 'basic', ...wrapper } } }, '/securitySchemes/b'],
      [scheme({ type: 'apiKey', name: 'X', in: 'query', ...key }, 'k/1'), '/securitySchemes/k~11'],
      [scheme({ ...bearer, ...key }), '/securitySchemes/a'],
      [scheme({ ...key, ...wrapper }), '/securitySchemes/a'],
      [{ security_schemes: { a: { ...key, http_auth_security_scheme: {} } } }, '/security_schemes/a'],
      [scheme({ oauth2SecurityScheme: flows('authorizationCode', 'clientCredentials') }), '/securitySchemes/a'],
      [scheme({ type: 'oauth2', ...flows('authorizationCode', 'password') }), '/securitySchemes/a'],
      [{ ...protoNames, ...additional({ url: c }) }, '/additionalInterfaces/0'],
      // Requirements, also of skills.
      [{ ...required, security: [{ b: ['x'] }] }, '/security'],
      [{ ...required, security: [{ b: [] }, { c: [] }] }, '/security'],
      [{ skills: [{}, { ...required, security: [{}] }] }, '/skills/1/security'],
      // A field under two names, and a field of 0.3 beside the name in the proto of what it is read into.
      [{ ...interfaces, supported_interfaces: [] }, '/supported_interfaces'],
      [{ url: a, supported_interfaces: [] }, '/supported_interfaces'],
    ]
    for (const [card, pointer] of rows) expect([card, listContradictions(card)]).toEqual([card, [pointer]])
  })

  it('returns nothing for a card without such fields', () => {
    const cards: [string, JsonObject][] = [
      ['of 1.0 only', { ...interfaces, ...required, securitySchemes: { b: wrapper } }],
      ['of 0.3 only', { url: a, security: [{ b: [] }], securitySchemes: { b: bearer } }],
      ['with the same endpoints', { ...interfaces, url: a, ...additional({ url: b, transport: 'GRPC' }) }],
      ['of 1.0, with no other field of 0.3 than a URL', { ...onlyV1, url: a, protocolVersion: '1.0' }],
      ['agent-card.json', { ...mixed, url: b, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' }],
      ['agent.json', { ...mixed, url: b, preferredTransport: 'JSONRPC', protocolVersion: '1.0' }],
      ['that lost its version: that of 0.3 by default', { ...mixed, url: b, preferredTransport: 'JSONRPC' }],
      [
        'with the first interface of 0.3, as SDKs write it beside one of 0.2',
        {
          supportedInterfaces: [jsonrpc(a, '0.2'), grpc(b, '0.3')],
          url: b,
          preferredTransport: 'GRPC',
          protocolVersion: '0.3',
        },
      ],
      [
        'of 1.0, with all other interfaces as additional ones',
        {
          ...onlyV1,
          url: a,
          preferredTransport: 'HTTP+JSON',
          protocolVersion: '1.0',
          ...additional({ url: b, transport: 'HTTP+JSON' }),
        },
      ],
      [
        'with the names of the proto',
        {
          supported_interfaces: [
            { url: a, protocol_binding: 'HTTP+JSON', protocol_version: '1.0' },
            { url: b, protocol_binding: 'GRPC' },
          ],
          protocol_version: '1.0',
          additional_interfaces: [{ url: b, transport: 'GRPC' }],
          capabilities: { extended_agent_card: true },
          supports_authenticated_extended_card: true,
        },
      ],
      ['whose `interfaces` is no list of endpoints', { ...interfaces, interfaces: ['cli', 'web'] }],
      ['with the same requirements', { ...required, security: [{ b: ['x'] }, { c: [] }] }],
      ['with the same schemes', scheme({ ...bearer, ...wrapper })],
      ['with a name of the proto only', { ...protoNames, x_note: 1, url_: 2 }],
    ]
    for (const [name, card] of cards) expect([name, listContradictions(card)]).toEqual([name, []])
  })
})

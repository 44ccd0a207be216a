import { describe, expect, it } from 'vitest'
import { listContradictions } from '../../../src/card/signatures/legacy-form.ts'
import type { JsonObject } from '../../../src/json/json.ts'

const interfaces = {
  supportedInterfaces: [
    { url: 'https://a.example', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    { url: 'https://b.example', protocolBinding: 'GRPC', protocolVersion: '0.3' },
  ],
}
const mirrors = {
  supportedInterfaces: [
    { url: 'https://a.example', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: 'https://b.example', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: 'https://c.example', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ],
}
const a = 'https://a.example'
const b = 'https://b.example'
/** An agent of both versions: its hybrids have the URL and the transport of the second interface. */
const mixed = {
  supportedInterfaces: [
    { url: a, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: b, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ],
}
const required = { securityRequirements: [{ schemes: { b: { list: ['x'] } } }, { schemes: { c: {} } }] }
const wrapper = { httpAuthSecurityScheme: { scheme: 'bearer' } }
const key = { apiKeySecurityScheme: { name: 'X', location: 'header' } }

describe('listContradictions', () => {
  it.each<[string, JsonObject, string]>([
    ['another endpoint', { ...interfaces, url: 'https://c.example' }, '/url'],
    ['an endpoint that is no text', { ...interfaces, url: ['https://a.example'] }, '/url'],
    [
      'another interface',
      {
        ...interfaces,
        additionalInterfaces: [{ url: 'https://b.example', transport: 'GRPC' }, { url: 'https://c.example' }],
      },
      '/additionalInterfaces/1',
    ],
    [
      'an interface without a transport, which readers take for JSONRPC',
      { ...interfaces, additionalInterfaces: [{ url: 'https://b.example' }] },
      '/additionalInterfaces/0',
    ],
    [
      'an interface that is only a text',
      { ...interfaces, additionalInterfaces: ['https://b.example'] },
      '/additionalInterfaces/0',
    ],
    [
      'a URL that is not the first one of its transport and version',
      { ...mirrors, url: 'https://b.example', preferredTransport: 'HTTP+JSON', protocolVersion: '1.0' },
      '/url',
    ],
    ['the URL of 1.0 with the version of 0.3', { ...mixed, url: a, protocolVersion: '0.3.0' }, '/url'],
    ['the URL of 1.0 with its version, beside one of 0.3', { ...mixed, url: a, protocolVersion: '1.0' }, '/url'],
    ['the URL of 1.0 without a version, beside one of 0.3', { ...mixed, url: a }, '/url'],
    ['a version that no interface has', { ...mixed, url: b, protocolVersion: '1.1' }, '/protocolVersion'],
    [
      'the version of agent.json, with another transport',
      { ...mixed, url: b, preferredTransport: 'GRPC', protocolVersion: '1.0' },
      '/preferredTransport',
    ],
    [
      'the version of agent.json, without the transport that it has',
      {
        supportedInterfaces: [mixed.supportedInterfaces[0] as JsonObject, { url: b, protocolBinding: 'GRPC' }],
        url: b,
        protocolVersion: '1.0',
      },
      '/url',
    ],
    [
      'the version of another interface of 0.x',
      {
        supportedInterfaces: [
          { url: a, protocolBinding: 'JSONRPC', protocolVersion: '0.2' },
          { url: b, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        ],
        url: a,
        protocolVersion: '0.3.0',
      },
      '/url',
    ],
    [
      'an additional interface of 1.0 beside one of 0.3',
      { ...mixed, url: b, additionalInterfaces: [{ url: a, transport: 'JSONRPC' }] },
      '/additionalInterfaces/0',
    ],
    ['a version without a URL', { ...interfaces, protocolVersion: '1.0' }, '/protocolVersion'],
    [
      'another flag of the extended card',
      { supportsAuthenticatedExtendedCard: false, capabilities: { extendedAgentCard: true } },
      '/supportsAuthenticatedExtendedCard',
    ],
    [
      'a type of a scheme that is none, beside a wrapper',
      { securitySchemes: { a: { type: 'hmac', ...wrapper } } },
      '/securitySchemes/a',
    ],
    [
      'another scheme of HTTP',
      { securitySchemes: { a: wrapper, b: { type: 'http', scheme: 'basic', ...wrapper } } },
      '/securitySchemes/b',
    ],
    [
      'another place of an API key',
      { securitySchemes: { 'k/1': { type: 'apiKey', name: 'X', in: 'query', ...key } } },
      '/securitySchemes/k~11',
    ],
    [
      'a wrapper beside the type of another scheme',
      { securitySchemes: { a: { type: 'http', scheme: 'bearer', ...key } } },
      '/securitySchemes/a',
    ],
    ['two wrappers', { securitySchemes: { a: { ...key, ...wrapper } } }, '/securitySchemes/a'],
    [
      'a second wrapper under its name in the proto',
      { security_schemes: { a: { ...key, http_auth_security_scheme: {} } } },
      '/security_schemes/a',
    ],
    [
      'a second flow',
      { securitySchemes: { a: { oauth2SecurityScheme: { flows: { authorizationCode: {}, clientCredentials: {} } } } } },
      '/securitySchemes/a',
    ],
    [
      'a second flow in the form of 0.3',
      { securitySchemes: { a: { type: 'oauth2', flows: { authorizationCode: {}, password: {} } } } },
      '/securitySchemes/a',
    ],
    [
      'another interface beside those under their name in the proto',
      { supported_interfaces: [{ url: 'https://a.example' }], additionalInterfaces: [{ url: 'https://c.example' }] },
      '/additionalInterfaces/0',
    ],
    ['other requirements', { ...required, security: [{ b: ['x'] }] }, '/security'],
    ['no requirements', { ...required, security: [] }, '/security'],
    ['other requirements of a skill', { skills: [{}, { ...required, security: [{}] }] }, '/skills/1/security'],
    ['a field under two names', { ...interfaces, supported_interfaces: [] }, '/supported_interfaces'],
    [
      'a field of 0.3 and the name in the proto of what it is read into',
      { url: 'https://a.example', supported_interfaces: [] },
      '/supported_interfaces',
    ],
  ])('returns the place of %s', (_, card, pointer) => {
    expect(listContradictions(card)).toEqual([pointer])
  })

  it.each<[string, JsonObject]>([
    ['is of 1.0 only', { ...interfaces, ...required, securitySchemes: { b: wrapper } }],
    [
      'is of 0.3 only',
      { url: 'https://a.example', security: [{ b: [] }], securitySchemes: { b: { type: 'http', scheme: 'bearer' } } },
    ],
    [
      'is of both, with the same endpoints',
      {
        ...interfaces,
        url: 'https://a.example',
        additionalInterfaces: [{ url: 'https://b.example', transport: 'GRPC' }],
      },
    ],
    [
      'has a URL without a transport, as cards of 1.0 do that have no other field of 0.3',
      { supportedInterfaces: mirrors.supportedInterfaces.slice(0, 2), url: a, protocolVersion: '1.0' },
    ],
    [
      'has the fields of agent-card.json',
      { ...mixed, url: b, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' },
    ],
    ['has the fields of agent.json', { ...mixed, url: b, preferredTransport: 'JSONRPC', protocolVersion: '1.0' }],
    ['lost its version, which is that of 0.3 by default', { ...mixed, url: b, preferredTransport: 'JSONRPC' }],
    [
      'has the first interface of 0.3, as SDKs write it beside one of 0.2',
      {
        supportedInterfaces: [
          { url: a, protocolBinding: 'JSONRPC', protocolVersion: '0.2' },
          { url: b, protocolBinding: 'GRPC', protocolVersion: '0.3' },
        ],
        url: b,
        preferredTransport: 'GRPC',
        protocolVersion: '0.3',
      },
    ],
    [
      'is of both, as a2a-js and a2a-python write it: with the interfaces of 0.3 only',
      {
        supportedInterfaces: [...mirrors.supportedInterfaces, { url: b, protocolBinding: 'GRPC' }],
        url: 'https://c.example',
        preferredTransport: 'JSONRPC',
        protocolVersion: '0.3',
        additionalInterfaces: [{ url: b, transport: 'GRPC' }],
        capabilities: { extendedAgentCard: true },
        supportsAuthenticatedExtendedCard: true,
      },
    ],
    [
      'is of 1.0, with all other interfaces as additional ones',
      {
        supportedInterfaces: mirrors.supportedInterfaces.slice(0, 2),
        url: a,
        preferredTransport: 'HTTP+JSON',
        protocolVersion: '1.0',
        additionalInterfaces: [{ url: b, transport: 'HTTP+JSON' }],
      },
    ],
    [
      'is of both, with the names of the proto',
      {
        supported_interfaces: [
          { url: 'https://a.example', protocol_binding: 'HTTP+JSON', protocol_version: '1.0' },
          { url: 'https://b.example', protocol_binding: 'GRPC' },
        ],
        protocol_version: '1.0',
        additional_interfaces: [{ url: 'https://b.example', transport: 'GRPC' }],
        capabilities: { extended_agent_card: true },
        supports_authenticated_extended_card: true,
      },
    ],
    ['has an `interfaces` that is no list of endpoints', { ...interfaces, interfaces: ['cli', 'web'] }],
    ['is of both, with the same requirements', { ...required, security: [{ b: ['x'] }, { c: [] }] }],
    [
      'is of both, with the same schemes',
      {
        securitySchemes: {
          a: { type: 'http', scheme: 'bearer', ...wrapper },
          k: { type: 'apiKey', name: 'X', in: 'header', ...key },
        },
      },
    ],
    [
      'has a field under its name in the proto only',
      { supported_interfaces: [{ url: 'https://a.example' }], x_note: 1, url_: 2 },
    ],
  ])('returns nothing for a card that %s', (_, card) => {
    expect(listContradictions(card)).toEqual([])
  })
})

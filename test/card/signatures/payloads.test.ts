import { describe, expect, it } from 'vitest'
import { type PayloadRule, payloadRules, payloads, writePayload } from '../../../src/card/signatures/payloads.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'

const readPayload = (rule: PayloadRule, card: JsonObject): Json => JSON.parse(writePayload(rule, card) ?? 'null')

/** A card whose extension has these parameters. */
const withParams = (params: JsonObject): JsonObject => ({ capabilities: { extensions: [{ uri: 'u', params }] } })
const writeParams = (rule: PayloadRule, params: JsonObject): string =>
  /"params":(\{.*\}),"uri":"u"\}\]\}\}$/.exec(writePayload(rule, withParams(params)) ?? '')?.[1] ?? ''

describe('payload rules', () => {
  it.each(payloadRules)('%s names its source, and leaves out `signatures` of the card only', rule => {
    expect(payloads[rule].source).toMatch(/A2A 1\.0 §8\.4|a2a-js #663/)
    const params = { signatures: ['x'] }
    const signed = { ...withParams(params), name: 'A', signatures: [{ protected: 'e30', signature: 'x' }] }
    expect(readPayload(rule, signed)).toEqual({ ...withParams(params), name: 'A' })
  })

  it.each(payloadRules.filter(rule => payloads[rule].omits !== undefined))('%s names what it does not cover', rule => {
    expect(payloads[rule].omits).toMatch(/\w/)
  })

  it('returns no payload for a document that the rule cannot read', () => {
    expect(writePayload('proto', { skills: [null] })).toBeUndefined()
    expect(writePayload('wire', { skills: [null] })).toBe('{"skills":[null]}')
  })
})

describe('wire: RFC 8785 of the card as it is served', () => {
  it.each<[string, JsonObject, string]>([
    ['orders names by UTF-16 units (§3.2.3)', { '\ufb33': 1, '😀': 2, é: 3, Z: 4 }, '{"Z":4,"é":3,"😀":2,"\ufb33":1}'],
    [
      'escapes no more than JSON demands (§3.2.2.2)',
      { a: '€\u2028/"\\\u0001\n<' },
      '{"a":"€\u2028/\\"\\\\\\u0001\\n<"}',
    ],
    [
      'writes numbers as ECMAScript does (§3.2.2.3)',
      { a: [100.0, -0, 1e21, 1e-7, 0.000001] },
      '{"a":[100,0,1e+21,1e-7,0.000001]}',
    ],
    [
      'keeps empty values, null and unknown fields',
      { a: '', b: [], c: {}, d: null, 'x-e': false },
      '{"a":"","b":[],"c":{},"d":null,"x-e":false}',
    ],
  ])('%s', (_, card, payload) => {
    expect(writePayload('wire', card)).toBe(payload)
  })
})

describe('served: the rule of A2A 1.0 §8.4.1 on the card as it is served', () => {
  it('gives the result of the worked example', () => {
    const card = {
      name: 'Example Agent',
      description: '',
      capabilities: { streaming: false, pushNotifications: false, extensions: [] },
      skills: [],
    }
    expect(writePayload('served', card)).toBe(
      '{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}',
    )
  })

  it.each<[string, JsonObject]>([
    [
      'required fields',
      { name: '', description: '', version: '', skills: [], supportedInterfaces: [], capabilities: {} },
    ],
    ['required fields of skills', { skills: [{ id: '', name: '', description: '', tags: [] }] }],
    [
      'fields that the proto declares `optional`',
      { documentationUrl: '', iconUrl: '', capabilities: { streaming: false, extendedAgentCard: false } },
    ],
    ['unknown fields, empty or not', { 'x-note': '', rating: 0, skills: [{ 'x-a': [] }] }],
    [
      'the parameters of extensions',
      { capabilities: { extensions: [{ uri: 'u', params: { a: '', b: [], c: false } }] } },
    ],
    [
      'what the proto requires of a flow',
      { securitySchemes: { o: { oauth2SecurityScheme: { flows: { deviceCode: { tokenUrl: '', scopes: {} } } } } } },
    ],
  ])('keeps %s', (_, card) => {
    expect(readPayload('served', card)).toEqual(card)
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['lists and maps that are not required', { securitySchemes: {}, securityRequirements: [] }, {}],
    ['a tenant', { supportedInterfaces: [{ url: 'u', tenant: '' }] }, { supportedInterfaces: [{ url: 'u' }] }],
    [
      'lists of a skill',
      { skills: [{ id: 's', examples: [], inputModes: [], outputModes: [], securityRequirements: [] }] },
      { skills: [{ id: 's' }] },
    ],
    [
      'what an extension does not need',
      { capabilities: { extensions: [{ uri: 'u', description: '', required: false }] } },
      { capabilities: { extensions: [{ uri: 'u' }] } },
    ],
    [
      'an empty list of scopes',
      { securityRequirements: [{ schemes: { bearer: { list: [] } } }] },
      { securityRequirements: [{ schemes: { bearer: {} } }] },
    ],
    [
      'text of a scheme',
      { securitySchemes: { b: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: '', description: '' } } } },
      { securitySchemes: { b: { httpAuthSecurityScheme: { scheme: 'bearer' } } } },
    ],
    [
      'options of a flow',
      {
        securitySchemes: {
          o: {
            oauth2SecurityScheme: { oauth2MetadataUrl: '', flows: { deviceCode: { refreshUrl: '', tokenUrl: 't' } } },
          },
        },
      },
      { securitySchemes: { o: { oauth2SecurityScheme: { flows: { deviceCode: { tokenUrl: 't' } } } } } },
    ],
    [
      'every field of a deprecated flow',
      {
        securitySchemes: {
          i: { oauth2SecurityScheme: { flows: { implicit: { authorizationUrl: '', refreshUrl: '', scopes: {} } } } },
          p: { oauth2SecurityScheme: { flows: { password: { tokenUrl: '', refreshUrl: '', scopes: {} } } } },
        },
      },
      {
        securitySchemes: {
          i: { oauth2SecurityScheme: { flows: { implicit: {} } } },
          p: { oauth2SecurityScheme: { flows: { password: {} } } },
        },
      },
    ],
  ])('leaves out %s at the default', (_, card, payload) => {
    expect(readPayload('served', card)).toEqual(payload)
  })

  it('adds no field that is absent', () => {
    expect(writePayload('served', {})).toBe('{}')
  })
})

describe('proto: the card as a2a-python 1.2 and a2a-js 1.3 read it', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'leaves out unknown fields on every level',
      { name: 'A', 'x-a': 1, skills: [{ id: 's', 'x-b': 2 }] },
      { name: 'A', skills: [{ id: 's' }] },
    ],
    [
      'leaves out empty values on every level, required ones too',
      { name: '', skills: [{ id: 's', tags: [] }], provider: {} },
      { skills: [{ id: 's' }] },
    ],
    [
      'leaves out empty values in the parameters of extensions',
      withParams({ a: '', b: [null, {}], c: 1 }),
      withParams({ c: 1 }),
    ],
    ['leaves out a requirement without scopes', { securityRequirements: [{ schemes: { bearer: { list: [] } } }] }, {}],
    [
      'keeps a declared false of a capability',
      { capabilities: { streaming: false } },
      { capabilities: { streaming: false } },
    ],
    [
      'leaves out `required: false` of an extension',
      { capabilities: { extensions: [{ uri: 'u', required: false }] } },
      { capabilities: { extensions: [{ uri: 'u' }] } },
    ],
    ['reads names of the proto', { documentation_url: 'd', icon_url: 'i' }, { documentationUrl: 'd', iconUrl: 'i' }],
  ])('%s', (_, card, payload) => {
    expect(readPayload('proto', card)).toEqual(payload)
  })

  it.each<[string, JsonObject, JsonObject]>([
    [
      'endpoints become interfaces',
      {
        url: 'u',
        preferredTransport: 'GRPC',
        protocolVersion: '0.3.0',
        additionalInterfaces: [{ url: 'v', transport: 'JSONRPC' }],
      },
      {
        supportedInterfaces: [
          { url: 'u', protocolBinding: 'GRPC', protocolVersion: '0.3.0' },
          { url: 'v', protocolBinding: 'JSONRPC', protocolVersion: '0.3.0' },
        ],
      },
    ],
    [
      'the defaults of 0.3 are those of its readers',
      { url: 'u' },
      { supportedInterfaces: [{ url: 'u', protocolBinding: 'JSONRPC', protocolVersion: '0.3.0' }] },
    ],
    [
      'interfaces of 1.0 replace them',
      { url: 'u', supportedInterfaces: [{ url: 'w' }] },
      { supportedInterfaces: [{ url: 'w' }] },
    ],
    [
      'the extended card becomes a capability',
      { supportsAuthenticatedExtendedCard: true },
      { capabilities: { extendedAgentCard: true } },
    ],
    [
      'a declared capability stays',
      { supportsAuthenticatedExtendedCard: true, capabilities: { extendedAgentCard: false } },
      { capabilities: { extendedAgentCard: false } },
    ],
    [
      'requirements, also of skills',
      { security: [{ o: ['a'] }], skills: [{ id: 's', security: [{ o: ['b'] }] }] },
      {
        securityRequirements: [{ schemes: { o: { list: ['a'] } } }],
        skills: [{ id: 's', securityRequirements: [{ schemes: { o: { list: ['b'] } } }] }],
      },
    ],
    [
      'an API key',
      { securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'X' } } },
      { securitySchemes: { k: { apiKeySecurityScheme: { location: 'header', name: 'X' } } } },
    ],
    [
      'HTTP authentication',
      { securitySchemes: { b: { type: 'http', scheme: 'bearer' } } },
      { securitySchemes: { b: { httpAuthSecurityScheme: { scheme: 'bearer' } } } },
    ],
    [
      'OAuth',
      { securitySchemes: { o: { type: 'oauth2', flows: { password: { tokenUrl: 't' } } } } },
      { securitySchemes: { o: { oauth2SecurityScheme: { flows: { password: { tokenUrl: 't' } } } } } },
    ],
    [
      'OpenID Connect',
      { securitySchemes: { i: { type: 'openIdConnect', openIdConnectUrl: 'c' } } },
      { securitySchemes: { i: { openIdConnectSecurityScheme: { openIdConnectUrl: 'c' } } } },
    ],
    [
      'mutual TLS',
      { securitySchemes: { t: { type: 'mutualTLS', description: 'd' } } },
      { securitySchemes: { t: { mtlsSecurityScheme: { description: 'd' } } } },
    ],
  ])('reads fields of A2A 0.3: %s', (_, card, payload) => {
    expect(readPayload('proto', card)).toEqual(payload)
  })
})

describe('proto-ascii: the same as a2a-python up to 1.1 writes it', () => {
  it('escapes what is not ASCII, in lower case, and DEL', () => {
    expect(writePayload('proto-ascii', { name: 'Ä😀\u007f' })).toBe(String.raw`{"name":"\u00c4\ud83d\ude00\u007f"}`)
  })

  it('orders names by code points', () => {
    expect(writeParams('proto-ascii', { '😀': 1.5, '\ufb33': 2.5 })).toBe(String.raw`{"\ufb33":2.5,"\ud83d\ude00":1.5}`)
    expect(writeParams('proto', { '😀': 1.5, '\ufb33': 2.5 })).toBe('{"😀":1.5,"\ufb33":2.5}')
  })

  it.each([
    [1, '1.0'],
    [-0, '0.0'],
    [-20, '-20.0'],
    [0.5, '0.5'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1.5e-10, '1.5e-10'],
    [123456789012345.5, '123456789012345.5'],
    [9007199254740991, '9007199254740991.0'],
    [1e16, '1e+16'],
    [123456789012345680000, '1.2345678901234568e+20'],
    [1e300, '1e+300'],
  ])('writes the number %d as %s', (value, text) => {
    expect(writeParams('proto-ascii', { a: value })).toBe(`{"a":${text}}`)
  })
})

import { describe, expect, it } from 'vitest'
import { type PayloadRule, payloadRules } from '../../../src/card/model/registration-report.ts'
import { payloads, writePayload } from '../../../src/card/signatures/payloads.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'

const readPayload = (rule: PayloadRule, card: JsonObject): Json => JSON.parse(writePayload(rule, card) ?? 'null')

/** Compares the payload of each card by a rule with the expected one. */
const expectPayloads = (rule: PayloadRule, rows: [card: JsonObject, payload: JsonObject][]): void => {
  expect(rows.map(([card]) => [card, readPayload(rule, card)])).toEqual(rows)
}

/** A card whose extension has these parameters. */
const withParams = (params: JsonObject): JsonObject => ({ capabilities: { extensions: [{ uri: 'u', params }] } })
const writeParams = (rule: PayloadRule, params: JsonObject): string =>
  /"params":(\{.*\}),"uri":"u"\}\]\}\}$/.exec(writePayload(rule, withParams(params)) ?? '')?.[1] ?? ''

const withExtension = (members: JsonObject): JsonObject => ({
  capabilities: { extensions: [{ uri: 'u', ...members }] },
})
const withScheme = (scheme: JsonObject): JsonObject => ({ securitySchemes: { s: scheme } })
const withFlows = (flows: JsonObject, members: JsonObject = {}): JsonObject =>
  withScheme({ oauth2SecurityScheme: { ...members, flows } })
const emptyScope = { securityRequirements: [{ schemes: { bearer: { list: [] } } }] }

describe('payload rules', () => {
  it('name their source and what they do not cover, and leave out `signatures` of the card only', () => {
    const params = { signatures: ['x'] }
    const signed = { ...withParams(params), name: 'A', signatures: [{ protected: 'e30', signature: 'x' }] }
    for (const rule of payloadRules) {
      expect(payloads[rule].source).toMatch(/A2A 1\.0 §8\.4|a2a-js #663/)
      expect(readPayload(rule, signed)).toEqual({ ...withParams(params), name: 'A' })
    }
    expect(payloadRules.map(rule => payloads[rule].omits)).toEqual([
      undefined,
      'default values of fields that are not required',
      'empty values and fields that A2A 1.0 does not define',
      'empty values and fields that A2A 1.0 does not define',
    ])
  })

  it('return no payload for a document that the rule cannot read', () => {
    expect(writePayload('proto', { skills: [null] })).toBeUndefined()
    expect(writePayload('wire', { skills: [null] })).toBe('{"skills":[null]}')
  })
})

describe('wire: RFC 8785 of the card as it is served', () => {
  it('orders names by UTF-16 units, and leaves nothing out', () => {
    const rows: [JsonObject, string][] = [
      [{ '\ufb33': 1, '😀': 2, é: 3, Z: 4 }, '{"Z":4,"é":3,"😀":2,"\ufb33":1}'],
      [{ a: '', b: [], c: {}, d: null, 'x-e': false }, '{"a":"","b":[],"c":{},"d":null,"x-e":false}'],
    ]
    expect(rows.map(([card]) => [card, writePayload('wire', card)])).toEqual(rows)
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

  it('keeps what the proto requires or declares `optional`, and what it does not know; adds nothing', () => {
    const cards: JsonObject[] = [
      { name: '', description: '', version: '', skills: [], supportedInterfaces: [], capabilities: {} },
      { documentationUrl: '', iconUrl: '', capabilities: { streaming: false, extendedAgentCard: false } },
      { 'x-note': '', rating: 0, skills: [{ 'x-a': [] }], 'securityRequirements?': [{ schemes: {} }] },
      withParams({ a: '', b: [], c: false }),
    ]
    expectPayloads(
      'served',
      cards.map(card => [card, card]),
    )
  })

  it('leaves out everything else at the default', () => {
    expectPayloads('served', [
      [{ securitySchemes: {}, securityRequirements: [] }, {}],
      [{ supportedInterfaces: [{ url: 'u', tenant: '' }] }, { supportedInterfaces: [{ url: 'u' }] }],
      [
        { skills: [{ id: 's', examples: [], inputModes: [], outputModes: [], securityRequirements: [] }] },
        { skills: [{ id: 's' }] },
      ],
      [withExtension({ description: '', required: false }), withExtension({})],
      [{ capabilities: { extensions: [{ uri: '' }] } }, { capabilities: { extensions: [{}] } }],
      [emptyScope, { securityRequirements: [{ schemes: { bearer: {} } }] }],
      [{ securityRequirements: [{ schemes: {} }] }, { securityRequirements: [{}] }],
      [{ skills: [emptyScope] }, { skills: [{ securityRequirements: [{ schemes: { bearer: {} } }] }] }],
      [
        withScheme({ httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: '', description: '' } }),
        withScheme({ httpAuthSecurityScheme: { scheme: 'bearer' } }),
      ],
      ...['apiKeySecurityScheme', 'openIdConnectSecurityScheme', 'mtlsSecurityScheme'].map(
        (name): [JsonObject, JsonObject] => [withScheme({ [name]: { description: '' } }), withScheme({ [name]: {} })],
      ),
      [
        withFlows({ deviceCode: { refreshUrl: '', tokenUrl: 't' } }, { oauth2MetadataUrl: '', description: '' }),
        withFlows({ deviceCode: { tokenUrl: 't' } }),
      ],
      [withFlows({ clientCredentials: { refreshUrl: '' } }), withFlows({ clientCredentials: {} })],
      [withFlows({ authorizationCode: { refreshUrl: '', pkceRequired: false } }), withFlows({ authorizationCode: {} })],
      // Every field of a deprecated flow.
      [withFlows({ implicit: { authorizationUrl: '', refreshUrl: '', scopes: {} } }), withFlows({ implicit: {} })],
      [withFlows({ password: { tokenUrl: '', refreshUrl: '', scopes: {} } }), withFlows({ password: {} })],
    ])
  })
})

describe('proto: the card as a2a-python 1.2 and a2a-js 1.3 read it', () => {
  it('leaves out unknown fields and empty values on every level, and reads names of the proto', () => {
    expectPayloads('proto', [
      [
        { name: 'A', 'x-a': 1, skills: [{ id: 's', 'x-b': 2 }] },
        { name: 'A', skills: [{ id: 's' }] },
      ],
      [emptyScope, {}],
      [
        { documentation_url: 'd', icon_url: 'i' },
        { documentationUrl: 'd', iconUrl: 'i' },
      ],
    ])
  })

  it('reads fields of A2A 0.3', () => {
    const requirement = (scope: string) => ({ securityRequirements: [{ schemes: { o: { list: [scope] } } }] })
    expectPayloads('proto', [
      [
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
      [{ url: 'u' }, { supportedInterfaces: [{ url: 'u', protocolBinding: 'JSONRPC', protocolVersion: '0.3.0' }] }],
      // What is there in the form of 1.0 takes precedence.
      [{ url: 'u', supportedInterfaces: [{ url: 'w' }] }, { supportedInterfaces: [{ url: 'w' }] }],
      [{ supportsAuthenticatedExtendedCard: true }, { capabilities: { extendedAgentCard: true } }],
      [
        { supportsAuthenticatedExtendedCard: true, capabilities: { extendedAgentCard: false } },
        { capabilities: { extendedAgentCard: false } },
      ],
      [
        { security: [{ o: ['a'] }], skills: [{ id: 's', security: [{ o: ['b'] }] }] },
        { ...requirement('a'), skills: [{ id: 's', ...requirement('b') }] },
      ],
      [
        withScheme({ type: 'apiKey', in: 'header', name: 'X' }),
        withScheme({ apiKeySecurityScheme: { location: 'header', name: 'X' } }),
      ],
      [withScheme({ type: 'http', scheme: 'b' }), withScheme({ httpAuthSecurityScheme: { scheme: 'b' } })],
      [
        withScheme({ type: 'oauth2', flows: { password: { tokenUrl: 't' } } }),
        withFlows({ password: { tokenUrl: 't' } }),
      ],
      [
        withScheme({ type: 'openIdConnect', openIdConnectUrl: 'c' }),
        withScheme({ openIdConnectSecurityScheme: { openIdConnectUrl: 'c' } }),
      ],
      [withScheme({ type: 'mutualTLS', description: 'd' }), withScheme({ mtlsSecurityScheme: { description: 'd' } })],
    ])
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

  it('writes numbers as Python does', () => {
    const numbers: [number, string][] = [
      [1, '1.0'],
      [-0, '0.0'],
      [0.0001, '0.0001'],
      [0.00001, '1e-05'],
      [1e16, '1e+16'],
      [123456789012345680000, '1.2345678901234568e+20'],
    ]
    for (const [value, text] of numbers) expect(writeParams('proto-ascii', { a: value })).toBe(`{"a":${text}}`)
  })
})

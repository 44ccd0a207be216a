import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, registration } from '../../support/cards/compile.ts'
import { authoredCard } from '../../support/cards/generated.ts'
import { getValue } from '../../support/cards/pointers.ts'
import { corpus, hasReference, skipNotice } from '../../support/cards/reference.ts'
import { readSeed, readSeedManifest, seedNames } from '../../support/cards/seeds.ts'

/**
 * Returns the pointers of a report that are wrong: converted and dropped fields that the authored card does not have, and
 * defaults for fields that it has.
 */
const findWrongPointers = (document: Json, authored: Json): string[] => {
  const result = compile(document, registration)
  if ('errors' in result) return []
  const { converted, dropped, filled } = result.compiled.report
  const pointers = [...converted.map(note => note.pointer), ...Object.values(dropped).flat()]
  return [
    ...pointers.filter(pointer => getValue(authored, pointer) === undefined),
    ...filled.map(note => note.pointer).filter(pointer => isPresent(getValue(authored, pointer))),
  ]
}

const isPresent = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

describe('the pointers of a report', () => {
  it('resolve in generated cards, except those of defaults', () => {
    fc.assert(
      fc.property(authoredCard, generated => {
        const authored = JSON.parse(JSON.stringify(generated))
        expect(findWrongPointers(authored, authored)).toStrictEqual([])
      }),
    )
  })

  it.each(seedNames)('resolve in %s, except those of defaults', name => {
    expect(findWrongPointers(readSeedManifest(name), readSeed(name))).toStrictEqual([])
  })

  it.skipIf(!hasReference)(`resolve in the corpus, except those of defaults${skipNotice}`, () => {
    const wrong = corpus.flatMap(({ file, text }) => {
      const parsed = parseJson(text)
      return 'value' in parsed ? findWrongPointers(parsed.value, parsed.value).map(pointer => `${file} ${pointer}`) : []
    })
    expect(wrong).toStrictEqual([])
  })
})

describe('report.filled', () => {
  it("lists GopherHole's defaults, then those that A2A requires", () => {
    const skill = { id: 'main', name: 'A', description: 'B', tags: ['general'] }
    const gopherhole = "GopherHole's default, as no `protocolVersion` is given"
    const advertised = `will be advertised as supported; set it to true or false (${gopherhole})`
    expect(compileCard(card).report.filled).toStrictEqual([
      { pointer: '/protocolVersion', message: 'set to "1.0"' },
      { pointer: '/capabilities/streaming', message: advertised },
      { pointer: '/capabilities/pushNotifications', message: advertised },
      { pointer: '/capabilities/extendedAgentCard', message: `set to false: ${gopherhole}` },
      { pointer: '/capabilities/multiTurn', message: advertised },
      { pointer: '/version', message: 'set to "1.0.0"' },
      { pointer: '/defaultInputModes', message: 'set to ["text/plain","application/json"]' },
      { pointer: '/defaultOutputModes', message: 'set to ["text/plain","application/json"]' },
      { pointer: '/skills', message: `set to ${JSON.stringify([skill])}` },
    ])
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['false in Telex', { supportedProtocols: [] }, { streaming: false, pushNotifications: false }],
    [
      'false for an MCP server, which neither streams nor pushes',
      { protocol: 'mcp' },
      { streaming: false, pushNotifications: false, multiTurn: false },
    ],
    [
      'used only for flags that the card does not set',
      { capabilities: { streaming: false } },
      { streaming: false, pushNotifications: true },
    ],
  ])('has defaults for capabilities that are %s', (_, fields, flags) => {
    expect(compileCard({ ...card, ...fields }).card.capabilities).toMatchObject(flags)
  })
})

describe('report.converted', () => {
  it.each<[string, JsonObject, JsonObject, { pointer: string; message: string }[]]>([
    [
      'a version that is a number',
      { version: 2 },
      { version: '2' },
      [{ pointer: '/version', message: 'a number, read as text' }],
    ],
    [
      'a protocolVersion that is a number',
      { protocolVersion: 1 },
      {},
      [{ pointer: '/protocolVersion', message: 'a number, read as text' }],
    ],
    [
      'a provider that is a name',
      { provider: 'ACME' },
      { provider: { organization: 'ACME' } },
      [{ pointer: '/provider', message: 'a name, read as the organization' }],
    ],
    [
      'a mode that is not in a list',
      { defaultInputModes: 'text' },
      { defaultInputModes: ['text'] },
      [{ pointer: '/defaultInputModes', message: 'one media type, read as a list' }],
    ],
    [
      'a field in snake_case',
      { default_input_modes: ['a/b'] },
      { defaultInputModes: ['a/b'] },
      [{ pointer: '/default_input_modes', message: 'read as defaultInputModes' }],
    ],
    [
      'capabilities that are a list',
      { capabilities: ['push_notifications'] },
      {},
      [{ pointer: '/capabilities', message: 'a list of names, read as flags' }],
    ],
    [
      'two fields for one flag',
      { capabilities: { extendedAgentCard: true }, supportsAuthenticatedExtendedCard: false },
      {},
      [
        {
          pointer: '/supportsAuthenticatedExtendedCard',
          message: 'ignored: capabilities.extendedAgentCard is set too, and takes precedence',
        },
      ],
    ],
    [
      'security that is not a list of requirements',
      { security: { audit: true } },
      {},
      [{ pointer: '/security', message: 'left out: must be a list of requirements, such as [{ "bearer": [] }]' }],
    ],
    [
      'two fields for one requirement',
      { security: [{ a: [] }], securityRequirements: [{ schemes: { b: { list: [] } } }] },
      { securityRequirements: [{ schemes: { b: { list: [] } } }] },
      [{ pointer: '/security', message: 'ignored: securityRequirements is set too, and takes precedence' }],
    ],
    [
      'a scheme in the in-memory form of the JavaScript SDK',
      { securitySchemes: { b: { scheme: { $case: 'httpAuthSecurityScheme', value: { scheme: 'bearer' } } } } },
      { securitySchemes: { b: { httpAuthSecurityScheme: { scheme: 'bearer' } } } },
      [
        {
          pointer: '/securitySchemes/b',
          message: 'the in-memory form of the official JavaScript SDK, read as a security scheme',
        },
      ],
    ],
    [
      'a scheme with a short name of its wrapper',
      {
        url: undefined as never,
        supportedInterfaces: [{ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        securitySchemes: { b: { httpAuth: { scheme: 'bearer', bearer_format: 'JWT' } } },
      },
      { securitySchemes: { b: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } } } },
      [
        { pointer: '/securitySchemes/b/httpAuth', message: 'read as httpAuthSecurityScheme' },
        { pointer: '/securitySchemes/b/httpAuth/bearer_format', message: 'read as bearerFormat' },
      ],
    ],
    [
      'authentication with names of schemes',
      { authentication: { schemes: ['Bearer'] } },
      {
        securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
        securityRequirements: [{ schemes: { bearer: { list: [] } } }],
      },
      [{ pointer: '/authentication', message: 'read as security schemes' }],
    ],
  ])('reports %s', (_, fields, canonical, converted) => {
    const result = compileCard({ ...card, ...fields })
    expect([result.report.converted, result.card]).toStrictEqual([converted, expect.objectContaining(canonical)])
  })

  const url = 'https://a.example/a2a'
  const v1 = { url: undefined, supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] }
  const http = { type: 'http', scheme: 'bearer' }
  const wrapped = { httpAuthSecurityScheme: { scheme: 'bearer' } }
  const asIn0_3 = 'in the form of A2A 0.3, read as httpAuthSecurityScheme'

  it.each<[string, JsonObject, Record<string, string>]>([
    [
      'a wrong name of a type of scheme',
      { securitySchemes: { b: { ...http, type: 'httpAuth' }, k: { type: 'apikey', name: 'k', in: 'header' } } },
      { '/securitySchemes/b/type': 'read as "http"', '/securitySchemes/k/type': 'read as "apiKey"' },
    ],
    ['a scheme of 0.3 in a card of 1.0', { ...v1, securitySchemes: { b: http } }, { '/securitySchemes/b': asIn0_3 }],
    [
      'a scheme of 1.0 in a card of 0.3',
      { securitySchemes: { b: wrapped } },
      { '/securitySchemes/b': 'in the form of A2A 1.0: in 0.3, its type is "http"' },
    ],
    [
      'security of 0.3 in a card of 1.0',
      { ...v1, securitySchemes: { b: wrapped }, security: [{ b: [] }] },
      { '/security': 'a field of A2A 0.3, read as securityRequirements' },
    ],
    [
      'security of 0.3 in a skill of a card of 1.0',
      { ...v1, skills: [{ id: 'a', name: 'A', security: [{ b: [] }] }] },
      { '/skills/0/security': 'a field of A2A 0.3, read as securityRequirements' },
    ],
    [
      'requirements that are names',
      { securitySchemes: { b: http }, security: ['b'] },
      { '/security/0': 'a name, read as a requirement without scopes' },
    ],
    [
      'one requirement that is in no list',
      { securitySchemes: { b: http }, security: { b: [] } },
      { '/security': 'one requirement, read as a list' },
    ],
    [
      "a requirement of 0.3 in 1.0's field",
      { ...v1, securityRequirements: [{ b: [] }] },
      { '/securityRequirements/0': 'in the form of A2A 0.3, read as { "schemes": … }' },
    ],
    [
      "a requirement of 1.0 in 0.3's field",
      { security: [{ schemes: { b: { list: [] } } }] },
      { '/security/0': 'in the form of A2A 1.0' },
    ],
    [
      'scopes of a requirement in a list',
      { ...v1, securityRequirements: [{ schemes: { b: ['read'] } }] },
      { '/securityRequirements/0': 'lists of scopes, read as { "list": … }' },
    ],
    [
      "0.3's name for the place of an API key",
      { ...v1, securitySchemes: { k: { apiKeySecurityScheme: { name: 'k', in: 'header' } } } },
      { '/securitySchemes/k/apiKeySecurityScheme/in': 'read as location' },
    ],
    [
      "1.0's name for the place of an API key",
      { securitySchemes: { k: { type: 'apiKey', name: 'k', location: 'header' } } },
      { '/securitySchemes/k/location': 'the name of A2A 1.0 for `in`' },
    ],
    [
      "0.3's flag for the extended card in a card of 1.0",
      { ...v1, supportsAuthenticatedExtendedCard: true },
      { '/supportsAuthenticatedExtendedCard': 'a field of A2A 0.3, read as capabilities.extendedAgentCard' },
    ],
    [
      'a list of interfaces of drafts of A2A',
      { interfaces: [{ url: 'https://a.example/grpc', transport: 'GRPC' }] },
      { '/interfaces': 'a field of drafts of A2A, read as supportedInterfaces' },
    ],
  ])('reports %s', (_, fields, converted) => {
    const document = JSON.parse(JSON.stringify({ ...card, ...fields }))
    expect(
      Object.fromEntries(compileCard(document).report.converted.map(({ pointer, message }) => [pointer, message])),
    ).toStrictEqual(converted)
  })

  it('is empty for the forms of both versions in a hybrid', () => {
    const fields = { supportedInterfaces: v1.supportedInterfaces, securitySchemes: { a: http, b: wrapped } }
    const { converted } = compileCard({ ...card, ...fields, security: [{ a: [] }] }).report
    expect(converted).toStrictEqual([])
  })

  it('adds no security requirement for authentication that is not required', () => {
    const { card: read } = compileCard({ ...card, authentication: { required: false, methods: ['bearer'] } })
    expect([Object.keys(read.securitySchemes ?? {}), read.securityRequirements]).toStrictEqual([['bearer'], undefined])
  })

  it('is empty for a hybrid, whose fields for both versions agree', () => {
    const interfaces = [
      { url: 'https://a.example/0', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: 'https://a.example/r', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3', tenant: 'north' },
    ]
    const { documents } = compileCard({ name: 'A', description: 'B', supportedInterfaces: interfaces })
    expect(compileCard(documents['agent-card.json']).report.converted).toStrictEqual([])
  })

  it('reports the interfaces of v0.3 that a hybrid lists differently for v1.0', () => {
    const url = 'https://a.example/0'
    const { report } = compileCard({
      name: 'A',
      description: 'B',
      supportedInterfaces: [{ url, protocolBinding: 'GRPC', protocolVersion: '0.3' }],
      additionalInterfaces: [{ url, transport: 'GRPC', tenant: 'north' }],
    })
    expect(report.converted).toStrictEqual([
      {
        pointer: '/additionalInterfaces/0',
        message: 'ignored: an interface with the same URL and binding takes precedence',
      },
    ])
  })

  it('treats null as a missing field', () => {
    const nulls = {
      provider: null,
      version: null,
      skills: null,
      security: null,
      iconUrl: null,
      capabilities: { streaming: null },
    }
    expect(compileCard({ ...card, ...nulls }).card).toStrictEqual(compileCard(card).card)
  })

  it('splits a scheme with several OAuth flows, as v1.0 requires, into alternatives', () => {
    const flow = { tokenUrl: 'https://i.example/t', scopes: {} }
    const result = compileCard({
      ...card,
      securitySchemes: {
        o: { type: 'oauth2', flows: { clientCredentials: flow, password: flow } },
        'o-password': { type: 'mutualTLS' },
      },
      security: [{ o: ['read'] }],
    })
    expect([
      result.report.converted,
      Object.keys(result.card.securitySchemes ?? {}),
      result.card.securityRequirements,
    ]).toStrictEqual([
      [{ pointer: '/securitySchemes/o/flows', message: 'several OAuth flows, read as one scheme each' }],
      ['o', 'o-password-', 'o-password'],
      [{ schemes: { o: { list: ['read'] } } }, { schemes: { 'o-password-': { list: ['read'] } } }],
    ])
  })
})

describe('report.dropped', () => {
  it('lists the fields that each dialect cannot represent', () => {
    const interfaces = [
      { url: 'https://a.example/1', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'https://a.example/0', protocolBinding: 'JSONRPC', protocolVersion: '0.3', tenant: 'north' },
    ]
    const { report } = compileCard({
      name: 'A',
      description: 'B',
      supportedInterfaces: interfaces,
      provider: { url: 'https://a.example' },
      note: 1,
    })
    const v0 = ['/supportedInterfaces/1/tenant', '/supportedInterfaces/0']
    expect(report.dropped).toStrictEqual({
      '1.0': ['/provider', '/note'],
      '0.3': [...v0, '/provider'],
      superx: v0,
      telex: v0,
      shaman: v0,
      gopherhole: ['/supportedInterfaces/1'],
    })
  })
})

describe('a signature', () => {
  const signed = {
    ...compileCard(card).documents['1.0'],
    signatures: [{ protected: 'eyJhbGciOiJFUzI1NiJ9', signature: 'c2ln' }],
  }
  it('is kept in the 1.0 representation of a complete 1.0 card, and in no other', () => {
    const { documents } = compileCard(signed)
    const withSignatures = Object.entries(documents).filter(([, document]) => 'signatures' in document)
    expect(withSignatures).toStrictEqual([['1.0', signed]])
  })

  it.each(['agent-card.json', 'agent.json'] as const)('is kept in %s if that is what was signed', name => {
    const { documents } = compileCard(compileCard(card).documents['1.0'])
    const hybrid = { ...documents[name], signatures: signed.signatures }
    expect(compileCard(hybrid).documents[name]).toStrictEqual(hybrid)
  })

  it('is dropped, with a note, where another field is dropped', () => {
    const { documents, report } = compileCard({ ...signed, note: 1 })
    expect([documents['1.0'].signatures, report.dropped['1.0']]).toStrictEqual([undefined, ['/note', '/signatures']])
  })
})

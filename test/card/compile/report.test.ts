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
    const gopherhole = "GopherHole's default, as the card has no mark of an A2A version or of another dialect"
    expect(compileCard(card).report.filled).toStrictEqual([
      { pointer: '/protocolVersion', message: 'set to "1.0"' },
      { pointer: '/capabilities/streaming', message: `set to true: ${gopherhole}` },
      { pointer: '/capabilities/pushNotifications', message: `set to true: ${gopherhole}` },
      { pointer: '/capabilities/extendedAgentCard', message: `set to false: ${gopherhole}` },
      { pointer: '/capabilities/multiTurn', message: `set to true: ${gopherhole}` },
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

  it('keeps the first of several OAuth flows where a requirement has another scheme too', () => {
    const flow = { tokenUrl: 'https://i.example/t', scopes: {} }
    const o = { type: 'oauth2', flows: { clientCredentials: flow, password: flow } }
    const result = compileCard({
      ...card,
      securitySchemes: { o, k: { type: 'mutualTLS' } },
      security: [{ o: ['read'], k: [] }],
    })
    expect(result.card.securityRequirements).toStrictEqual([{ schemes: { o: { list: ['read'] }, k: { list: [] } } }])
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

  it('is dropped, with a note, where another field is dropped', () => {
    const { documents, report } = compileCard({ ...signed, note: 1 })
    expect([documents['1.0'].signatures, report.dropped['1.0']]).toStrictEqual([undefined, ['/note', '/signatures']])
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { authoredCard } from '../../support/cards/generated.ts'
import { getValue } from '../../support/cards/pointers.ts'
import { corpus, hasReference, skipNotice } from '../../support/cards/reference.ts'
import { readSeed, readSeedManifest, seedNames } from '../../support/cards/seeds.ts'

const card = { name: 'A', description: 'B', url: 'https://a.example/a2a' }

/** The places that a report names and that do not stand in the authored card; defaults stand nowhere, by nature. */
const danglingPlaces = (document: Json, authored: Json): string[] => {
  const result = compile(document, { id: 'a', requestOrigin: 'https://h.example' })
  if ('errors' in result) return []
  const { converted, dropped, filled } = result.compiled.report
  const places = [...converted.map(note => note.pointer), ...Object.values(dropped).flat()]
  return [
    ...places.filter(place => getValue(authored, place) === undefined),
    ...filled.map(note => note.pointer).filter(place => isSaid(getValue(authored, place)) && !isList(authored, place)),
  ]
}

/** Flags that are written as a list have no place of their own. */
const isList = (authored: Json, place: string): boolean =>
  place === '/capabilities' && Array.isArray(getValue(authored, place))

const isSaid = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

describe('every pointer of a report stands in the authored card, and every default where nothing stood', () => {
  it('of generated cards', () => {
    fc.assert(
      fc.property(authoredCard, generated => {
        const authored = JSON.parse(JSON.stringify(generated))
        expect(danglingPlaces(authored, authored)).toStrictEqual([])
      }),
    )
  })

  it.each(seedNames)('of %s', name => {
    expect(danglingPlaces(readSeedManifest(name), readSeed(name))).toStrictEqual([])
  })

  it.skipIf(!hasReference)(`of the corpus${skipNotice}`, () => {
    const dangling = corpus.flatMap(({ file, text }) => {
      const parsed = parseJson(text)
      return 'value' in parsed ? danglingPlaces(parsed.value, parsed.value).map(place => `${file} ${place}`) : []
    })
    expect(dangling).toStrictEqual([])
  })
})

describe("filled: GopherHole's defaults, then what A2A requires", () => {
  it('of the minimal card', () => {
    const skill = { id: 'main', name: 'A', description: 'B', tags: ['general'] }
    expect(compileCard(card).report.filled).toStrictEqual([
      { pointer: '/protocolVersion', message: 'set to "1.0"' },
      { pointer: '/capabilities/streaming', message: 'set to true' },
      { pointer: '/capabilities/pushNotifications', message: 'set to true' },
      { pointer: '/capabilities/extendedAgentCard', message: 'set to false' },
      { pointer: '/capabilities/multiTurn', message: 'set to true' },
      { pointer: '/version', message: 'set to "1.0.0"' },
      { pointer: '/defaultInputModes', message: 'set to ["text/plain","application/json"]' },
      { pointer: '/defaultOutputModes', message: 'set to ["text/plain","application/json"]' },
      { pointer: '/skills', message: `set to ${JSON.stringify([skill])}` },
    ])
  })

  it.each<[string, JsonObject, JsonObject]>([
    [
      'Telex documents false for what is not declared',
      { supportedProtocols: [] },
      { streaming: false, pushNotifications: false },
    ],
    [
      'an MCP server does neither stream nor push',
      { protocol: 'mcp' },
      { streaming: false, pushNotifications: false, multiTurn: false },
    ],
    ['what is authored stays', { capabilities: { streaming: false } }, { streaming: false, pushNotifications: true }],
  ])('%s', (_, more, flags) => {
    expect(compileCard({ ...card, ...more }).card.capabilities).toMatchObject(flags)
  })
})

describe('converted: what was read in another form', () => {
  it.each<[string, JsonObject, JsonObject, { pointer: string; message: string }[]]>([
    [
      'a version as a number',
      { version: 2 },
      { version: '2' },
      [{ pointer: '/version', message: 'a number, read as text' }],
    ],
    [
      'a protocolVersion as a number',
      { protocolVersion: 1 },
      {},
      [{ pointer: '/protocolVersion', message: 'a number, read as text' }],
    ],
    [
      'a provider as a name',
      { provider: 'ACME' },
      { provider: { organization: 'ACME' } },
      [{ pointer: '/provider', message: 'a name, read as the organization' }],
    ],
    [
      'one mode without its list',
      { defaultInputModes: 'text' },
      { defaultInputModes: ['text'] },
      [{ pointer: '/defaultInputModes', message: 'one media type, read as a list' }],
    ],
    [
      'a name in snake_case',
      { default_input_modes: ['a/b'] },
      { defaultInputModes: ['a/b'] },
      [{ pointer: '/default_input_modes', message: 'read as defaultInputModes' }],
    ],
    [
      'flags as a list',
      { capabilities: ['push_notifications'] },
      {},
      [{ pointer: '/capabilities', message: 'a list of names, read as flags' }],
    ],
    [
      'two words for one flag',
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
      'the memory form of a server',
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
      'authentication by name',
      { authentication: { schemes: ['Bearer'] } },
      {
        securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
        securityRequirements: [{ schemes: { bearer: { list: [] } } }],
      },
      [{ pointer: '/authentication', message: 'read as security schemes' }],
    ],
  ])('%s', (_, more, read, converted) => {
    const result = compileCard({ ...card, ...more })
    expect([result.report.converted, result.card]).toStrictEqual([converted, expect.objectContaining(read)])
  })

  it('authentication that is not required asks for nothing', () => {
    const { card: read } = compileCard({ ...card, authentication: { required: false, methods: ['bearer'] } })
    expect([Object.keys(read.securitySchemes ?? {}), read.securityRequirements]).toStrictEqual([['bearer'], undefined])
  })

  it('a hybrid says one thing in several words, of which none is converted', () => {
    const interfaces = [
      { url: 'https://a.example/0', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: 'https://a.example/r', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3', tenant: 'north' },
    ]
    const { documents } = compileCard({ name: 'A', description: 'B', supportedInterfaces: interfaces })
    expect(compileCard(documents['agent-card.json']).report.converted).toStrictEqual([])
  })

  it('a hybrid whose lists disagree: that of v1.0 counts', () => {
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

  it('null is not there', () => {
    const nothing = {
      provider: null,
      version: null,
      skills: null,
      security: null,
      iconUrl: null,
      capabilities: { streaming: null },
    }
    expect(compileCard({ ...card, ...nothing }).card).toStrictEqual(compileCard(card).card)
  })

  it('several OAuth flows, which v1.0 allows one by one: each is an alternative', () => {
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

  it('beside others, a scheme of several OAuth flows counts by its first', () => {
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

describe('dropped: what a dialect has no place for', () => {
  it('by dialect', () => {
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

describe('a signature stays only where what is served is what was signed', () => {
  const signed = {
    ...compileCard(card).documents['1.0'],
    signatures: [{ protected: 'eyJhbGciOiJFUzI1NiJ9', signature: 'c2ln' }],
  }
  it('1.0, authored whole: it stays there, and nowhere else', () => {
    const { documents } = compileCard(signed)
    const where = Object.entries(documents).filter(([, document]) => 'signatures' in document)
    expect(where).toStrictEqual([['1.0', signed]])
  })

  it('1.0, with a field that is dropped: it goes, and the report says so', () => {
    const { documents, report } = compileCard({ ...signed, note: 1 })
    expect([documents['1.0'].signatures, report.dropped['1.0']]).toStrictEqual([undefined, ['/note', '/signatures']])
  })
})

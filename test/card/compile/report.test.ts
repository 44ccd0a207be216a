import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard } from '../../support/cards/compile.ts'

describe('report.filled', () => {
  it("lists GopherHole's defaults, then those that A2A requires", () => {
    const skill = { id: 'main', name: 'A', description: 'B', tags: ['general'] }
    const gopherhole = "GopherHole's default, as no `protocolVersion` is given"
    const advertised = `will be advertised as supported; set it to true or false (${gopherhole})`
    const { filled } = compileCard(card).report
    expect(filled.map(({ pointer, message }) => ({ pointer, message }))).toStrictEqual([
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
})

describe('report.converted', () => {
  const url = 'https://a.example/a2a'
  const v1 = { url: undefined, supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] }
  const http = { type: 'http', scheme: 'bearer' }
  const wrapped = { httpAuthSecurityScheme: { scheme: 'bearer' } }
  const requires = (name: string, ...list: string[]) => [{ schemes: { [name]: { list } } }]

  it('reports what is read in another form', () => {
    const precedence = (field: string) => `ignored: ${field} is set too, and takes precedence`
    const inMemory = { scheme: { $case: 'httpAuthSecurityScheme', value: { scheme: 'bearer' } } }
    const short = { httpAuth: { scheme: 'bearer', bearer_format: 'JWT' } }
    const rows: [fields: JsonObject, canonical: JsonObject, ...converted: string[]][] = [
      [{ version: 2 }, { version: '2' }, '/version a number, read as text'],
      [{ provider: 'ACME' }, { provider: { organization: 'ACME' } }, '/provider a name, read as the organization'],
      [
        { defaultInputModes: 'text' },
        { defaultInputModes: ['text'] },
        '/defaultInputModes one media type, read as a list',
      ],
      [
        { default_input_modes: ['a/b'] },
        { defaultInputModes: ['a/b'] },
        '/default_input_modes read as defaultInputModes',
      ],
      [{ capabilities: ['push_notifications'] }, {}, '/capabilities a list of names, read as flags'],
      [
        { capabilities: { extendedAgentCard: true }, supportsAuthenticatedExtendedCard: false },
        {},
        `/supportsAuthenticatedExtendedCard ${precedence('capabilities.extendedAgentCard')}`,
      ],
      [
        { security: { audit: true } },
        {},
        '/security left out: must be a list of requirements, such as [{ "bearer": [] }]',
      ],
      [
        { security: [{ a: [] }], securityRequirements: requires('b') },
        { securityRequirements: requires('b') },
        `/security ${precedence('securityRequirements')}`,
      ],
      [
        { securitySchemes: { b: inMemory } },
        { securitySchemes: { b: wrapped } },
        '/securitySchemes/b the in-memory form of the official JavaScript SDK, read as a security scheme',
      ],
      [
        { ...v1, securitySchemes: { b: short } } as unknown as JsonObject,
        { securitySchemes: { b: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } } } },
        '/securitySchemes/b/httpAuth read as httpAuthSecurityScheme',
        '/securitySchemes/b/httpAuth/bearer_format read as bearerFormat',
      ],
      [
        { authentication: { schemes: ['Bearer'] } },
        { securitySchemes: { bearer: wrapped }, securityRequirements: requires('bearer') },
        '/authentication read as security schemes',
      ],
    ]
    for (const [fields, canonical, ...converted] of rows) {
      const result = compileCard({ ...card, ...fields })
      expect(result.report.converted.map(({ pointer, message }) => `${pointer} ${message}`)).toStrictEqual(converted)
      expect(result.card).toMatchObject(canonical)
    }
  })

  it('reports the form of another version', () => {
    const asIn0_3 = 'in the form of A2A 0.3, read as httpAuthSecurityScheme'
    const asRequirements = 'a field of A2A 0.3, read as securityRequirements'
    const key = { name: 'k', in: 'header' }
    const rows: [fields: object, converted: Record<string, string>][] = [
      [
        { securitySchemes: { b: { ...http, type: 'httpAuth' }, k: { ...key, type: 'apikey' } } },
        { '/securitySchemes/b/type': 'read as "http"', '/securitySchemes/k/type': 'read as "apiKey"' },
      ],
      [{ ...v1, securitySchemes: { b: http } }, { '/securitySchemes/b': asIn0_3 }],
      [
        { securitySchemes: { b: wrapped } },
        { '/securitySchemes/b': 'in the form of A2A 1.0: in 0.3, its type is "http"' },
      ],
      [{ ...v1, securitySchemes: { b: wrapped }, security: [{ b: [] }] }, { '/security': asRequirements }],
      [{ ...v1, skills: [{ id: 'a', name: 'A', security: [{ b: [] }] }] }, { '/skills/0/security': asRequirements }],
      [
        { securitySchemes: { b: http }, security: ['b'] },
        { '/security/0': 'a name, read as a requirement without scopes' },
      ],
      [{ securitySchemes: { b: http }, security: { b: [] } }, { '/security': 'one requirement, read as a list' }],
      [
        { ...v1, securityRequirements: [{ b: [] }] },
        { '/securityRequirements/0': 'in the form of A2A 0.3, read as { "schemes": … }' },
      ],
      [{ security: requires('b') }, { '/security/0': 'in the form of A2A 1.0' }],
      [
        { ...v1, securityRequirements: [{ schemes: { b: ['read'] } }] },
        { '/securityRequirements/0': 'lists of scopes, read as { "list": … }' },
      ],
      [
        { ...v1, securitySchemes: { k: { apiKeySecurityScheme: key } } },
        { '/securitySchemes/k/apiKeySecurityScheme/in': 'read as location' },
      ],
      [
        { ...v1, securitySchemes: { b: { ...wrapped, type: 'apiKey' } } },
        { '/securitySchemes/b/type': 'ignored: `httpAuthSecurityScheme` defines the scheme' },
      ],
      [
        { securitySchemes: { k: { type: 'apiKey', name: 'k', location: 'header' } } },
        { '/securitySchemes/k/location': 'the name of A2A 1.0 for `in`' },
      ],
      [
        { ...v1, supportsAuthenticatedExtendedCard: true },
        { '/supportsAuthenticatedExtendedCard': 'a field of A2A 0.3, read as capabilities.extendedAgentCard' },
      ],
      [
        { interfaces: [{ url: 'https://a.example/grpc', transport: 'GRPC' }] },
        { '/interfaces': 'a field of drafts of A2A, read as supportedInterfaces' },
      ],
    ]
    for (const [fields, converted] of rows) {
      const { report } = compileCard(JSON.parse(JSON.stringify({ ...card, ...fields })))
      expect(Object.fromEntries(report.converted.map(each => [each.pointer, each.message]))).toStrictEqual(converted)
    }
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
    const names = ['provider', 'version', 'skills', 'security', 'iconUrl']
    const nulls = { ...Object.fromEntries(names.map(name => [name, null])), capabilities: { streaming: null } }
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

  it('is kept in a hybrid if that is what was signed', () => {
    const { documents } = compileCard(compileCard(card).documents['1.0'])
    for (const name of ['agent-card.json', 'agent.json'] as const) {
      const hybrid = { ...documents[name], signatures: signed.signatures }
      expect(compileCard(hybrid).documents[name]).toStrictEqual(hybrid)
    }
  })

  it('is dropped, with a note, where another field is dropped', () => {
    const { documents, report } = compileCard({ ...signed, note: 1 })
    expect([documents['1.0'].signatures, report.dropped['1.0']]).toStrictEqual([undefined, ['/note', '/signatures']])
  })
})

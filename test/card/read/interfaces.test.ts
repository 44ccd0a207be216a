import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { shortCard } from '../../support/cards/cards.ts'
import { compileCard, formatIssues } from '../../support/cards/compile.ts'

const { url, ...urlless } = shortCard

/** Returns the bindings of a card's interfaces, and the notes on what was read in another form. */
const readTransports = (card: JsonObject) => {
  const { card: canonical, report } = compileCard(card)
  return {
    bindings: canonical.supportedInterfaces.map(({ protocolBinding }) => protocolBinding),
    converted: report.converted.map(({ pointer, message }) => `${pointer} ${message}`),
    issues: formatIssues(report.issues).filter(issue => issue.startsWith('transport-')),
  }
}

describe('the transport of a card', () => {
  it.each<[string, JsonObject]>([
    ['/protocol', { protocol: 'rest' }],
    ['/protocol', { protocol: 'HTTP+JSON' }],
    ['/transport', { transport: 'http' }],
    ['/transport', { transport: 'REST' }],
    ['/preferredTransport', { preferredTransport: 'rest' }],
    ['/preferredTransport', { preferredTransport: 'HTTP_JSON' }],
    ['/preferredTransport', { preferredTransport: 'http/json' }],
    ['/preferred_transport', { preferred_transport: 'http' }],
  ])('is HTTP+JSON as in %s %j', (pointer, fields) => {
    const { bindings, converted, issues } = readTransports({ ...shortCard, ...fields })
    expect({ bindings, issues }).toStrictEqual({ bindings: ['HTTP+JSON'], issues: [] })
    expect(converted.filter(note => note.startsWith(pointer)).at(-1)).toBe(`${pointer} read as "HTTP+JSON"`)
  })

  it.each<[string, JsonObject]>([
    ['JSONRPC', { protocol: 'jsonrpc' }],
    ['JSONRPC', { transport: 'JSON-RPC 2.0' }],
    ['JSONRPC', { preferredTransport: 'json_rpc' }],
    ['GRPC', { protocol: 'gRPC' }],
    ['GRPC', { transport: 'grpc' }],
    ['websocket', { transport: 'websocket' }],
    ['websocket', { protocol: 'websocket' }],
    ['JSONRPC', { protocol: 'A2A' }],
    ['JSONRPC', { protocol: 'a2a-v1' }],
    ['MCP', { protocol: 'mcp', transport: 'http' }],
    ['JSONRPC', { transport: { type: 'http' } }],
  ])('is %s as in %j', (binding, fields) => {
    expect(readTransports({ ...shortCard, ...fields }).bindings).toStrictEqual([binding])
  })

  it.each<[string, JsonObject]>([
    ['protocol', { url, protocol: 'rest' }],
    ['transport', { url, transport: 'http' }],
    ['protocolBinding', { url, protocolBinding: 'http' }],
  ])('is read from `%s` of an interface', (name, item) => {
    const at = `/supportedInterfaces/0/${name}`
    const { bindings, converted } = readTransports({ ...urlless, supportedInterfaces: [item] })
    expect(bindings).toStrictEqual(['HTTP+JSON'])
    expect(converted).toContain(`${at} read as "HTTP+JSON"`)
  })

  it('is the same in every dialect, and in none of them the word that was read', () => {
    const { documents } = compileCard({ ...shortCard, protocolVersion: '0.3.0', protocol: 'rest' })
    expect(documents['0.3']).toMatchObject({ preferredTransport: 'HTTP+JSON' })
    expect(documents['agent-card.json']).not.toHaveProperty('protocol')
    expect(documents.superx.protocol).toBe('a2a')
  })

  it.each<[string, JsonObject]>([
    ['/transport', { preferredTransport: 'JSONRPC', transport: 'http' }],
    ['/protocol', { preferredTransport: 'JSONRPC', protocol: 'rest' }],
    ['/protocol', { transport: 'http', protocol: 'jsonrpc' }],
    [
      '/additionalInterfaces/0/transport',
      { additionalInterfaces: [{ url, protocolBinding: 'GRPC', transport: 'http' }] },
    ],
    ['/interfaces/0/protocol', { interfaces: [{ url, transport: 'JSONRPC', protocol: 'rest' }] }],
    [
      '/preferredTransport',
      {
        preferredTransport: 'JSONRPC',
        supportedInterfaces: [{ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
      },
    ],
    [
      '/protocol',
      {
        url: null,
        protocol: 'rest',
        supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      },
    ],
  ])('that clashes with another is an error at %s: %j', (pointer, fields) => {
    expect(readTransports({ ...shortCard, ...fields }).issues).toStrictEqual([`transport-clash error ${pointer}`])
  })

  it.each<[string, JsonObject]>([
    ['the same word twice', { preferredTransport: 'JSONRPC', transport: 'json-rpc', protocol: 'jsonrpc' }],
    ["SuperX's protocol", { preferredTransport: 'HTTP+JSON', protocol: 'a2a' }],
    ['another transport at the same URL', { additionalInterfaces: [{ url, transport: 'HTTP+JSON' }] }],
    [
      'a hybrid',
      {
        preferredTransport: 'JSONRPC',
        supportedInterfaces: [
          { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
          { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        ],
      },
    ],
  ])('does not clash in a card with %s', (_, fields) => {
    expect(readTransports({ ...shortCard, ...fields }).issues).toStrictEqual([])
  })

  it('that A2A does not have is a warning, unless it is a URI or MCP', () => {
    const warnings = (preferredTransport: string) => readTransports({ ...shortCard, preferredTransport }).issues
    expect(warnings('websocket')).toStrictEqual(['transport-unknown warning /preferredTransport'])
    expect([...warnings('https://example.com/bindings/websocket'), ...warnings('MCP')]).toStrictEqual([])
  })
})

describe('the protocol version of a card', () => {
  it.each(['0.2.1', '0.2.6', '0.3.1'])('keeps its patch number in every representation of 0.x: %s', protocolVersion => {
    const { documents, report, card } = compileCard({ ...shortCard, protocolVersion })
    const { '1.0': v1, ...others } = documents
    expect(Object.values(others).map(document => document.protocolVersion)).toStrictEqual(
      Object.keys(others).map(() => protocolVersion),
    )
    expect([v1.supportedInterfaces, card.supportedInterfaces[0]?.protocolVersion]).toStrictEqual([
      card.supportedInterfaces,
      protocolVersion.slice(0, 3),
    ])
    expect(report.converted).toStrictEqual([])
  })

  it.each(['v0.3.0', 'V0.3'])('is 0.3, without defaults of GopherHole, with a "v": %j', protocolVersion => {
    const { report, card, documents } = compileCard({ ...shortCard, protocolVersion })
    expect([report.dialect, card.supportedInterfaces[0]?.protocolVersion, documents['0.3'].protocolVersion]).toEqual([
      '0.3',
      '0.3',
      '0.3.0',
    ])
    expect(card.capabilities).toMatchObject({ streaming: false, pushNotifications: false })
  })

  it('is a mark of Shaman with a "v" too, where skills have no ids', () => {
    const card = {
      ...shortCard,
      protocolVersion: 'v0.3.0',
      skills: [{ name: 'Talk', description: 'Talks', tags: ['a'] }],
    }
    expect(compileCard(card).report.dialect).toBe('shaman')
  })

  it('is read for the endpoint that a manifest gives to an MCP server', () => {
    const document = { upstream: { mcp: 'https://a.example/mcp', url }, card: { protocolVersion: 'v0.3.0' } }
    const { card } = compileCard(document, { name: 'A', description: 'B' })
    expect(card.supportedInterfaces).toMatchObject([{ url, protocolVersion: '0.3' }])
  })

  it.each([
    ['v1.0', '1.0'],
    ['1', '1.0'],
    ['2025-06-18', '2025-06-18'],
    ['version 1', 'version 1'],
  ])('is read from %j: %j', (protocolVersion, expected) => {
    const { card } = compileCard({ ...shortCard, protocolVersion })
    expect(card.supportedInterfaces[0]?.protocolVersion).toBe(expected)
  })

  it('keeps its patch number behind the gateway', () => {
    const card = { ...shortCard, protocolVersion: '0.3.1' }
    expect(compileCard({ card, route: 'gateway' }).documents['0.3'].protocolVersion).toBe('0.3.1')
  })

  it('is written for the interface of the representation', () => {
    const { documents, report } = compileCard({
      ...shortCard,
      protocolVersion: '0.3.1',
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
    })
    expect([documents['agent-card.json'].protocolVersion, documents['agent.json'].protocolVersion]).toStrictEqual([
      '0.3.1',
      '1.0',
    ])
    expect([report.dropped.gopherhole, report.dropped['0.3']]).toStrictEqual([
      ['/supportedInterfaces/1', '/protocolVersion'],
      ['/supportedInterfaces/0'],
    ])
  })

  it.each<[string, JsonObject, string, string]>([
    ['a patch number of 1.0', { protocolVersion: '1.0.0' }, '/protocolVersion', 'read as "1.0"'],
    ['a "v" before 0.3', { protocolVersion: 'v0.3.0' }, '/protocolVersion', 'read as "0.3"'],
    ['a "v" before 1.0', { protocolVersion: 'v1.0' }, '/protocolVersion', 'read as "1.0"'],
    ['only a major number', { protocolVersion: '1' }, '/protocolVersion', 'read as "1.0"'],
    [
      'a "v" in the list of interfaces',
      { supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: 'V1.0.0' }] },
      '/supportedInterfaces/0/protocolVersion',
      'read as "1.0"',
    ],
    ['white space', { protocolVersion: ' 0.3.0 ' }, '/protocolVersion', 'read as "0.3"'],
    [
      'a patch number in the list of interfaces',
      { supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '0.3.0' }] },
      '/supportedInterfaces/0/protocolVersion',
      'read as "0.3"',
    ],
    [
      'a version of no interface',
      { protocolVersion: '0.3.0', supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] },
      '/protocolVersion',
      'ignored: supportedInterfaces is set too, and takes precedence',
    ],
  ])('is reported as converted with %s', (_, fields, pointer, message) => {
    expect(compileCard({ ...shortCard, ...fields }).report.converted).toStrictEqual([{ pointer, message }])
  })
})

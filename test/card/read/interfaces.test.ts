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
  it('is HTTP+JSON in all its spellings', () => {
    const cards: JsonObject[] = [
      { protocol: 'rest' },
      { transport: 'http' },
      { preferredTransport: 'rest' },
      { preferredTransport: 'HTTP_JSON' },
      { preferred_transport: 'http' },
    ]
    for (const fields of cards) {
      const pointer = `/${Object.keys(fields)[0]}`
      const { bindings, converted, issues } = readTransports({ ...shortCard, ...fields })
      expect({ bindings, issues }).toStrictEqual({ bindings: ['HTTP+JSON'], issues: [] })
      expect(converted.filter(note => note.startsWith(pointer)).at(-1)).toBe(`${pointer} read as "HTTP+JSON"`)
    }
  })

  it('is read from each name of the field, and JSONRPC by default', () => {
    const rows: [JsonObject, string][] = [
      [{ protocol: 'jsonrpc' }, 'JSONRPC'],
      [{ transport: 'JSON-RPC 2.0' }, 'JSONRPC'],
      [{ protocol: 'gRPC' }, 'GRPC'],
      [{ transport: 'websocket' }, 'websocket'],
      [{ protocol: 'A2A' }, 'JSONRPC'],
      [{ protocol: 'mcp', transport: 'http' }, 'MCP'],
      [{ transport: { type: 'http' } }, 'JSONRPC'],
    ]
    for (const [fields, binding] of rows)
      expect([fields, ...readTransports({ ...shortCard, ...fields }).bindings]).toStrictEqual([fields, binding])
  })

  it('is read from each name that an interface has for it', () => {
    for (const [name, word] of Object.entries({ protocol: 'rest', transport: 'http', protocolBinding: 'http' })) {
      const { bindings, converted } = readTransports({ ...urlless, supportedInterfaces: [{ url, [name]: word }] })
      expect(bindings).toStrictEqual(['HTTP+JSON'])
      expect(converted).toContain(`/supportedInterfaces/0/${name} read as "HTTP+JSON"`)
    }
  })

  it('is the same in every dialect, and in none of them the word that was read', () => {
    const { documents } = compileCard({ ...shortCard, protocolVersion: '0.3.0', protocol: 'rest' })
    expect(documents['0.3']).toMatchObject({ preferredTransport: 'HTTP+JSON' })
    expect(documents['agent-card.json']).not.toHaveProperty('protocol')
    expect(documents.superx.protocol).toBe('a2a')
  })

  const listed = (protocolBinding: string, protocolVersion = '1.0') => ({ url, protocolBinding, protocolVersion })

  it('that clashes with another is an error, unless both mean the same', () => {
    const rows: [fields: JsonObject, ...pointers: string[]][] = [
      [{ preferredTransport: 'JSONRPC', transport: 'http' }, '/transport'],
      [{ preferredTransport: 'JSONRPC', protocol: 'rest' }, '/protocol'],
      [
        { additionalInterfaces: [{ url, protocolBinding: 'GRPC', transport: 'http' }] },
        '/additionalInterfaces/0/transport',
      ],
      [{ interfaces: [{ url, transport: 'JSONRPC', protocol: 'rest' }] }, '/interfaces/0/protocol'],
      [{ preferredTransport: 'JSONRPC', supportedInterfaces: [listed('HTTP+JSON')] }, '/preferredTransport'],
      [{ url: null, protocol: 'rest', supportedInterfaces: [listed('JSONRPC')] }, '/protocol'],
      [{ preferredTransport: 'JSONRPC', transport: 'json-rpc', protocol: 'jsonrpc' }],
      // As SuperX writes it.
      [{ preferredTransport: 'HTTP+JSON', protocol: 'a2a' }],
      [{ additionalInterfaces: [{ url, transport: 'HTTP+JSON' }] }],
      [{ preferredTransport: 'JSONRPC', supportedInterfaces: [listed('HTTP+JSON'), listed('JSONRPC', '0.3')] }],
    ]
    for (const [fields, ...pointers] of rows) {
      const { issues } = readTransports({ ...shortCard, ...fields })
      expect([fields, issues]).toStrictEqual([fields, pointers.map(pointer => `transport-clash error ${pointer}`)])
    }
  })

  it('that A2A does not have is a warning, unless it is a URI or MCP', () => {
    const warnings = (preferredTransport: string) => readTransports({ ...shortCard, preferredTransport }).issues
    expect(warnings('websocket')).toStrictEqual(['transport-unknown warning /preferredTransport'])
    expect([...warnings('https://example.com/bindings/websocket'), ...warnings('MCP')]).toStrictEqual([])
  })
})

describe('the protocol version of a card', () => {
  it('keeps its patch number in every representation of 0.x', () => {
    for (const protocolVersion of ['0.2.6', '0.3.1']) {
      const { documents, report, card } = compileCard({ ...shortCard, protocolVersion })
      const { '1.0': v1, ...others } = documents
      for (const document of Object.values(others)) expect(document.protocolVersion).toBe(protocolVersion)
      expect(v1.supportedInterfaces).toStrictEqual(card.supportedInterfaces)
      expect([card.supportedInterfaces[0]?.protocolVersion, report.converted]).toStrictEqual([
        protocolVersion.slice(0, 3),
        [],
      ])
    }
  })

  it('is 0.3, without defaults of GopherHole, with a "v"', () => {
    for (const protocolVersion of ['v0.3.0', 'V0.3']) {
      const { report, card, documents } = compileCard({ ...shortCard, protocolVersion })
      expect(card.supportedInterfaces).toMatchObject([{ protocolVersion: '0.3' }])
      expect([report.dialect, documents['0.3'].protocolVersion]).toEqual(['0.3', '0.3.0'])
      expect(card.capabilities).toMatchObject({ streaming: false, pushNotifications: false })
    }
  })

  it('is read for the endpoint that a manifest gives to an MCP server', () => {
    const document = { upstream: { mcp: 'https://a.example/mcp', url }, card: { protocolVersion: 'v0.3.0' } }
    const { card } = compileCard(document, { name: 'A', description: 'B' })
    expect(card.supportedInterfaces).toMatchObject([{ url, protocolVersion: '0.3' }])
  })

  it('is read in other spellings, and kept where it is of another protocol', () => {
    const rows = { 'v1.0': '1.0', '1': '1.0', '2025-06-18': '2025-06-18', 'version 1': 'version 1' }
    for (const [protocolVersion, expected] of Object.entries(rows))
      expect(compileCard({ ...shortCard, protocolVersion }).card.supportedInterfaces).toMatchObject([
        { protocolVersion: expected },
      ])
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

  it('is reported as converted where it is written in another way', () => {
    const listed = (protocolVersion: string) => [{ url, protocolBinding: 'JSONRPC', protocolVersion }]
    const rows: [JsonObject, pointer: string, message: string][] = [
      [{ protocolVersion: '1.0.0' }, '/protocolVersion', 'read as "1.0"'],
      [{ protocolVersion: 'v0.3.0' }, '/protocolVersion', 'read as "0.3"'],
      [{ protocolVersion: ' 0.3.0 ' }, '/protocolVersion', 'read as "0.3"'],
      [{ supportedInterfaces: listed('V1.0.0') }, '/supportedInterfaces/0/protocolVersion', 'read as "1.0"'],
      // The version of no interface.
      [
        { protocolVersion: '0.3.0', supportedInterfaces: listed('1.0') },
        '/protocolVersion',
        'ignored: supportedInterfaces is set too, and takes precedence',
      ],
    ]
    for (const [fields, pointer, message] of rows)
      expect(compileCard({ ...shortCard, ...fields }).report.converted).toStrictEqual([{ pointer, message }])
  })
})

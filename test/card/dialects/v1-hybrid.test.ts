import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { bilingualCard } from '../../support/cards/cards.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { schemaErrors } from '../../support/schemas/index.ts'

const securitySchemes = {
  bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
  key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
}
const v1Card = {
  ...bilingualCard,
  supportedInterfaces: bilingualCard.supportedInterfaces.slice(0, 1),
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true, multiTurn: true },
  securitySchemes,
  termsOfServiceUrl: 'https://bilingual.example.com/terms',
  'x-team': 'weather',
}
const gopherholeCard = {
  name: 'Gopher',
  description: 'Digs tunnels',
  url: 'https://gopher.example.com/a2a',
  protocolVersion: '1.0',
}

const v0Fields = ['url', 'preferredTransport', 'additionalInterfaces', 'protocolVersion', 'security'] as const
const fieldsForV0 = (document: JsonObject) =>
  [...v0Fields, 'supportsAuthenticatedExtendedCard'].filter(name => name in document)
const documentsOf = (card: JsonObject, manifest: JsonObject = {}) => compileCard({ card, ...manifest }).documents
const behindGateway = { route: 'gateway', upstream: { url: 'https://inner.example/a2a' } }
const withoutBridge = { ...behindGateway, bridge: 'off' }

describe('agent-card.json of an agent that speaks A2A 1.0 only', () => {
  const document = documentsOf(v1Card)['agent-card.json']

  it('has no field by which readers of v0.x would call the agent', () => {
    expect(fieldsForV0(document)).toEqual([])
    expect(JSON.stringify(document)).not.toMatch(/"(?:security|in|type)":/)
  })

  it('is a card of 1.0, with the unknown fields of its author', () => {
    expect(schemaErrors('1.0', document)).toEqual([])
    expect(document).toMatchObject({
      termsOfServiceUrl: 'https://bilingual.example.com/terms',
      'x-team': 'weather',
      securitySchemes,
      capabilities: { multiTurn: true },
    })
  })

  it('has the fields of v0.x at the path of GopherHole', () => {
    expect(fieldsForV0(documentsOf(v1Card)['agent.json'])).toEqual([
      'url',
      'preferredTransport',
      'protocolVersion',
      'security',
      'supportsAuthenticatedExtendedCard',
    ])
  })
})

describe('the fields of v0.x in agent-card.json', () => {
  const v0Interface = { url: 'https://bilingual.example.com/v0', protocolBinding: 'JSONRPC', protocolVersion: '0.3' }
  const url = 'https://mcp.example/mcp'
  const mcpCard = { name: 'Tools', description: 'Has tools', url, protocol: 'mcp', skills: [] }

  it('are there unless the agent speaks 1.0 only, in a card of 1.0 or behind a gateway without a bridge', () => {
    const rows: [card: JsonObject, manifest: JsonObject, expected: boolean][] = [
      [bilingualCard, {}, true],
      [{ ...v1Card, supportedInterfaces: [v0Interface] }, {}, true],
      [{ ...mcpCard, protocolVersion: '2025-06-18' }, {}, true],
      // `url` is GopherHole's own field.
      [gopherholeCard, {}, true],
      // The gateway translates calls of 0.3, or refuses them.
      [gopherholeCard, behindGateway, true],
      [gopherholeCard, withoutBridge, false],
      [v1Card, withoutBridge, false],
      [v1Card, { route: 'closed' }, false],
    ]
    for (const [card, manifest, expected] of rows) {
      const documents = documentsOf(card, manifest)
      expect(['url' in documents['agent-card.json'], 'url' in documents['agent.json']]).toEqual([expected, true])
    }
  })
})

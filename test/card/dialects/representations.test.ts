import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { authoredCard, numRuns } from '../../support/cards/generated.ts'
import { versionErrors } from '../../support/schemas/index.ts'

const card = { name: 'A', description: 'B', url: 'https://a.example/a2a' }

describe('the representations are valid against the schemas of A2A 1.0 and 0.3', () => {
  it('for every generated card that registers', () => {
    let registered = 0
    fc.assert(
      fc.property(authoredCard, generated => {
        const result = compile(JSON.parse(JSON.stringify(generated)), { id: 'a', requestOrigin: 'https://h.example' })
        if ('errors' in result) return
        registered++
        const { documents } = result.compiled
        expect(versionErrors(documents)).toStrictEqual([])
      }),
    )
    expect(registered).toBeGreaterThan(numRuns / 2)
  })

  it.each([{ organization: 'ACME' }, { url: 'https://acme.example' }])(
    'a provider of %j alone is left out',
    provider => {
      const { documents, report } = compileCard({ ...card, provider })
      expect([documents['1.0'].provider, documents['0.3'].provider, report.dropped]).toStrictEqual([
        undefined,
        undefined,
        { '1.0': ['/provider'], '0.3': ['/provider'] },
      ])
    },
  )
})

describe('the hybrid', () => {
  const interfaces = [
    { url: 'https://a.example/1', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'https://a.example/0', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ]

  it('sends v0.x readers to what speaks 0.x; the two paths differ in protocolVersion only', () => {
    const { documents } = compileCard({ name: 'A', description: 'B', supportedInterfaces: interfaces })
    const hybrid = documents['agent-card.json']
    expect([hybrid, documents['agent.json']]).toStrictEqual([
      expect.objectContaining({
        url: 'https://a.example/0',
        protocolVersion: '0.3.0',
        supportedInterfaces: interfaces,
      }),
      { ...hybrid, protocolVersion: '1.0' },
    ])
  })

  it.each([
    ['a2a', 'a2a'],
    ['mcp', 'mcp'],
  ])("bears SuperX's word where a SuperX card was authored: %s", (protocol, word) => {
    const { documents } = compileCard({ ...card, protocol })
    expect([documents['agent-card.json'].protocol, documents['agent.json'].protocol]).toStrictEqual([word, word])
  })

  it('of another card has no such word', () => {
    expect(compileCard(card).documents['agent-card.json']).not.toHaveProperty('protocol')
  })
})

describe('what is not a card is named', () => {
  it.each<[JsonObject, string, string]>([
    [
      { type: 'https://eips.example/EIPS/eip-8004#registration-v1' },
      '/type',
      'is an ERC-8004 registration, not an A2A card',
    ],
    [{ type: 'ERC-8004' }, '/type', 'is an ERC-8004 registration, not an A2A card'],
    [{ agents: [] }, '/agents', 'is a directory of agents, not the card of one'],
    [{ agent: {} }, '/agent', 'is a description of an agent, but not an A2A card'],
    [{ endpoints: [] }, '/endpoints', 'is a list of HTTP endpoints, not an A2A card'],
  ])('%j', (document, pointer, message) => {
    expect(getCompileErrors(document)[0]).toStrictEqual({ pointer, message })
  })
})

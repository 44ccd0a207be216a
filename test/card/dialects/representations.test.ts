import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'

describe('the representations of a card', () => {
  it('leave out an incomplete provider', () => {
    for (const provider of [{ organization: 'ACME' }, { url: 'https://acme.example' }]) {
      const { documents, report } = compileCard({ ...card, provider })
      const representations = ['1.0', '0.3', 'agent-card.json', 'agent.json'] as const
      expect(representations.filter(name => 'provider' in documents[name])).toEqual([])
      expect(report.dropped).toStrictEqual({ '1.0': ['/provider'], '0.3': ['/provider'] })
      expect(documents.gopherhole.provider).toEqual(provider)
    }
  })

  it('leave out schemes of types that their version does not have, and keep those of each type', () => {
    const types = ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS']
    const { documents } = compileCard(completeCards['0.3'] as JsonObject)
    const kept = Object.values(documents['0.3'].securitySchemes as Record<string, JsonObject>).map(({ type }) => type)
    expect([...new Set(kept)].toSorted()).toEqual(types.toSorted())
    const odd = compileCard({ ...card, securitySchemes: { odd: { type: 'odd' } } })
    expect([odd.documents['0.3'].securitySchemes, odd.report.dropped['0.3']]).toEqual([{}, ['/securitySchemes/odd']])
  })

  it('of a Shaman card without capabilities have the flags that Shaman knows', () => {
    const { documents, report } = compileCard({ ...card, supportUrl: 'https://help.example.com' })
    expect(report.dialect).toBe('shaman')
    expect(documents.shaman.capabilities).toEqual({ streaming: false, pushNotifications: false })
  })
})

describe('a hybrid', () => {
  it('of an agent that speaks 1.0 or 0.3 has a complete provider', () => {
    const provider = { organization: 'ACME', url: 'https://acme.example' }
    for (const protocolVersion of ['1.0', '0.3']) {
      const { documents } = compileCard({ ...card, protocolVersion, provider })
      expect([documents['agent-card.json'].provider, documents['agent.json'].provider]).toEqual([provider, provider])
    }
  })

  const interfaces = [
    { url: 'https://a.example/1', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'https://a.example/0', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ]

  it('has the URL of the v0.x interface, and differs between the two paths in protocolVersion only', () => {
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

  it('of an agent that speaks 1.0 only has the modes under the names of GopherHole, too', () => {
    const ofV1 = { name: 'A', description: 'B', supportedInterfaces: interfaces.slice(0, 1) }
    const { documents } = compileCard({ ...ofV1, defaultInputModes: ['image/png'] })
    expect(documents['agent-card.json']).toMatchObject({
      ...{ defaultInputModes: ['image/png'], supportedInputModes: ['image/png'] },
      supportedOutputModes: ['text/plain', 'application/json'],
    })
  })

  it('has the `protocol` of a SuperX card, and of no other', () => {
    for (const protocol of ['a2a', 'mcp']) {
      const { documents } = compileCard({ ...card, protocol })
      expect([documents['agent-card.json'].protocol, documents['agent.json'].protocol]).toEqual([protocol, protocol])
    }
    expect(compileCard(card).documents['agent-card.json']).not.toHaveProperty('protocol')
  })
})

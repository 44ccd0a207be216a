import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, registration } from '../../support/cards/compile.ts'
import { authoredCard, numRuns } from '../../support/cards/generated.ts'
import { versionErrors } from '../../support/schemas/index.ts'

describe('the representations of a card', () => {
  it('are valid against the schemas of A2A 1.0 and 0.3 for every generated card that is accepted', () => {
    let accepted = 0
    fc.assert(
      fc.property(authoredCard, generated => {
        const result = compile(JSON.parse(JSON.stringify(generated)), registration)
        if ('errors' in result) return
        accepted++
        const { documents } = result.compiled
        expect(versionErrors(documents)).toStrictEqual([])
      }),
    )
    expect(accepted).toBeGreaterThan(numRuns / 2)
  })

  it.each([{ organization: 'ACME' }, { url: 'https://acme.example' }])(
    'leave out an incomplete provider: %j',
    provider => {
      const { documents, report } = compileCard({ ...card, provider })
      const representations = ['1.0', '0.3', 'agent-card.json', 'agent.json'] as const
      expect(representations.filter(name => 'provider' in documents[name])).toEqual([])
      expect(report.dropped).toStrictEqual({ '1.0': ['/provider'], '0.3': ['/provider'] })
      expect(documents.gopherhole.provider).toEqual(provider)
    },
  )
})

describe('a hybrid', () => {
  it.each(['1.0', '0.3'])('of an agent that speaks %s has a complete provider', protocolVersion => {
    const provider = { organization: 'ACME', url: 'https://acme.example' }
    const { documents } = compileCard({ ...card, protocolVersion, provider })
    expect([documents['agent-card.json'].provider, documents['agent.json'].provider]).toEqual([provider, provider])
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

  it.each(['a2a', 'mcp'])('has `protocol: %s` of a SuperX card', protocol => {
    const { documents } = compileCard({ ...card, protocol })
    expect([documents['agent-card.json'].protocol, documents['agent.json'].protocol]).toStrictEqual([
      protocol,
      protocol,
    ])
  })

  it('has no `protocol` of another card', () => {
    expect(compileCard(card).documents['agent-card.json']).not.toHaveProperty('protocol')
  })
})

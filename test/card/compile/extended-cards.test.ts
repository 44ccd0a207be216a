import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, compileTiers } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'

const talk = { id: 'talk', name: 'Talk', description: 'Talks', tags: ['talk'], examples: ['Hello'] }
const history = { id: 'history', name: 'History', description: 'Remembers', tags: ['past'] }

describe('the tiers of a manifest', () => {
  it('are those that have overlays, in the order of the manifest, and the base', () => {
    const rows: [JsonObject, string[]][] = [
      [{}, []],
      [{ tiers: { gold: {} } }, ['base', 'gold']],
      [{ extended: {}, tiers: { silver: {}, gold: {} } }, ['base', 'silver', 'gold']],
    ]
    for (const [fields, tiers] of rows) {
      const { extended, profile } = compileCard({ card, ...fields })
      expect(extended.map(({ tier }) => tier)).toEqual(tiers)
      expect([profile.tiers, profile.extendedAgentCard]).toEqual([tiers, tiers.length > 0])
    }
  })

  it('are merged over `extended`, not over each other', () => {
    const descriptions = Object.entries(
      compileTiers({
        card: { ...card, version: '1' },
        extended: { description: 'For tokens', version: '2' },
        tiers: { silver: { version: '3' }, gold: { description: 'For gold' } },
      }),
    ).map(([tier, { description, version }]) => [tier, description, version])
    expect(descriptions).toStrictEqual([
      ['base', 'For tokens', '2'],
      ['silver', 'For tokens', '3'],
      ['gold', 'For gold', '2'],
    ])
  })

  it('have the public card as base where there is no `extended`', () => {
    const compiled = compileCard({ card, tiers: { gold: { name: 'Gold' } } })
    const { card: publicCard, documents, extended } = compiled
    expect(extended[0]).toStrictEqual({ tier: 'base', card: publicCard, documents })
  })
})

it('a card that lists its capabilities by name keeps its protocol version with an extended card', () => {
  for (const capabilities of [['streaming'], 'streaming']) {
    const listed = { ...card, capabilities }
    const extended = compileCard({ card: listed, extended: { description: 'More' } })
    expect(extended.card.supportedInterfaces).toStrictEqual(compileCard({ card: listed }).card.supportedInterfaces)
    expect(extended.card.capabilities).toStrictEqual({
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: true,
      multiTurn: false,
    })
    expect(extended.report.dialect).toBe('gopherhole')
  }
})

describe('securitySchemes of an agent with an extended card', () => {
  it('have a bearer token where the author declares no scheme of HTTP, in the public card too', () => {
    const bearer = { httpAuthSecurityScheme: { scheme: 'bearer' } }
    for (const fields of [{}, { securitySchemes: {} }, { authentication: { schemes: ['x402'] } }]) {
      const { card: served, extended, report } = compileCard({ card: { ...card, ...fields }, extended: {} })
      const schemes = [served.securitySchemes, extended[0]?.documents['1.0'].securitySchemes]
      expect([...schemes, served.securityRequirements]).toEqual([{ bearer }, { bearer }, undefined])
      expect(report.filled).toContainEqual({
        pointer: '/securitySchemes',
        message: 'set to {"bearer":{"type":"http","scheme":"bearer"}}: the extended card is for callers with a token',
      })
    }
  })

  it('are those of the author', () => {
    const key = { type: 'apiKey', name: 'X-Key', in: 'header' }
    const names = [
      { securitySchemes: { key } },
      { security_schemes: { key } },
      { authentication: { schemes: ['basic'] } },
    ].map(fields => Object.keys(compileCard({ card: { ...card, ...fields }, extended: {} }).card.securitySchemes ?? {}))
    expect(names).toStrictEqual([['key'], ['key'], ['basic']])
  })
})

describe('a signature', () => {
  const signatures = [{ protected: 'eyJ', signature: 'abc' }]
  const whole = completeCards['1.0'] as JsonObject
  const makeSigned = (extendedAgentCard: boolean) => ({
    ...whole,
    capabilities: { ...(whole.capabilities as JsonObject), extendedAgentCard },
    signatures,
  })
  const compileSignatures = (manifest: Json) => {
    const { documents, extended } = compileCard(manifest)
    return [documents, ...extended.map(card => card.documents)].map(served => served['1.0'].signatures)
  }

  it('is kept while the signed content is unchanged', () => {
    expect(compileSignatures({ card: makeSigned(true), extended: {} })).toEqual([signatures, signatures])
  })

  it('is left out of an extended card with other content, unless its overlay has a signature', () => {
    const own = [{ protected: 'eyJ', signature: 'own' }]
    const tiers = { silver: {}, gold: { description: 'Gold', signatures: own } }
    expect(compileSignatures({ card: makeSigned(true), extended: { description: 'More' }, tiers })).toEqual([
      signatures,
      undefined,
      undefined,
      own,
    ])
  })

  it('is left out of the public card where the host sets extendedAgentCard', () => {
    const { documents, report } = compileCard({ card: makeSigned(false), extended: {} })
    expect([documents['1.0'].signatures, report.dropped['1.0']]).toEqual([
      undefined,
      expect.arrayContaining(['/signatures']),
    ])
  })
})

describe('a report', () => {
  it('has notes and issues on overlays, each once, with pointers into the manifest', () => {
    const { report } = compileCard({
      card: { ...card, skills: [talk] },
      extended: { skills: ['Sing', { name: 'Dance' }], apiKey: 'sk-abcdefgh12345678901234' },
      tiers: { gold: { skills: [history] }, silver: {} },
    })
    const isInOverlay = ({ pointer }: { pointer: string }) => /^\/(?:extended|tiers)\//.test(pointer)
    expect([
      report.converted.filter(isInOverlay),
      report.filled.filter(isInOverlay).map(({ pointer }) => pointer),
      report.issues.filter(({ rule }) => rule === 'secret').map(({ pointer }) => pointer),
    ]).toStrictEqual([
      [{ pointer: '/extended/skills/0', message: 'a bare name, read as a skill' }],
      ['/extended/skills/1/id', '/extended/skills/1/description', '/extended/skills/1/tags'],
      ['/extended/apiKey'],
    ])
  })
})

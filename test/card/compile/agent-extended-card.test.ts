import { describe, expect, it } from 'vitest'
import { compileAgentExtendedCard } from '../../../src/card/compile/index.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { makeCard, makeManifest, ownEndpoint } from '../../support/cards/gateway.ts'

const publicCard = makeCard({ supportsAuthenticatedExtendedCard: true, capabilities: { streaming: true } })

const compileExtended = (fields: JsonObject, manifest = makeManifest()) =>
  compileAgentExtendedCard(manifest, {
    id: 'weather',
    origin: 'https://host.example',
    publicCard,
    extendedCard: { ...publicCard, ...fields },
  })

const documentsOf = (fields: JsonObject, manifest?: JsonObject) => {
  const result = compileExtended(fields, manifest)
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  return result.documents
}

const pointersOf = (fields: JsonObject, manifest?: JsonObject) => {
  const result = compileExtended(fields, manifest)
  return 'errors' in result ? result.errors.map(({ pointer }) => pointer) : []
}

describe("an agent's own extended card", () => {
  it('is what the public card is, where it adds nothing', () => {
    expect(documentsOf({})).toEqual(compileCard(makeManifest(), publicCard).documents)
  })

  it('hides the hosts of its own interfaces and those of the public card, in every representation', () => {
    const documents = documentsOf({
      url: 'https://inner.example/a2a',
      description: 'Is at https://inner.example/a2a and at https://weather.agents.example/a2a/now',
      'x-field': 'https://inner.example/a2a/more',
    })
    const text = JSON.stringify(documents)
    expect(text).not.toMatch(/inner\.example|agents\.example/)
    expect(documents['0.3']).toMatchObject({
      url: ownEndpoint,
      description: `Is at ${ownEndpoint} and at ${ownEndpoint}/now`,
      'x-field': `${ownEndpoint}/more`,
    })
  })

  it.each([
    [{ 'x-host': 'inner.example' }, '/x-host'],
    [{ 'x-host': 'weather.agents.example' }, '/x-host'],
    [{ name: 5 }, '/name'],
    [{ type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1', name: undefined }, '/name'],
  ])('is rejected if it cannot be served: %j', (fields, pointer) => {
    expect(pointersOf({ url: 'https://inner.example/a2a', ...fields })).toContain(pointer)
  })

  it('may have what looks like a secret, which no error repeats', () => {
    const key = `sk-proj-${'aB3dE6gH9jK2mN5pQ8sT'}`
    expect(JSON.stringify(documentsOf({ description: key }))).toContain(key)
    const errors = JSON.stringify(compileExtended({ capabilities: [key] }))
    expect(errors).toContain('names \\"[secret]\\"')
    expect(errors).not.toContain(key.slice(0, 12))
  })

  it.each<{ capabilities: Json }>([
    { capabilities: { streaming: false, push_notifications: true } },
    { capabilities: ['push_notifications'] },
    { capabilities: 'pushNotifications' },
  ])('has the capabilities of the public card that the gate enforces, in every dialect: $capabilities', fields => {
    const isTrue = (capabilities: Json | undefined, name: string) =>
      Array.isArray(capabilities) ? capabilities.includes(name) : (capabilities as JsonObject)[name] === true
    const enforced = (card: JsonObject) =>
      ['streaming', 'pushNotifications'].map(name => isTrue(card.capabilities, name))
    const expected = enforced(compileCard(makeManifest(), publicCard).documents['1.0'])
    // `supportedProtocols` makes it a card of Telex, whose own document is served as it was written.
    for (const document of Object.values(documentsOf({ ...fields, supportedProtocols: ['a2a'] })))
      expect(enforced(document)).toEqual(expected)
  })

  it('has its own capabilities where the gate does not enforce them', () => {
    const manifest = makeManifest({}, { gate: { capabilities: 'warn' } })
    expect(documentsOf({ capabilities: { streaming: false } }, manifest)['1.0'].capabilities).toMatchObject({
      streaming: false,
      extendedAgentCard: true,
    })
  })

  it('must not widen access with `pin`', () => {
    const oauth = {
      oauth: { type: 'openIdConnect', openIdConnectUrl: 'https://other.example/.well-known/openid-configuration' },
    }
    expect(pointersOf({ securitySchemes: oauth })).toEqual([])
    expect(pointersOf({ securitySchemes: oauth }, makeManifest({ pin: true }))).not.toEqual([])
    expect(pointersOf({ url: 'https://inner.example/a2a' }, makeManifest({ pin: true }))).toEqual([])
  })
})

describe('the flag of the extended card', () => {
  const mcpCard = {
    protocol: 'mcp',
    name: 'Tools',
    description: 'Has tools',
    url: 'https://mcp.example/mcp',
    skills: [],
  }
  const flags = (documents: Record<string, JsonObject>) =>
    Object.values(documents).flatMap(({ capabilities, supportsAuthenticatedExtendedCard: atTop }) => [
      (capabilities as JsonObject).extendedAgentCard === true || atTop === true,
    ])
  const messages = (manifest: JsonObject, fetched: JsonObject) =>
    compileCard(manifest, fetched).report.converted.filter(({ message }) => message.startsWith('read as false'))

  it.each<[string, JsonObject, JsonObject, string]>([
    [
      'v0.3',
      { route: 'closed' },
      makeCard({ supportsAuthenticatedExtendedCard: true }),
      '/supportsAuthenticatedExtendedCard',
    ],
    [
      'snake_case',
      { route: 'closed' },
      makeCard({ supports_authenticated_extended_card: true }),
      '/supports_authenticated_extended_card',
    ],
    [
      'GopherHole',
      { route: 'closed' },
      { name: 'G', description: 'A gopher', url: 'https://g.example', capabilities: { extendedAgentCard: true } },
      '/capabilities/extendedAgentCard',
    ],
    ['a list', { route: 'closed' }, makeCard({ capabilities: ['streaming', 'extendedAgentCard'] }), '/capabilities'],
    [
      "the manifest's card over an MCP server",
      { card: { capabilities: { extendedAgentCard: true } }, upstream: { mcp: 'https://mcp.example/mcp' } },
      mcpCard,
      '/card/capabilities/extendedAgentCard',
    ],
  ])('is cleared and reported where nobody could get that card: %s', (_, fields, fetched, pointer) => {
    const manifest = { ...makeManifest(), ...fields }
    expect(flags(compileCard(manifest, fetched).documents)).not.toContain(true)
    expect(messages(manifest, fetched).map(note => note.pointer)).toEqual([pointer])
  })

  it.each(['direct', 'gateway'])('stays with `route: %s`', route => {
    const { documents, profile } = compileCard(makeManifest({}, { route }), publicCard)
    expect([flags(documents).includes(false), profile.agentServesExtendedCard]).toEqual([false, true])
  })

  it('is not cleared for a card that the manifest contains', () => {
    const card = { ...makeCard(), supportsAuthenticatedExtendedCard: true }
    const { documents, profile } = compileCard({ card, route: 'closed' })
    expect([documents['0.3'].supportsAuthenticatedExtendedCard, profile.agentServesExtendedCard]).toEqual([
      true,
      undefined,
    ])
  })
})

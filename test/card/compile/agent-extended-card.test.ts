import { describe, expect, it } from 'vitest'
import { compileAgentExtendedCard } from '../../../src/card/compile/index.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, parseDocument } from '../../support/cards/compile.ts'
import { makeCard, makeManifest, ownEndpoint } from '../../support/cards/gateway.ts'

const publicCard = makeCard({ supportsAuthenticatedExtendedCard: true, capabilities: { streaming: true } })

const compileExtended = (fields: JsonObject, manifest = makeManifest()) =>
  compileAgentExtendedCard(parseDocument(manifest), publicCard, { ...publicCard, ...fields })

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

  it('is rejected if it cannot be served', () => {
    const type = 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1'
    const rows: [fields: Record<string, Json | undefined>, pointer: string][] = [
      [{ 'x-host': 'inner.example' }, '/x-host'],
      [{ name: 5 }, '/name'],
      [{ type, name: undefined }, '/name'],
    ]
    for (const [fields, pointer] of rows)
      expect(pointersOf({ url: 'https://inner.example/a2a', ...fields } as JsonObject)).toContain(pointer)
  })

  it('may have what looks like a secret, which no error repeats', () => {
    const key = `sk-proj-${'aB3dE6gH9jK2mN5pQ8sT'}`
    expect(JSON.stringify(documentsOf({ description: key }))).toContain(key)
    const errors = JSON.stringify(compileExtended({ capabilities: [key] }))
    expect(errors).toContain('names \\"[secret]\\"')
    expect(errors).not.toContain(key.slice(0, 12))
  })

  it('has the capabilities of the public card that the gate enforces, in every dialect', () => {
    const isTrue = (capabilities: Json | undefined, name: string) =>
      Array.isArray(capabilities) ? capabilities.includes(name) : (capabilities as JsonObject)[name] === true
    const enforced = (card: JsonObject) =>
      ['streaming', 'pushNotifications'].map(name => isTrue(card.capabilities, name))
    const flags = { streaming: false, push_notifications: true }
    // `supportedProtocols` makes it a card of Telex, whose own document is served as it was written.
    for (const capabilities of [flags, ['push_notifications']])
      for (const document of Object.values(documentsOf({ capabilities, supportedProtocols: ['a2a'] })))
        expect(enforced(document)).toEqual([true, false])
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
  const url = 'https://mcp.example/mcp'
  const mcpCard = { protocol: 'mcp', name: 'Tools', description: 'Has tools', url, skills: [] }
  const flags = (documents: Record<string, JsonObject>) =>
    Object.values(documents).flatMap(({ capabilities, supportsAuthenticatedExtendedCard: atTop }) => [
      (capabilities as JsonObject).extendedAgentCard === true || atTop === true,
    ])
  const messages = (manifest: JsonObject, fetched: JsonObject) =>
    compileCard(manifest, fetched).report.converted.filter(({ message }) => message.startsWith('read as false'))

  it('is cleared and reported where nobody could get that card', () => {
    const closed = { route: 'closed' }
    const capabilities = { extendedAgentCard: true }
    const overMcp = { card: { capabilities }, upstream: { mcp: 'https://mcp.example/mcp' } }
    const gopher = { name: 'G', description: 'A gopher', url: 'https://g.example', capabilities }
    const named = makeCard({ capabilities: ['streaming', 'extendedAgentCard'] })
    const rows: [manifest: JsonObject, fetched: JsonObject, pointer: string][] = [
      [closed, makeCard({ supportsAuthenticatedExtendedCard: true }), '/supportsAuthenticatedExtendedCard'],
      [closed, gopher, '/capabilities/extendedAgentCard'],
      [closed, named, '/capabilities'],
      [overMcp, mcpCard, '/card/capabilities/extendedAgentCard'],
    ]
    for (const [fields, fetched, pointer] of rows) {
      const manifest = { ...makeManifest(), ...fields }
      expect(flags(compileCard(manifest, fetched).documents)).not.toContain(true)
      expect(messages(manifest, fetched).map(note => note.pointer)).toEqual([pointer])
    }
  })

  it('stays with another route', () => {
    const { documents, profile } = compileCard(makeManifest(), publicCard)
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

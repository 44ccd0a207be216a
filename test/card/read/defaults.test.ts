import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { shortCard } from '../../support/cards/cards.ts'
import { compileCard } from '../../support/cards/compile.ts'

const { url, ...urlless } = shortCard
const interfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
const bearer = { httpAuthSecurityScheme: { scheme: 'bearer' } }

/** Returns the capabilities of a card and, by pointer, the reason for each that it does not declare. */
const readCapabilities = (card: JsonObject) => {
  const { card: canonical, report, documents } = compileCard(card)
  const notes = report.filled.filter(({ pointer }) => pointer.startsWith('/capabilities'))
  const filled = Object.fromEntries(notes.map(({ pointer, message }) => [pointer, message]))
  return { capabilities: canonical.capabilities, filled, documents }
}

const off = { streaming: false, pushNotifications: false, extendedAgentCard: false }

describe('undeclared capabilities', () => {
  it('are false in a card with a mark of a format', () => {
    const signatures = [{ protected: 'e30', signature: 'c2ln' }]
    const cards: Record<string, JsonObject[]> = {
      'A2A 1.0': [
        { ...urlless, supportedInterfaces: interfaces },
        { ...urlless, supported_interfaces: interfaces },
        { ...shortCard, security_requirements: [] },
        { ...shortCard, skills: [{ id: 'a', name: 'A', securityRequirements: [] }] },
      ],
      'A2A 0.3': [
        { protocolVersion: '0.2.1' },
        { defaultInputModes: ['a/b'], protocolVersion: '1.0' },
        { defaultOutputModes: ['text/plain'] },
        { preferred_transport: 'JSONRPC' },
        { additionalInterfaces: [] },
        { authentication: { schemes: [] } },
        { interfaces: [] },
        { capabilities: { extensions: [] } },
        { capabilities: { stateTransitionHistory: false } },
        { signatures },
        // A scheme in the form of the proto.
        { securitySchemes: { bearer } },
        { security_schemes: { bearer } },
      ].map(fields => ({ ...shortCard, ...fields })),
      Telex: [
        { supportedProtocols: ['a2a-v1'] },
        { authentication: { required: false } },
        { capabilities: { contextWindow: 1 } },
      ].map(fields => ({ ...shortCard, ...fields })),
      SuperX: [{ ...shortCard, protocol: 'a2a' }],
      Shaman: [
        { inputSchema: {} },
        { outputSchema: {} },
        { additionalCapabilities: {} },
        { supportUrl: 'https://help.example' },
        { provider: { name: 'P' } },
        ...['stateHistory', 'multiModal', 'parallelToolCalls'].map(name => ({ capabilities: { [name]: true } })),
        { protocolVersion: '0.3.0', skills: [{ name: 'A' }] },
      ].map(fields => ({ ...shortCard, ...fields })),
    }
    for (const [format, list] of Object.entries(cards))
      for (const card of list) {
        const { capabilities, filled, documents } = readCapabilities(card)
        const message = `set to false: an absent capability means false in ${format}`
        const expected = Object.fromEntries(Object.keys(off).map(name => [`/capabilities/${name}`, message]))
        expect([card, filled]).toStrictEqual([card, expected])
        expect(capabilities).toMatchObject(off)
        expect(documents['1.0'].capabilities).toMatchObject(off)
      }
  })

  it("are GopherHole's in a card without such a mark", () => {
    const rows: [JsonObject, string][] = [
      [shortCard, 'protocolVersion'],
      [{ ...shortCard, protocolVersion: '1.0' }, 'supportedInterfaces'],
      [{ ...shortCard, supportedInputModes: ['text/plain'] }, 'protocolVersion'],
      // A provider as in A2A, and skills with ids, are no marks of Shaman.
      [{ ...shortCard, provider: { organization: 'A', name: 'B' } }, 'protocolVersion'],
    ]
    for (const [card, missing] of rows) {
      const { capabilities, filled } = readCapabilities(card)
      expect(capabilities).toStrictEqual({
        streaming: true,
        pushNotifications: true,
        extendedAgentCard: false,
        multiTurn: true,
      })
      expect([filled['/capabilities/streaming'], filled['/capabilities/extendedAgentCard']]).toEqual([
        `will be advertised as supported; set it to true or false (GopherHole's default, as no \`${missing}\` is given)`,
        `set to false: GopherHole's default, as no \`${missing}\` is given`,
      ])
    }
  })

  it('are those of Shaman in front matter, from which Shaman generates a card', () => {
    const { capabilities, filled } = readCapabilities({ ...shortCard, exposed: true })
    expect(capabilities).toStrictEqual({ streaming: true, pushNotifications: true, extendedAgentCard: false })
    expect(filled).toStrictEqual({
      '/capabilities/streaming': 'set to true, as Shaman generates it from front matter',
      '/capabilities/pushNotifications': 'set to true, as Shaman generates it from front matter',
      '/capabilities/extendedAgentCard': 'set to false: an absent capability means false in A2A 0.3',
    })
  })

  it('are false in front matter that declares others', () => {
    const card = { ...shortCard, exposed: true, agentcard: { capabilities: { streaming: true } } }
    expect(readCapabilities(card).capabilities).toStrictEqual({ ...off, streaming: true })
  })

  it('are false where the card lists the names of those that the agent has', () => {
    const { capabilities, filled } = readCapabilities({ ...shortCard, capabilities: ['streaming'] })
    const message = 'set to false: the list of capabilities does not name it'
    expect(capabilities).toStrictEqual({ ...off, streaming: true, multiTurn: false })
    expect(filled).toStrictEqual({
      '/capabilities/pushNotifications': message,
      '/capabilities/extendedAgentCard': message,
      '/capabilities/multiTurn': message,
    })
  })
})

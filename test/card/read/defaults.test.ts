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
  it.each<[string, string, JsonObject]>([
    ['a list of interfaces', 'A2A 1.0', { ...urlless, supportedInterfaces: interfaces }],
    ['a list of interfaces in snake_case', 'A2A 1.0', { ...urlless, supported_interfaces: interfaces }],
    ['security requirements in snake_case', 'A2A 1.0', { ...shortCard, security_requirements: [] }],
    [
      'security requirements of a skill',
      'A2A 1.0',
      { ...shortCard, skills: [{ id: 'a', name: 'A', securityRequirements: [] }] },
    ],
    ['a version of the protocol before 1.0', 'A2A 0.3', { ...shortCard, protocolVersion: '0.2.1' }],
    ['default modes', 'A2A 0.3', { ...shortCard, defaultOutputModes: ['text/plain'] }],
    ['default modes in snake_case', 'A2A 0.3', { ...shortCard, default_output_modes: ['text/plain'] }],
    ['a preferred transport in snake_case', 'A2A 0.3', { ...shortCard, preferred_transport: 'JSONRPC' }],
    ['extensions', 'A2A 0.3', { ...shortCard, capabilities: { extensions: [] } }],
    ['signatures', 'A2A 0.3', { ...shortCard, signatures: [{ protected: 'e30', signature: 'c2ln' }] }],
    ["a security scheme in the proto's form", 'A2A 0.3', { ...shortCard, securitySchemes: { bearer } }],
    ['default modes and version 1.0', 'A2A 0.3', { ...shortCard, defaultInputModes: ['a/b'], protocolVersion: '1.0' }],
    ['supported protocols', 'Telex', { ...shortCard, supportedProtocols: ['a2a-v1'] }],
    ['its protocol', 'SuperX', { ...shortCard, protocol: 'a2a' }],
    ['a schema of its input', 'Shaman', { ...shortCard, inputSchema: {} }],
  ])('are false in a card with %s, as in %s', (_, format, card) => {
    const { capabilities, filled, documents } = readCapabilities(card)
    const message = `set to false: an absent capability means false in ${format}`
    expect(capabilities).toMatchObject(off)
    expect(filled).toStrictEqual(Object.fromEntries(Object.keys(off).map(name => [`/capabilities/${name}`, message])))
    expect(documents['1.0'].capabilities).toMatchObject(off)
  })

  it.each<[string, JsonObject, string]>([
    ['three fields', shortCard, 'protocolVersion'],
    ['the version that GopherHole writes', { ...shortCard, protocolVersion: '1.0' }, 'supportedInterfaces'],
    ["GopherHole's modes", { ...shortCard, supportedInputModes: ['text/plain'] }, 'protocolVersion'],
  ])("are GopherHole's in a card with %s", (_, card, missing) => {
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

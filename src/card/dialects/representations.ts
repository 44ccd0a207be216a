import { type JsonObject, jsonEquals, omit, type Pointer } from '../../json/json.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { type DialectName, dialectNames, type RepresentationName } from '../model/constants.ts'
import { endpointFields, pickV0Interface, presentEndpointFields, superxProtocol } from '../read/interfaces.ts'
import { gopherholeVersion } from './gopherhole.ts'
import { dialects } from './index.ts'
import { writeV0 } from './v0-base.ts'

/**
 * One document that readers of v1.0, v0.3, v0.2 and GopherHole all accept: the union of their fields. Where they clash, on
 * what the top-level `url` speaks, `agent-card.json` tells v0.x readers and `agent.json` tells GopherHole's.
 */
export const writeHybrid = (card: AgentCard, readers: 'agent-card.json' | 'agent.json'): JsonObject => {
  const { document } = writeV0(card, pickV0Interface(card.supportedInterfaces))
  const { skills, ...rest } = document
  return {
    ...rest,
    ...(readers === 'agent.json' && { protocolVersion: gopherholeVersion(card) }),
    supportedInterfaces: card.supportedInterfaces,
    capabilities: card.capabilities,
    ...(card.securityRequirements && { securityRequirements: card.securityRequirements }),
    supportedInputModes: card.supportedInputModes ?? card.defaultInputModes,
    supportedOutputModes: card.supportedOutputModes ?? card.defaultOutputModes,
    skills: (skills as JsonObject[]).map((skill, index) => {
      const requirements = card.skills[index]?.securityRequirements
      return { ...skill, ...(requirements && { securityRequirements: requirements }) }
    }),
  }
}

/** A card as its author wrote it; `document` is what its manifest made of that, and no longer what was `signed`. */
type Authored = { dialect: DialectName; document: JsonObject; signed: JsonObject }

/** What follows the manifest rather than the author where a card is served for a gateway. */
const gatewayFields = new Set<string>([
  ...endpointFields,
  'preferredTransport',
  'preferred_transport',
  'protocol',
  'agentCard',
])

/** Writes every representation of a complete card, and says what each dialect had no place for. */
export const writeRepresentations = (
  card: AgentCard,
  authored: Authored,
  route: Manifest['route'],
): { documents: Record<RepresentationName, JsonObject>; dropped: Record<DialectName, Pointer[]> } => {
  const documents = {
    'agent-card.json': hybrid(card, authored, 'agent-card.json'),
    'agent.json': hybrid(card, authored, 'agent.json'),
  } as Record<RepresentationName, JsonObject>
  const dropped = {} as Record<DialectName, Pointer[]>
  for (const name of dialectNames) {
    const { writeAuthored, write } = dialects[name]
    const written = write(card)
    const own = name === authored.dialect ? writeAuthored?.(authored.document, card) : undefined
    const document =
      own === undefined ? written.document : isRerouted(own, route) ? reroute(own, written.document) : own
    const verifiable = document.signatures === undefined || jsonEquals(document, authored.signed)
    documents[name] = verifiable ? document : omit(document, 'signatures')
    dropped[name] = [...(own === undefined ? written.dropped : []), ...(verifiable ? [] : ['/signatures'])]
  }
  return { documents, dropped }
}

/** A hybrid is never what was signed. SuperX's readers look at the same paths, and ask for its word. */
const hybrid = (card: AgentCard, authored: Authored, readers: 'agent-card.json' | 'agent.json'): JsonObject => {
  const document = omit(writeHybrid(card, readers), 'signatures')
  return authored.dialect === 'superx' ? { ...document, protocol: superxProtocol(card.supportedInterfaces) } : document
}

/** SuperX's card of an MCP server names no endpoint: nothing of it follows the manifest. */
const isRerouted = (own: JsonObject, route: Manifest['route']): boolean =>
  route === 'gateway' && presentEndpointFields(own).length > 0

const reroute = (own: JsonObject, written: JsonObject): JsonObject => {
  const ours = Object.fromEntries(Object.entries(written).filter(([name]) => gatewayFields.has(name)))
  const kept = Object.entries(own).filter(([name]) => !gatewayFields.has(name) || name in ours)
  return { ...Object.fromEntries(kept), ...ours }
}

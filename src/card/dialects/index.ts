import { isJsonObject, type JsonObject, jsonEquals, mapMembers, omit, type Pointer } from '../../json/index.ts'
import type { Manifest } from '../manifest/index.ts'
import type { AgentCard, DialectName, HybridName, RepresentationName } from '../model/index.ts'
import { dialectNames } from '../model/index.ts'
import { canonicalKey, endpointFields, hasEndpoint, superxProtocol, writeV0SchemeWithWrapper } from '../read/index.ts'
import { type Dialect, omitIncompleteProvider, writeV0 } from './dialect.ts'
import { gopherhole, gopherholeVersion } from './gopherhole.ts'
import { shaman } from './shaman.ts'
import { superx } from './superx.ts'
import { telex } from './telex.ts'
import { v0_3 } from './v0-3.ts'
import { v1_0 } from './v1-0.ts'

/** Every dialect by name. */
export const dialects: Record<DialectName, Dialect> = { '1.0': v1_0, superx, telex, shaman, '0.3': v0_3, gopherhole }

/** Returns the first dialect that recognizes a card; GopherHole recognizes any. */
export const detectDialect = (card: JsonObject): DialectName =>
  dialectNames.find(name => dialects[name].detect(card)) ?? 'gopherhole'

/** An authored card: the document to serve in its dialect, and the document whose signatures are kept, if any are. */
type AuthoredCard = { dialect: DialectName; document: JsonObject; signed: JsonObject | undefined }

/** Writes every representation of a complete canonical card. `dropped` is what each dialect has no place for. */
export const writeRepresentations = (card: AgentCard, authored: AuthoredCard, route: Manifest['route']) => {
  const hybrid = speaksV1Only(card, authored, route) ? writeV1Hybrid(card) : writeHybrid(card, 'agent-card.json')
  const documents = {
    'agent-card.json': toServedHybrid(hybrid, card, authored),
    'agent.json': toServedHybrid(writeHybrid(card, 'agent.json'), card, authored),
  } as Record<RepresentationName, JsonObject>
  const dropped = {} as Record<DialectName, Pointer[]>
  for (const name of dialectNames) {
    const { writeAuthored, write } = dialects[name]
    const written = write(card)
    const own = name === authored.dialect ? writeAuthored?.(authored.document, card) : undefined
    const document = own === undefined ? written.document : withRouting(own, written.document, route)
    const isVerifiable = document.signatures === undefined || jsonEquals(document, authored.signed)
    documents[name] = isVerifiable ? document : omit(document, 'signatures')
    dropped[name] = [...(own === undefined ? written.dropped : []), ...(isVerifiable ? [] : ['/signatures'])]
  }
  return { documents, dropped }
}

/** Completes a hybrid, with the signatures if it was signed. SuperX's clients read it too, and require `protocol`. */
const toServedHybrid = (hybrid: JsonObject, card: AgentCard, { dialect, signed = {} }: AuthoredCard): JsonObject => {
  const served: JsonObject = {
    ...omitIncompleteProvider(omit(hybrid, 'signatures')),
    ...(dialect === 'superx' && { protocol: superxProtocol(card.supportedInterfaces) }),
  }
  const { signatures, ...signedCard } = signed
  return signatures !== undefined && jsonEquals(signedCard, served) ? { ...served, signatures } : served
}

/**
 * Returns whether readers of v0.x could not call an agent. In a dialect with `url`, its author wrote it for them, and
 * the version may be a default; behind the gateway, calls in a version that the card does not list are refused.
 */
const speaksV1Only = ({ supportedInterfaces }: AgentCard, { dialect }: AuthoredCard, route: Manifest['route']) =>
  // Versions of MCP are dates.
  supportedInterfaces.every(({ protocolVersion }) => /^[1-9]\d?\.\d/.test(protocolVersion)) &&
  (dialects[dialect].form === 'interfaces' || route === 'gateway')

/** Adds the names that readers of GopherHole have for the default modes. */
const withGopherholeModes = (card: AgentCard): JsonObject => ({
  supportedInputModes: card.supportedInputModes ?? card.defaultInputModes,
  supportedOutputModes: card.supportedOutputModes ?? card.defaultOutputModes,
})

/**
 * Writes the hybrid of an agent that speaks A2A 1.0 only: without the fields that lead readers of v0.x to call it with
 * methods that it does not have, and with what 1.0 defines in its form: unknown security schemes are left out. Without
 * a URL, readers of v0.x report an error at discovery. Unknown fields stay, because readers of 1.0 ignore them.
 */
const writeV1Hybrid = (card: AgentCard): JsonObject => {
  const { securitySchemes } = dialects['1.0'].write(card).document
  return { ...omit(card, 'securitySchemes'), ...(securitySchemes && { securitySchemes }), ...withGopherholeModes(card) }
}

/**
 * Writes one document that readers of v1.0, v0.3, v0.2 and GopherHole all accept: the union of their fields, also in
 * each security scheme, which signatures in the form of v1.0 would not cover otherwise. They disagree only on the
 * top-level `protocolVersion`: `agent-card.json` has v0.x's value and `agent.json` has GopherHole's.
 */
export const writeHybrid = (card: AgentCard, name: HybridName): JsonObject => {
  const { skills, securitySchemes, ...rest } = writeV0(card).document
  return {
    ...rest,
    ...(isJsonObject(securitySchemes) && { securitySchemes: mapMembers(securitySchemes, writeV0SchemeWithWrapper) }),
    ...(name === 'agent.json' && { protocolVersion: gopherholeVersion(card) }),
    supportedInterfaces: card.supportedInterfaces,
    capabilities: card.capabilities,
    ...(card.securityRequirements && { securityRequirements: card.securityRequirements }),
    ...withGopherholeModes(card),
    skills: (skills as JsonObject[]).map((skill, index) => {
      const requirements = card.skills[index]?.securityRequirements
      return { ...skill, ...(requirements && { securityRequirements: requirements }) }
    }),
  }
}

/** Fields that the gateway sets in place of the author, besides the endpoints. */
const protocolFields = ['preferredTransport', 'protocolVersion', 'transport', 'protocol', 'agentCard']
const gatewayFields = new Set<string>([...endpointFields, ...protocolFields])

/** Returns an authored card with this host's endpoints, if it is served behind the gateway and has endpoints. */
const withRouting = (own: JsonObject, written: JsonObject, route: Manifest['route']): JsonObject => {
  if (route !== 'gateway' || !hasEndpoint(own)) return own
  const fieldOf = (name: string) => canonicalKey(name, 'card')
  // Without a version, readers assume 0.3.
  const isVersioned = Object.keys(own).some(name => fieldOf(name) === 'protocolVersion')
  const isRouting = (name: string) => gatewayFields.has(name) && (name !== 'protocolVersion' || isVersioned)
  const routing = mapMembers(written, (value, name) => (isRouting(name) ? value : undefined))
  const rest = mapMembers(own, (value, name) =>
    !gatewayFields.has(fieldOf(name)) || name in routing ? value : undefined,
  )
  return { ...rest, ...routing }
}

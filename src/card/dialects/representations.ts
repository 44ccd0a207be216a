import { isJsonObject, type JsonObject, jsonEquals, mapMembers, omit, type Pointer } from '../../json/index.ts'
import type { Manifest } from '../manifest/index.ts'
import {
  type AgentCard,
  type DialectName,
  dialectNames,
  type HybridName,
  type RepresentationName,
} from '../model/index.ts'
import {
  canonicalKey,
  endpointFields,
  pickV0Interface,
  presentEndpointFields,
  speaksV1,
  superxProtocol,
  writeV0SchemeWithWrapper,
} from '../read/index.ts'
import { dialects } from './dialects.ts'
import { gopherholeVersion } from './gopherhole.ts'
import { omitIncompleteProvider, writeV0 } from './v0-base.ts'

/** An authored card: the document to serve in its own dialect, and the document whose signatures are kept, if any are. */
type AuthoredCard = { dialect: DialectName; document: JsonObject; signed: JsonObject | undefined }

type WrittenRepresentations = {
  documents: Record<RepresentationName, JsonObject>
  /** By dialect, pointers to the canonical fields that it has no place for. */
  dropped: Record<DialectName, Pointer[]>
}

/** Writes every representation of a complete canonical card. */
export const writeRepresentations = (
  card: AgentCard,
  authored: AuthoredCard,
  route: Manifest['route'],
): WrittenRepresentations => {
  const forV1 = speaksV1Only(card, authored, route)
  const hybrids: Record<HybridName, JsonObject> = {
    'agent-card.json': toServedHybrid(
      forV1 ? writeV1Hybrid(card) : writeHybrid(card, 'agent-card.json'),
      card,
      authored,
    ),
    'agent.json': toServedHybrid(writeHybrid(card, 'agent.json'), card, authored),
  }
  const documents = { ...hybrids } as Record<RepresentationName, JsonObject>
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

/** Completes a hybrid. It keeps signatures if it is the document that was signed. SuperX's clients read it too, and require `protocol`. */
const toServedHybrid = (hybrid: JsonObject, card: AgentCard, { dialect, signed }: AuthoredCard): JsonObject => {
  const served: JsonObject = {
    ...omitIncompleteProvider(omit(hybrid, 'signatures')),
    ...(dialect === 'superx' && { protocol: superxProtocol(card.supportedInterfaces) }),
  }
  const signatures = signed?.signatures
  return signatures !== undefined && jsonEquals(omit(signed ?? {}, 'signatures'), served)
    ? { ...served, signatures }
    : served
}

/**
 * Whether readers of v0.x could not call an agent. In a card that is not in the form of 1.0, `url` is its author's own field, and
 * the version may be a default; behind the gateway, calls in a version that the card does not list are refused.
 */
const speaksV1Only = (
  { supportedInterfaces }: AgentCard,
  { dialect }: AuthoredCard,
  route: Manifest['route'],
): boolean => supportedInterfaces.every(speaksV1) && (dialect === '1.0' || route === 'gateway')

/**
 * Writes the hybrid of an agent that speaks A2A 1.0 only: without the fields that lead readers of v0.x to call it with methods that
 * it does not have, and with what 1.0 defines in its form: unknown security schemes are left out. Without a URL, readers of v0.x
 * report an error at discovery. Unknown fields stay, because readers of 1.0 ignore them.
 */
const writeV1Hybrid = (card: AgentCard): JsonObject => {
  const { securitySchemes } = dialects['1.0'].write(card).document
  return {
    ...omit(card, 'securitySchemes'),
    ...(securitySchemes !== undefined && { securitySchemes }),
    supportedInputModes: card.supportedInputModes ?? card.defaultInputModes,
    supportedOutputModes: card.supportedOutputModes ?? card.defaultOutputModes,
  }
}

/**
 * Writes one document that readers of v1.0, v0.3, v0.2 and GopherHole all accept: the union of their fields, also in each security
 * scheme, which signatures in the form of v1.0 would not cover otherwise. They disagree only on the top-level `protocolVersion`:
 * `agent-card.json` has v0.x's value and `agent.json` has GopherHole's.
 */
export const writeHybrid = (card: AgentCard, name: HybridName): JsonObject => {
  const { document } = writeV0(card, pickV0Interface(card.supportedInterfaces))
  const { skills, securitySchemes, ...rest } = document
  return {
    ...rest,
    ...(isJsonObject(securitySchemes) && {
      securitySchemes: mapMembers(securitySchemes, scheme =>
        isJsonObject(scheme) ? writeV0SchemeWithWrapper(scheme) : scheme,
      ),
    }),
    ...(name === 'agent.json' && { protocolVersion: gopherholeVersion(card) }),
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

/** Fields that the gateway sets, in place of the author. */
const gatewayFields = new Set<string>([
  ...endpointFields,
  'preferredTransport',
  'protocolVersion',
  'transport',
  'protocol',
  'agentCard',
])

/** Returns an authored card with this host's endpoints, if it is served behind the gateway and has endpoints. */
const withRouting = (own: JsonObject, written: JsonObject, route: Manifest['route']): JsonObject => {
  if (route !== 'gateway' || presentEndpointFields(own).length === 0) return own
  const fieldOf = (name: string) => canonicalKey(name, 'card')
  // Without a version, readers assume 0.3.
  const isVersioned = Object.keys(own).some(name => fieldOf(name) === 'protocolVersion')
  const routing = Object.fromEntries(
    Object.entries(written).filter(([name]) => gatewayFields.has(name) && (name !== 'protocolVersion' || isVersioned)),
  )
  const rest = Object.entries(own).filter(([name]) => !gatewayFields.has(fieldOf(name)) || name in routing)
  return { ...Object.fromEntries(rest), ...routing }
}

import type { AgentCard } from '../agent-card.ts'
import { v0Interface, writeV0Interfaces } from '../interfaces.ts'
import { isObject, type JsonObject, without } from '../json.ts'
import { pointer } from '../pointer.ts'
import { type Alias, readCard, type Vocabulary } from '../read-card.ts'
import { writeV0Requirements } from '../security-requirements.ts'
import { writeV0Scheme } from '../security-schemes.ts'
import type { Dialect, Written } from './dialect.ts'

/** Fields that v0.1, v0.2 and v0.3 cards have and GopherHole's do not. */
const marks = [
  'defaultInputModes',
  'defaultOutputModes',
  'default_input_modes',
  'preferredTransport',
  'additionalInterfaces',
  'supportsAuthenticatedExtendedCard',
  'authentication',
  'interfaces',
]

/** A2A v0.3; v0.2 and v0.1 cards are read as well. */
export const v0_3: Dialect = {
  detect: card =>
    marks.some(name => name in card) ||
    /^0\./.test(String(card.protocolVersion ?? card.protocol_version ?? '')) ||
    (isObject(card.capabilities) && 'stateTransitionHistory' in card.capabilities),
  read: (card, reading) => readCard(card, {}, '0.3', reading),
  write: card => {
    const { document, dropped } = writeV0(card, v0Interface(card.supportedInterfaces))
    return strict(document, dropped)
  },
}

/** Writes the fields of v0.3 with the endpoint at `main` on top; unknown fields stay. The base of every dialect but 1.0. */
export const writeV0 = (card: AgentCard, main: number): Written => {
  const { supportedInterfaces, capabilities, securitySchemes, securityRequirements, skills, ...rest } = card
  const { fields, dropped } = writeV0Interfaces(supportedInterfaces, main)
  const { name, description, ...others } = rest
  return {
    document: {
      name,
      description,
      ...fields,
      ...(others as JsonObject),
      capabilities: without(capabilities as JsonObject, 'extendedAgentCard'),
      supportsAuthenticatedExtendedCard: capabilities.extendedAgentCard ?? false,
      ...(securitySchemes && { securitySchemes: writeV0Schemes(securitySchemes as JsonObject) }),
      ...(securityRequirements && { security: writeV0Requirements(securityRequirements) }),
      skills: skills.map(writeV0Skill),
    },
    dropped,
  }
}

/** Schemes in OpenAPI's form. */
export const writeV0Schemes = (schemes: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, writeV0Scheme(scheme as JsonObject)]))

const writeV0Skill = (skill: AgentCard['skills'][number]): JsonObject => {
  const { securityRequirements, ...rest } = skill
  return {
    ...(rest as JsonObject),
    ...(securityRequirements && { security: writeV0Requirements(securityRequirements) }),
  }
}

/** v0.3's schema is open, but what it names must have its types: takes out what has not. */
const strict = (document: JsonObject, dropped: string[]): Written => {
  const { provider, securitySchemes, capabilities, ...rest } = document
  const out = [...dropped]
  const whole = isObject(provider) && typeof provider.organization === 'string' && typeof provider.url === 'string'
  if (provider !== undefined && !whole) out.push('/provider')
  const history = isObject(capabilities) ? capabilities.stateTransitionHistory : undefined
  const oddHistory = history !== undefined && typeof history !== 'boolean'
  if (oddHistory) out.push('/capabilities/stateTransitionHistory')
  const known = Object.entries((securitySchemes ?? {}) as JsonObject).filter(([name, scheme]) => {
    const fits =
      isObject(scheme) && ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS'].includes(String(scheme.type))
    if (!fits) out.push(pointer('securitySchemes', name))
    return fits
  })
  return {
    document: {
      ...rest,
      ...(whole && { provider }),
      capabilities: oddHistory
        ? without(capabilities as JsonObject, 'stateTransitionHistory')
        : (capabilities as JsonObject),
      ...(securitySchemes !== undefined && { securitySchemes: Object.fromEntries(known) }),
    },
    dropped: out,
  }
}

/** A dialect that is v0.3 in other words: reads and writes by its vocabulary, and keeps what it does not know. */
export const inOtherWords = (
  vocabulary: Vocabulary,
  assumedVersion: string,
): Pick<Dialect, 'read' | 'write' | 'restore'> => ({
  read: (card, reading) => readCard(card, vocabulary, assumedVersion, reading),
  write: card => {
    const { document, dropped } = writeV0(card, v0Interface(card.supportedInterfaces))
    return { document: speak(document, vocabulary), dropped }
  },
  restore: authored => authored,
})

/** Renames the fields of a v0.3 document into a dialect's own words. */
export const speak = (document: JsonObject, vocabulary: Vocabulary): JsonObject => {
  const spoken = renameBack(document, vocabulary.card ?? [])
  for (const member of ['capabilities', 'provider'] as const) {
    const inner = spoken[member]
    if (isObject(inner)) spoken[member] = renameBack(inner, vocabulary[member] ?? [])
  }
  return spoken
}

const renameBack = (object: JsonObject, aliases: readonly Alias[]): JsonObject => {
  const names = new Map(aliases.map(([authored, canonical]) => [canonical, authored]))
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]))
}

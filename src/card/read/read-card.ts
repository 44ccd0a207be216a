import { formatPointer, isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { readModes, readSkills } from './agent-skills.ts'
import { canonicalFlag, canonicalizeKeys, listCapabilityNames, resolveAliases, takesPrecedence } from './field-names.ts'
import { readInterfaces } from './interfaces.ts'
import type { Provenance } from './provenance.ts'
import { readRequirements } from './security-requirements.ts'
import { type CardForm, readAuthentication, readSchemes } from './security-schemes.ts'

/**
 * Reads a card of any generation into the canonical model. Unknown fields stay as authored, and wrong types are left for
 * the schema to report. `assumedVersion` is the protocol version of a card that does not declare one.
 */
export const readCard = (authored: JsonObject, assumedVersion: string, provenance: Provenance): JsonObject => {
  const aliased = resolveAliases(canonicalizeKeys(authored, 'card', '', provenance), provenance)
  const { supportedInterfaces, url } = aliased
  const isHybrid = (supportedInterfaces === undefined) === (url === undefined)
  const form = isHybrid ? undefined : url === undefined ? '1.0' : '0.3'
  const card = readCapabilities(readInterfaces(aliased, assumedVersion, provenance), form, provenance)
  readVersionAndProvider(card, provenance)
  for (const name of ['documentationUrl', 'iconUrl'])
    if (card[name] !== undefined && typeof card[name] !== 'string') {
      // Optional links are not worth rejecting the card.
      provenance.noteConversion(formatPointer(name), 'left out: must be a URL, as a string')
      delete card[name]
    }
  for (const name of ['defaultInputModes', 'defaultOutputModes'])
    if (card[name] !== undefined) card[name] = readModes(card[name], formatPointer(name), provenance)
  return readSecurityAndSkills(card, form, provenance)
}

/** Reads capabilities and v0.3's flag for the extended card. */
const readCapabilities = (card: JsonObject, form: CardForm, provenance: Provenance): JsonObject => {
  const { supportsAuthenticatedExtendedCard: extended, ...rest } = card
  const [capabilities, pointer] = [readFlags(card.capabilities, provenance), '/supportsAuthenticatedExtendedCard']
  if (!isJsonObject(capabilities) || extended === undefined) return { ...rest, capabilities }
  const { extendedAgentCard: flag = extended } = capabilities
  if (capabilities.extendedAgentCard === undefined) {
    if (form === '1.0' && !provenance.isFilled('/capabilities/extendedAgentCard'))
      provenance.noteConversion(pointer, 'a field of A2A 0.3, read as capabilities.extendedAgentCard')
    provenance.mapFrom('/capabilities/extendedAgentCard', pointer)
  } else if (flag !== extended) provenance.noteConversion(pointer, takesPrecedence('capabilities.extendedAgentCard'))
  return { ...rest, capabilities: { ...capabilities, extendedAgentCard: flag } }
}

/** Reads flags written as an object, a list of names, or a text with names. */
const readFlags = (value: Json | undefined, provenance: Provenance): Json => {
  if (value === undefined) return {}
  if (isJsonObject(value)) return canonicalizeKeys(value, 'capabilities', '/capabilities', provenance)
  const names = listCapabilityNames(value)
  if (names === undefined) return value
  provenance.mapWhole('/capabilities', '/capabilities')
  const unknown = names.find(name => canonicalFlag(name) === undefined)
  if (unknown !== undefined) {
    provenance.addError('/capabilities', notACapability(unknown))
    return {}
  }
  provenance.noteConversion('/capabilities', 'a list of names, read as flags')
  return Object.fromEntries(names.map(name => [canonicalFlag(name) ?? name, true]))
}

const notACapability = (name: string): string =>
  `names ${JSON.stringify(name.slice(0, 40))}, which is not a capability of A2A: write flags, such as ` +
  '{ "streaming": true, "pushNotifications": false }, and what the agent can do under `skills`'

const readVersionAndProvider = (card: JsonObject, provenance: Provenance): void => {
  const { version, provider } = card
  if (typeof version === 'number') {
    provenance.noteConversion('/version', 'a number, read as text')
    card.version = String(version)
  }
  if (typeof provider === 'string') {
    provenance.noteConversion('/provider', 'a name, read as the organization')
    provenance.mapWhole('/provider', '/provider')
    card.provider = { organization: provider }
  } else if (isJsonObject(provider)) card.provider = canonicalizeKeys(provider, 'provider', '/provider', provenance)
}

const readSecurityAndSkills = (card: JsonObject, form: CardForm, provenance: Provenance): JsonObject => {
  const { securitySchemes, skills } = card
  const { split, ...schemes } = isJsonObject(securitySchemes)
    ? readSchemes(securitySchemes, form, provenance)
    : { split: new Map<string, string[]>() }
  const context = { split, form }
  const secured = { ...readRequirements(card, '', context, provenance), ...schemes }
  return {
    ...(securitySchemes === undefined ? readAuthentication(secured, provenance) : secured),
    ...(Array.isArray(skills) && { skills: readSkills(skills, context, provenance) }),
  }
}

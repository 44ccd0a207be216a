import { formatPointer, isJsonObject, type Json, type JsonObject, omit } from '../../json/index.ts'
import { canonicalFlag, canonicalizeKeys, listCapabilityNames, resolveAliases, takesPrecedence } from './field-names.ts'
import { readInterfaces } from './interfaces.ts'
import type { Provenance } from './provenance.ts'
import { readRequirements } from './security-requirements.ts'
import { type CardForm, readAuthentication, readSchemes } from './security-schemes.ts'
import { readModes, readSkills } from './skills.ts'

/**
 * Reads a card of any generation into the canonical model. Unknown fields stay as authored, and wrong types are left for the
 * schema to report. `assumedVersion` is the protocol version of a card that does not declare one.
 */
export const readCard = (authored: JsonObject, assumedVersion: string, provenance: Provenance): JsonObject => {
  let card = resolveAliases(canonicalizeKeys(authored, 'card', '', provenance), provenance)
  const form = formOf(card)
  card = readInterfaces(card, assumedVersion, provenance)
  card = readCapabilities(card, form, provenance)
  card = readVersionAndProvider(card, provenance)
  card = omitInvalidLinks(card, provenance)
  for (const name of ['defaultInputModes', 'defaultOutputModes'])
    if (card[name] !== undefined) card = { ...card, [name]: readModes(card[name], formatPointer(name), provenance) }
  return readSecurityAndSkills(card, form, provenance)
}

/** Returns the version of A2A whose endpoint fields a card has. */
const formOf = ({ supportedInterfaces, url }: JsonObject): CardForm => {
  if ((supportedInterfaces === undefined) === (url === undefined)) return undefined
  return url === undefined ? '1.0' : '0.3'
}

/** Reads capabilities and v0.3's flag for the extended card. */
const readCapabilities = (card: JsonObject, form: CardForm, provenance: Provenance): JsonObject => {
  const { supportsAuthenticatedExtendedCard: extended } = card
  const rest = omit(card, 'supportsAuthenticatedExtendedCard')
  const capabilities = readFlags(card.capabilities, provenance)
  if (!isJsonObject(capabilities) || extended === undefined) return { ...rest, capabilities }
  const flag = capabilities.extendedAgentCard
  if (flag === undefined) {
    if (form === '1.0' && !provenance.isFilled('/capabilities/extendedAgentCard'))
      provenance.noteConversion(
        '/supportsAuthenticatedExtendedCard',
        'a field of A2A 0.3, read as capabilities.extendedAgentCard',
      )
    provenance.mapFrom('/capabilities/extendedAgentCard', '/supportsAuthenticatedExtendedCard')
    return { ...rest, capabilities: { ...capabilities, extendedAgentCard: extended } }
  }
  if (flag !== extended)
    provenance.noteConversion('/supportsAuthenticatedExtendedCard', takesPrecedence('capabilities.extendedAgentCard'))
  return { ...rest, capabilities }
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

const MAX_QUOTED_LENGTH = 40

const notACapability = (name: string): string =>
  `names ${JSON.stringify(name.slice(0, MAX_QUOTED_LENGTH))}, which is not a capability of A2A: write flags, such as { "streaming": true, "pushNotifications": false }, and what the agent can do under \`skills\``

const readVersionAndProvider = (card: JsonObject, provenance: Provenance): JsonObject => {
  const { version, provider } = card
  const read = { ...card }
  if (typeof version === 'number') {
    provenance.noteConversion('/version', 'a number, read as text')
    read.version = String(version)
  }
  if (typeof provider === 'string') {
    provenance.noteConversion('/provider', 'a name, read as the organization')
    provenance.mapWhole('/provider', '/provider')
    read.provider = { organization: provider }
  } else if (isJsonObject(provider)) read.provider = canonicalizeKeys(provider, 'provider', '/provider', provenance)
  return read
}

/** Leaves out optional links that are not strings: they are not worth rejecting the card. */
const omitInvalidLinks = (card: JsonObject, provenance: Provenance): JsonObject => {
  const invalid = ['documentationUrl', 'iconUrl'].filter(
    name => card[name] !== undefined && typeof card[name] !== 'string',
  )
  for (const name of invalid) provenance.noteConversion(formatPointer(name), 'left out: must be a URL, as a string')
  return invalid.length > 0 ? omit(card, ...invalid) : card
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

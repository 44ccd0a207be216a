import { formatPointer, isJsonObject, type Json, type JsonObject, omit } from '../../json/json.ts'
import { canonicalizeKeys, canonicalKey, resolveAliases } from './field-names.ts'
import { readInterfaces } from './interfaces.ts'
import type { Provenance } from './provenance.ts'
import { readRequirements } from './security-requirements.ts'
import { readAuthentication, readSchemes } from './security-schemes.ts'
import { readModes, readSkills } from './skills.ts'

/** Reads flags written as an object, a list of names or one name, and v0.3's flag for the extended card. */
const readCapabilities = (card: JsonObject, provenance: Provenance): JsonObject => {
  const { supportsAuthenticatedExtendedCard: extended } = card
  const rest = omit(card, 'supportsAuthenticatedExtendedCard')
  const capabilities = asFlags(card.capabilities, provenance)
  if (!isJsonObject(capabilities) || extended === undefined) return { ...rest, capabilities }
  const flag = capabilities.extendedAgentCard
  if (flag === undefined) {
    provenance.mapFrom('/capabilities/extendedAgentCard', '/supportsAuthenticatedExtendedCard')
    return { ...rest, capabilities: { ...capabilities, extendedAgentCard: extended } }
  }
  if (flag !== extended)
    provenance.noteConversion(
      '/supportsAuthenticatedExtendedCard',
      'left out: capabilities.extendedAgentCard is there too, and counts',
    )
  return { ...rest, capabilities }
}

const asFlags = (value: Json | undefined, provenance: Provenance): Json => {
  if (value === undefined) return {}
  if (isJsonObject(value)) return canonicalizeKeys(value, 'capabilities', '/capabilities', provenance)
  const names = typeof value === 'string' ? [value] : value
  if (!Array.isArray(names) || !names.every(name => typeof name === 'string')) return value
  provenance.noteConversion('/capabilities', 'a list of names, read as flags')
  provenance.mapWhole('/capabilities', '/capabilities')
  return Object.fromEntries(names.map(name => [canonicalKey(name, 'capabilities'), true]))
}

/**
 * Reads a card of any generation into the canonical model. What it does not know it keeps as authored, and wrong types it
 * leaves for the schema to name. `assumedVersion` is what a card speaks that does not say.
 */
export const readCard = (authored: JsonObject, assumedVersion: string, provenance: Provenance): JsonObject => {
  let card = resolveAliases(canonicalizeKeys(authored, 'card', '', provenance), provenance)
  card = readInterfaces(card, assumedVersion, provenance)
  card = readCapabilities(card, provenance)
  card = readDetails(card, provenance)
  for (const name of ['defaultInputModes', 'defaultOutputModes'])
    if (card[name] !== undefined) card = { ...card, [name]: readModes(card[name], formatPointer(name), provenance) }
  return readSecurityAndSkills(card, provenance)
}

const readSecurityAndSkills = (card: JsonObject, provenance: Provenance): JsonObject => {
  const { securitySchemes, skills } = card
  const { split, ...schemes } = isJsonObject(securitySchemes)
    ? readSchemes(securitySchemes, provenance)
    : { split: new Map<string, string[]>() }
  const secured = { ...readRequirements(card, '', split, provenance), ...schemes }
  return {
    ...(securitySchemes === undefined ? readAuthentication(secured, provenance) : secured),
    ...(Array.isArray(skills) && { skills: readSkills(skills, split, provenance) }),
  }
}

const readDetails = (card: JsonObject, provenance: Provenance): JsonObject => {
  const { version, provider } = card
  let read = card
  if (typeof version === 'number') {
    provenance.noteConversion('/version', 'a number, read as text')
    read = { ...read, version: String(version) }
  }
  if (typeof provider === 'string') {
    provenance.noteConversion('/provider', 'a name, read as the organization')
    provenance.mapWhole('/provider', '/provider')
    read = { ...read, provider: { organization: provider } }
  } else if (isJsonObject(provider))
    read = { ...read, provider: canonicalizeKeys(provider, 'provider', '/provider', provenance) }
  return leaveOutOddLinks(read, provenance)
}

/** Two optional links decorate a card; one that is not even text is left out rather than the card refused. */
const leaveOutOddLinks = (card: JsonObject, provenance: Provenance): JsonObject => {
  const odd = ['documentationUrl', 'iconUrl'].filter(name => card[name] !== undefined && typeof card[name] !== 'string')
  for (const name of odd) provenance.noteConversion(formatPointer(name), 'left out: it must be a URL, as a string')
  return odd.length > 0 ? omit(card, ...odd) : card
}

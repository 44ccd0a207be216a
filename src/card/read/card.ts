import { isObject, type JsonObject, without } from '../../json/json.ts'
import { pointer } from '../../json/pointer.ts'
import { readAuthentication } from './authentication.ts'
import { readCapabilities } from './capabilities.ts'
import { readWords } from './field-names.ts'
import { readModes } from './modes.ts'
import type { Reading } from './provenance.ts'
import { readInterfaces } from './read-interfaces.ts'
import { readRequirements } from './security-requirements.ts'
import { readSchemes } from './security-schemes.ts'
import { readSkills } from './skills.ts'
import { spell } from './spelling.ts'

/**
 * Reads a card of any generation into the canonical model. What it does not know it keeps as authored, and wrong types it
 * leaves for the schema to name. `assumedVersion` is what a card speaks that does not say.
 */
export const readCard = (authored: JsonObject, assumedVersion: string, reading: Reading): JsonObject => {
  let card = readWords(spell(authored, 'card', '', reading), reading)
  card = readInterfaces(card, assumedVersion, reading)
  card = readCapabilities(card, reading)
  card = readDetails(card, reading)
  for (const name of ['defaultInputModes', 'defaultOutputModes'])
    if (card[name] !== undefined) card = { ...card, [name]: readModes(card[name], pointer(name), reading) }
  return readSecurityAndSkills(card, reading)
}

const readSecurityAndSkills = (card: JsonObject, reading: Reading): JsonObject => {
  const { securitySchemes, skills } = card
  const { split, ...schemes } = isObject(securitySchemes)
    ? readSchemes(securitySchemes, reading)
    : { split: new Map<string, string[]>() }
  const secured = { ...readRequirements(card, '', split, reading), ...schemes }
  return {
    ...(securitySchemes === undefined ? readAuthentication(secured, reading) : secured),
    ...(Array.isArray(skills) && { skills: readSkills(skills, split, reading) }),
  }
}

const readDetails = (card: JsonObject, reading: Reading): JsonObject => {
  const { version, provider } = card
  let read = card
  if (typeof version === 'number') {
    reading.convert('/version', 'a number, read as text')
    read = { ...read, version: String(version) }
  }
  if (typeof provider === 'string') {
    reading.convert('/provider', 'a name, read as the organization')
    reading.made('/provider', '/provider')
    read = { ...read, provider: { organization: provider } }
  } else if (isObject(provider)) read = { ...read, provider: spell(provider, 'provider', '/provider', reading) }
  return leaveOutOddLinks(read, reading)
}

/** Two optional links decorate a card; one that is not even text is left out rather than the card refused. */
const leaveOutOddLinks = (card: JsonObject, reading: Reading): JsonObject => {
  const odd = ['documentationUrl', 'iconUrl'].filter(name => card[name] !== undefined && typeof card[name] !== 'string')
  for (const name of odd) reading.convert(pointer(name), 'left out: it must be a URL, as a string')
  return odd.length > 0 ? without(card, ...odd) : card
}

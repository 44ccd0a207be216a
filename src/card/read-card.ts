import { readCapabilities } from './capabilities.ts'
import { readInterfaces } from './interfaces.ts'
import { isObject, type Json, type JsonObject, sameJson, without } from './json.ts'
import { readModes } from './modes.ts'
import { pointer } from './pointer.ts'
import type { Reading } from './reading.ts'
import { readSecurity } from './security-schemes.ts'
import { readSkills } from './skills.ts'

/** Another name of a field: [as this dialect writes it, as the canonical card does]. */
export type Alias = readonly [authored: string, canonical: string]

/** The names by which one dialect calls what others call otherwise. */
export type Vocabulary = { card?: readonly Alias[]; capabilities?: readonly Alias[]; provider?: readonly Alias[] }

/** Field names that have been seen in snake_case. */
const snakeCase: readonly Alias[] = [
  'protocolVersion',
  'preferredTransport',
  'additionalInterfaces',
  'supportedInterfaces',
  'defaultInputModes',
  'defaultOutputModes',
  'supportedInputModes',
  'supportedOutputModes',
  'securitySchemes',
  'securityRequirements',
  'documentationUrl',
  'iconUrl',
  'supportsAuthenticatedExtendedCard',
].map(name => [name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`), name] as const)

/** Reads a card of any generation into the canonical model. Whatever it does not know, it keeps as authored. */
export const readCard = (
  authored: JsonObject,
  vocabulary: Vocabulary,
  assumedVersion: string,
  reading: Reading,
): JsonObject => {
  let card = rename(authored, [...snakeCase, ...(vocabulary.card ?? [])], '', reading)
  for (const [member, aliases] of [
    ['capabilities', vocabulary.capabilities],
    ['provider', vocabulary.provider],
  ] as const) {
    const inner = card[member]
    if (isObject(inner) && aliases) card = { ...card, [member]: rename(inner, aliases, pointer(member), reading) }
  }
  card = readInterfaces(card, assumedVersion, reading)
  card = readCapabilities(card, reading)
  card = readSecurity(card, reading)
  card = readVersion(card, reading)
  card = readProvider(card, reading)
  card = leaveOutOddUrls(card, reading)
  for (const name of ['defaultInputModes', 'defaultOutputModes'])
    if (card[name] !== undefined) card = { ...card, [name]: readModes(card[name] as Json, pointer(name), reading) }
  const { skills: authoredSkills, ...rest } = card
  const skills = readSkills(authoredSkills, reading)
  return skills === undefined ? rest : { ...rest, skills }
}

const rename = (object: JsonObject, aliases: readonly Alias[], at: string, reading: Reading): JsonObject => {
  let renamed = object
  for (const [authored, canonical] of aliases) {
    const value = renamed[authored]
    if (value === undefined) continue
    if (renamed[canonical] === undefined) {
      reading.moved(at + pointer(canonical), at + pointer(authored))
      renamed = { ...without(renamed, authored), [canonical]: value }
    } else if (sameJson(value, renamed[canonical])) renamed = without(renamed, authored)
  }
  return renamed
}

const readVersion = (card: JsonObject, reading: Reading): JsonObject => {
  const { version } = card
  if (typeof version !== 'number') return version === null ? without(card, 'version') : card
  reading.convert('/version', 'a number, read as text')
  return { ...card, version: String(version) }
}

const readProvider = (card: JsonObject, reading: Reading): JsonObject => {
  const { provider } = card
  if (provider === null) return without(card, 'provider')
  if (typeof provider !== 'string') return card
  reading.convert('/provider', 'a name, read as the organization')
  return { ...card, provider: { organization: provider } }
}

/** Two optional links decorate a card; one that is not even text is left out rather than the card refused. */
const leaveOutOddUrls = (card: JsonObject, reading: Reading): JsonObject => {
  const odd = ['documentationUrl', 'iconUrl'].filter(name => card[name] !== undefined && typeof card[name] !== 'string')
  for (const name of odd) reading.convert(pointer(name), 'left out: it must be a URL, as a string')
  return odd.length > 0 ? without(card, ...odd) : card
}

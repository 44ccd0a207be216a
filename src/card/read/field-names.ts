import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  jsonEquals,
  omit,
  type Pointer,
} from '../../json/json.ts'
import type { Provenance } from './provenance.ts'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** The fields that A2A and GopherHole name, by the object that holds them. */
export const knownFields = {
  card: words(`name description url version protocolVersion provider iconUrl documentationUrl termsOfServiceUrl
    privacyPolicyUrl capabilities securitySchemes security securityRequirements defaultInputModes defaultOutputModes
    supportedInputModes supportedOutputModes skills supportsAuthenticatedExtendedCard preferredTransport
    additionalInterfaces supportedInterfaces signatures`),
  capabilities: words('streaming pushNotifications extendedAgentCard multiTurn stateTransitionHistory extensions'),
  provider: words('organization url'),
  skill: words('id name description tags examples inputModes outputModes security securityRequirements'),
  interface: words('url transport protocolBinding protocolVersion tenant'),
  scheme: words('type description in name scheme bearerFormat flows oauth2MetadataUrl openIdConnectUrl'),
} as const

/** An object of a card whose fields have names. */
export type ObjectKind = keyof typeof knownFields

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** All of them have been seen in snake_case, and with null for "not there". */
const spellings = Object.fromEntries(
  Object.entries(knownFields).map(([level, names]) => [
    level,
    new Map(names.flatMap(name => [[name, name] as const, [snakeCase(name), name] as const])),
  ]),
) as Record<ObjectKind, Map<string, string>>

/** The proper spelling of a name at one level of the card, or the name as it is. */
export const canonicalKey = (name: string, level: ObjectKind): string => spellings[level].get(name) ?? name

/**
 * An object with the known names of its level spelled properly, and without those that are null. Where two spellings of a
 * name are there, the proper one counts.
 */
export const canonicalizeKeys = (
  object: JsonObject,
  level: ObjectKind,
  at: Pointer,
  provenance: Provenance,
): JsonObject => {
  const known = spellings[level]
  const entries = jsonEntries(object).flatMap(([name, value]): [string, Json][] => {
    const proper = known.get(name)
    if (proper !== undefined && value === null) return []
    if (proper === undefined || proper === name) return [[name, value]]
    const other = object[proper]
    if (other === undefined || other === null) {
      provenance.noteConversion(at + formatPointer(name), `read as ${proper}`)
      provenance.mapFrom(at + formatPointer(proper), at + formatPointer(name))
      return [[proper, value]]
    }
    if (!jsonEquals(value, other))
      provenance.noteConversion(at + formatPointer(name), `left out: ${proper} is there too, and counts`)
    return []
  })
  return Object.fromEntries(entries)
}

/** Another word for a field, and which values it may stand for where the word has other meanings elsewhere. */
type Alias = { word: string; canonical: string; fits?: (value: Json) => boolean }

/** The words by which one dialect calls what the canonical card calls otherwise, by the object that holds them. */
export type DialectAliases = { card?: readonly Alias[]; capabilities?: readonly Alias[]; provider?: readonly Alias[] }

const isHttpUrl = (value: Json): boolean => typeof value === 'string' && /^https?:\/\//i.test(value)

/** Each dialect's own words. */
export const fieldAliases = {
  gopherhole: {
    card: [
      { word: 'supportedInputModes', canonical: 'defaultInputModes' },
      { word: 'supportedOutputModes', canonical: 'defaultOutputModes' },
    ],
  },
  shaman: {
    // Elsewhere an icon can be an emoji, or the name of one.
    card: [{ word: 'icon', canonical: 'iconUrl', fits: isHttpUrl }],
    capabilities: [{ word: 'stateHistory', canonical: 'stateTransitionHistory' }],
    provider: [{ word: 'name', canonical: 'organization' }],
  },
} as const satisfies Record<string, DialectAliases>

/**
 * Reads every dialect's words, whichever dialect the card is of: authors mix them. Where a card says both words and they
 * differ, both are kept: the canonical word counts, the other is an unknown field.
 */
export const resolveAliases = (card: JsonObject, provenance: Provenance): JsonObject => {
  let read = card
  for (const vocabulary of Object.values<DialectAliases>(fieldAliases))
    read = eachObject(read, vocabulary, (object, words, at) => understand(object, words, at, provenance))
  return read
}

/** A card in a dialect's own words; a word that an unknown field bears already is not used. */
export const applyAliases = (card: JsonObject, vocabulary: DialectAliases): JsonObject =>
  eachObject(card, vocabulary, (object, words) =>
    Object.fromEntries(
      jsonEntries(object).map(([name, value]) => {
        const word = words.find(({ canonical, fits }) => canonical === name && (fits?.(value) ?? true))?.word ?? name
        return [Object.hasOwn(object, word) ? name : word, value]
      }),
    ),
  )

const understand = (object: JsonObject, words: readonly Alias[], at: string, provenance: Provenance): JsonObject => {
  let read = object
  for (const { word, canonical, fits } of words) {
    const value = Object.hasOwn(read, word) ? read[word] : undefined
    if (value === undefined || fits?.(value) === false) continue
    if (jsonEquals(value, read[canonical])) read = omit(read, word)
    else if (read[canonical] === undefined) {
      provenance.mapFrom(at + formatPointer(canonical), at + formatPointer(word))
      read = { ...omit(read, word), [canonical]: value }
    }
  }
  return read
}

const eachObject = (
  card: JsonObject,
  { card: words = [], ...inner }: DialectAliases,
  change: (object: JsonObject, words: readonly Alias[], at: string) => JsonObject,
): JsonObject => {
  const changed = words.length > 0 ? change(card, words, '') : card
  const members = (['capabilities', 'provider'] as const).flatMap(name => {
    const object = changed[name]
    return inner[name] && isJsonObject(object) ? [[name, change(object, inner[name], formatPointer(name))]] : []
  })
  return members.length > 0 ? { ...changed, ...Object.fromEntries(members) } : changed
}

/** Words of several generations for one field, which are read alike whichever of them is there. */
const wordsSameField = new Map([
  ['security', 'securityRequirements'],
  ['supportedInputModes', 'defaultInputModes'],
  ['supportedOutputModes', 'defaultOutputModes'],
])

const fieldOf = (name: string): string => {
  const proper = canonicalKey(name, 'card')
  return wordsSameField.get(proper) ?? proper
}

/** The name by which a card has a field already, where it has it by another word or spelling; else the name itself. */
export const findField = (card: JsonObject, name: string): string =>
  Object.hasOwn(card, name) ? name : (Object.keys(card).find(other => fieldOf(other) === fieldOf(name)) ?? name)

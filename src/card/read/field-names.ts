import { isJsonObject, type Json, type JsonObject, jsonEquals, omit } from '../../json/json.ts'
import { formatPointer } from '../../json/pointer.ts'
import type { Provenance } from './provenance.ts'

/** Another word for a field, and which values it may stand for where the word has other meanings elsewhere. */
type Word = { word: string; canonical: string; fits?: (value: Json) => boolean }

/** The words by which one dialect calls what the canonical card calls otherwise, by the object that holds them. */
export type Vocabulary = { card?: readonly Word[]; capabilities?: readonly Word[]; provider?: readonly Word[] }

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
} as const satisfies Record<string, Vocabulary>

/**
 * Reads every dialect's words, whichever dialect the card is of: authors mix them. Where a card says both words and they
 * differ, both are kept: the canonical word counts, the other is an unknown field.
 */
export const resolveAliases = (card: JsonObject, reading: Provenance): JsonObject => {
  let read = card
  for (const vocabulary of Object.values<Vocabulary>(fieldAliases))
    read = eachObject(read, vocabulary, (object, words, at) => understand(object, words, at, reading))
  return read
}

/** A card in a dialect's own words; a word that an unknown field bears already is not used. */
export const applyAliases = (card: JsonObject, vocabulary: Vocabulary): JsonObject =>
  eachObject(card, vocabulary, (object, words) =>
    Object.fromEntries(
      Object.entries(object).map(([name, value]) => {
        const word = words.find(({ canonical, fits }) => canonical === name && (fits?.(value) ?? true))?.word ?? name
        return [Object.hasOwn(object, word) ? name : word, value]
      }),
    ),
  )

const understand = (object: JsonObject, words: readonly Word[], at: string, reading: Provenance): JsonObject => {
  let read = object
  for (const { word, canonical, fits } of words) {
    const value = Object.hasOwn(read, word) ? read[word] : undefined
    if (value === undefined || fits?.(value) === false) continue
    if (jsonEquals(value, read[canonical])) read = omit(read, word)
    else if (read[canonical] === undefined) {
      reading.mapFrom(at + formatPointer(canonical), at + formatPointer(word))
      read = { ...omit(read, word), [canonical]: value }
    }
  }
  return read
}

const eachObject = (
  card: JsonObject,
  { card: words = [], ...inner }: Vocabulary,
  change: (object: JsonObject, words: readonly Word[], at: string) => JsonObject,
): JsonObject => {
  const changed = words.length > 0 ? change(card, words, '') : card
  const members = (['capabilities', 'provider'] as const).flatMap(name => {
    const object = changed[name]
    return inner[name] && isJsonObject(object) ? [[name, change(object, inner[name], formatPointer(name))]] : []
  })
  return members.length > 0 ? { ...changed, ...Object.fromEntries(members) } : changed
}

import { type AgentCard, foldText } from '../card/model/index.ts'
import {
  MAX_FIELD_VALUES,
  MAX_INDEXED_LENGTH,
  MAX_LISTED_EXAMPLES,
  MAX_QUERY_LENGTH,
  MAX_WORD_BEGINNINGS,
} from '../limits.ts'
import type { SearchFields } from './search-fields.ts'

/** Collects the values by which agents are found and filtered from the public card. */
export const collectSearchFields = (card: AgentCard): SearchFields => {
  const { capabilities, skills, supportedInterfaces, defaultInputModes, defaultOutputModes } = card
  const { extensions = [], ...flags } = capabilities
  const examples = skills.flatMap(skill => skill.examples ?? [])
  return {
    provider: card.provider?.organization ?? '',
    skillIds: unique(skills.map(({ id }) => id)),
    skillNames: unique(skills.map(({ name }) => name)),
    tags: unique(skills.flatMap(({ tags }) => tags)),
    examples: unique(examples).slice(0, MAX_LISTED_EXAMPLES),
    capabilities: unique([
      ...Object.keys(flags).filter(name => flags[name] === true),
      ...extensions.map(({ uri }) => uri),
    ]),
    inputModes: unique([...defaultInputModes, ...skills.flatMap(skill => skill.inputModes ?? [])]),
    outputModes: unique([...defaultOutputModes, ...skills.flatMap(skill => skill.outputModes ?? [])]),
    protocolVersions: unique(supportedInterfaces.map(({ protocolVersion }) => protocolVersion)),
    signed: card.signatures !== undefined && card.signatures.length > 0,
    text: toSearchText(skills),
  }
}

/** Returns the text of skills for the full-text index. */
export const toSearchText = (skills: Pick<AgentCard['skills'][number], 'description' | 'examples'>[]): string =>
  [...skills.map(({ description }) => description), ...skills.flatMap(({ examples = [] }) => examples)]
    .join('\n')
    .slice(0, MAX_INDEXED_LENGTH)

/** The fields of an agent without a card. */
export const noSearchFields: SearchFields = {
  ...{ provider: '', skillIds: [], skillNames: [], tags: [], examples: [], capabilities: [] },
  ...{ inputModes: [], outputModes: [], protocolVersions: [], signed: false, text: '' },
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].slice(0, MAX_FIELD_VALUES)

/** The fields that have the values of each filter. */
const FILTERED = {
  tag: ['tags'],
  skill: ['skillIds', 'skillNames'],
  capability: ['capabilities'],
  inputMode: ['inputModes'],
  outputMode: ['outputModes'],
  provider: ['provider'],
  protocolVersion: ['protocolVersions'],
} as const satisfies Record<string, readonly (keyof SearchFields)[]>

/** A criterion by which agents are filtered, and counted. */
export type FilterName = keyof typeof FILTERED

/** The values of an agent that filters are compared with. */
export type Terms = Record<FilterName, string[]>

/** Returns the values by which filters find an agent, except those that are longer than a filter may be. */
export const toTerms = (fields: SearchFields): Terms => {
  const entries = Object.entries(FILTERED).map(([name, members]) => {
    const terms = members.flatMap(member => fields[member]).map(value => toTerm(name as FilterName, value))
    return [name, [...new Set(terms)].filter(term => term !== '' && term.length <= MAX_QUERY_LENGTH)]
  })
  return Object.fromEntries(entries) as Terms
}

/** Returns a value as filters compare it: in lower case, without parameters of a media type or a patch number. */
export const toTerm = (name: FilterName, value: string): string => {
  const term = value.trim().toLowerCase()
  if (name === 'protocolVersion') return /^\d+\.\d+/.exec(term)?.[0] ?? term
  return name === 'inputMode' || name === 'outputMode' ? (term.split(';', 1)[0]?.trim() ?? '') : term
}

/** Scripts without spaces between words: each character is indexed by itself, and a word is a phrase of them. */
const unspaced = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]'
const unspacedCharacter = new RegExp(`${unspaced}\\p{M}*`, 'gu')
const endsUnspaced = new RegExp(`${unspaced}\\p{M}*$`, 'u')

/** Returns a text as it is indexed: without differences of case and width, with spaces in scripts that have none. */
export const toIndexedText = (text: string): string => fold(text).replace(unspacedCharacter, ' $& ')

/** Returns the words of a query, between spaces, punctuation and emoji. A mark alone, as after an emoji, is none. */
export const splitWords = (query: string): string[] => [
  ...new Set(fold(query).match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? []),
]

/**
 * Returns the FTS5 expressions for agents that have all of these words, those of `nameWords` in the name; the best
 * matches first, the last one for all: all words in the name, all anywhere, and the same for the beginnings of longer
 * words.
 */
export const toMatchExpressions = (words: readonly string[], nameWords: readonly string[] = []): string[] => {
  const expressions = [toPhrases, toBeginnings].flatMap(form => {
    const namePhrases = form(nameWords).map(inName)
    const phrases = form(words)
    return [[...phrases.map(inName), ...namePhrases].join(' AND '), [...phrases, ...namePhrases].join(' AND ')]
  })
  return [...new Set(expressions)]
}

/** Returns the same for agents that have any of these words: those with all of them first. */
export const toAnyWordExpressions = (words: readonly string[]): string[] => {
  const phrases = toPhrases(words)
  return [...new Set([phrases.join(' AND '), phrases.join(' OR '), toBeginnings(words).join(' OR ')])]
}

/** No character of a word is special within quotation marks. */
const toPhrase = (word: string): string => `"${toIndexedText(word).trim().replaceAll('"', '""')}"`

/** One or two letters of an alphabet begin too many words: FTS5 would have to read most of the index. */
const shortWord = /^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{N}]{1,2}$/u

const toBeginning = (word: string): string =>
  endsUnspaced.test(word) || shortWord.test(word) ? toPhrase(word) : `${toPhrase(word)}*`

const toPhrases = (words: readonly string[]): string[] => words.map(toPhrase)

/** FTS5 reads all words that begin with one, so that only the last few may be beginnings. */
const toBeginnings = (words: readonly string[]): string[] => [
  ...words.slice(0, -MAX_WORD_BEGINNINGS).map(toPhrase),
  ...words.slice(-MAX_WORD_BEGINNINGS).map(toBeginning),
]

const inName = (phrase: string): string => `name : ${phrase}`

/** SQLite folds the accents; "ß" has no accent and no upper case of its own. */
const fold = (text: string): string => foldText(text).replaceAll('ß', 'ss')

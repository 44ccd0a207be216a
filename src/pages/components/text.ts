import { dialectLabels, type RepresentationName } from '../../card/model/index.ts'

export { webUrl } from '../../http/shared.ts'

// What the Worker and the scripts of pages do with texts of cards and answers, all of which are untrusted.

/** Cuts a text that is longer than `length`, in UTF-16 code units, between characters. */
export const shorten = (text: string, length: number): string => {
  if (text.length <= length) return text
  const cut = text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
  return `${cut.toWellFormed()}…`
}

/** Escapes characters that are invisible, or that reorder others, as JSON does. Line breaks and tabs stay. */
export const escapeInvisible = (text: string): string => text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, escapeCharacter)

/** Escapes the UTF-16 code units of a character as JSON does. */
export const escapeCharacter = (character: string): string =>
  character.replace(/[\s\S]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Returns a text without control characters, which have no picture; line breaks and tabs stay. */
export const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '\ufffd')

const MAX_FILE_NAME_LENGTH = 100

/** Returns the end of a name without paths, and without characters that are invisible or that file systems reserve. */
export const toFileName = (name: string): string =>
  name
    .slice(-MAX_FILE_NAME_LENGTH)
    .replace(/[\p{C}\u2028\u2029\\/:*?"<>|]/gu, '_')
    .replace(/^[.\s]+/, '') || 'file'

/** Marks a text as code of a sentence that `Prose` shows. */
export const quote = (text: string): string => `\`${printable(text).replaceAll('`', "'")}\``

/** Joins words as in a sentence: `a, b and c`. Of a long list, only the first `limit` are named. */
export const listWords = (words: readonly string[], conjunction: 'and' | 'or' = 'and', limit = 10): string => {
  const shown = words.length > limit ? [...words.slice(0, limit), `${words.length - limit} more`] : words
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} ${conjunction} ${shown.at(-1)}` : (shown[0] ?? '')
}

/** Returns a number with its noun, such as `1 agent`. */
export const plural = (count: number, noun: string): string =>
  `${count} ${count === 1 ? noun : noun.replace(/([^aeiou])y$/, '$1ie').concat('s')}`

/** The names of dialects and representations for people. */
export const representationLabels: Readonly<Record<RepresentationName, string>> = {
  ...dialectLabels,
  'agent-card.json': 'Hybrid',
  'agent.json': 'Hybrid, agent.json',
}

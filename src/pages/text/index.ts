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

/** Returns a number with its noun, such as `1 agent`. */
export const plural = (count: number, noun: string): string =>
  `${count} ${count === 1 ? noun : noun.replace(/([^aeiou])y$/, '$1ie').concat('s')}`

/** The names of dialects and representations for people. */
export const representationLabels: Readonly<Record<RepresentationName, string>> = {
  ...dialectLabels,
  'agent-card.json': 'Hybrid',
  'agent.json': 'Hybrid, agent.json',
}

import { MAX_JSON_DEPTH } from '../limits.ts'
import type { Json } from './json.ts'

/** What came of a text that should be JSON. `detail` is for people. */
export type Parsed = { value: Json } | { refused: 'not-json' | 'too-deep'; detail: string }

const cards = 'a card or a manifest'

/** Parses JSON text, with or without a BOM, refusing what nests deeper than this host reads. `expected` is what it should be. */
export const parseJson = (text: string, expected = cards): Parsed => {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  if (nestsDeeper(source, MAX_JSON_DEPTH))
    return { refused: 'too-deep', detail: `The document nests deeper than ${MAX_JSON_DEPTH} levels.` }
  try {
    return { value: JSON.parse(source) }
  } catch (error) {
    const why = error instanceof Error && source.trim() !== '' ? ` ${error.message}` : ''
    return { refused: 'not-json', detail: whatItIs(source, expected) + why }
  }
}

const whatItIs = (source: string, expected: string): string => {
  if (source.trim() === '') return `The body is empty; ${expected} as JSON was expected.`
  if (/^\s*</.test(source)) return 'This is HTML or XML, not JSON.'
  if (expected === cards && /^\s*---/.test(source))
    return 'This looks like YAML or Markdown; this host takes JSON (sync-card converts it).'
  return 'This is not JSON.'
}

/** Counts brackets outside strings, so that a hostile text is refused before anything recurses into it. */
const nestsDeeper = (source: string, most: number): boolean => {
  if (!hasMore(source, '{', most / 2) && !hasMore(source, '[', most / 2)) return false
  let depth = 0
  let inString = false
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (inString) {
      if (code === 0x5c) at++
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > most) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

/** Whether a text holds a character more often than so many times: much sooner told than how deep it nests. */
const hasMore = (source: string, character: string, most: number): boolean => {
  let count = 0
  for (let at = source.indexOf(character); at >= 0; at = source.indexOf(character, at + 1))
    if (++count > most) return true
  return false
}

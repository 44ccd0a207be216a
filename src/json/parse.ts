import { MAX_JSON_DEPTH } from '../limits.ts'
import type { Json } from './json.ts'

/** A parsed value, or why there is none; `detail` is for people. */
export type Parsed = { value: Json } | { refused: 'not-json' | 'too-deep'; detail: string }

/** The message about a document with too many levels. */
export const TOO_DEEP = `The document nests deeper than ${MAX_JSON_DEPTH} levels.`

/** Parses JSON text, with or without a byte order mark. Messages name what the text should contain, `expected`. */
export const parseJson = (text: string, expected = 'a card or a manifest'): Parsed => {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  if (isDeeperThan(source, MAX_JSON_DEPTH)) return { refused: 'too-deep', detail: TOO_DEEP }
  try {
    return { value: JSON.parse(source) }
  } catch (error) {
    if (source.trim() === '') return { refused: 'not-json', detail: `The body is empty; expected ${expected} as JSON.` }
    const reason = error instanceof Error ? ` ${error.message.replace(excerpt, '')}` : ''
    const found = /^\s*</.test(source) ? 'HTML or XML, not JSON' : 'not JSON'
    return { refused: 'not-json', detail: `This is ${found}.${reason}` }
  }
}

/** Parses JSON that a host has written, perhaps with documents in it; undefined for other and deeper texts. */
export const parseHostJson = (text: string): Json | undefined => {
  if (isDeeperThan(text, 2 * MAX_JSON_DEPTH)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** V8 quotes the text around some errors, which may be a part of a secret. */
const excerpt = /, (?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s

/** Checks the depth of a JSON text by its brackets outside strings: recursive functions need not read a hostile one. */
export const isDeeperThan = (source: string, levels: number): boolean => {
  // Few documents have enough brackets, and `indexOf` counts them much faster than a scan.
  if (!occursMoreThan(source, '{', levels / 2) && !occursMoreThan(source, '[', levels / 2)) return false
  let depth = 0
  for (let index = 0; index < source.length; index++) {
    const code = source.charCodeAt(index)
    if (code === QUOTE) index = endOfString(source, index)
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > levels) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

/** The code of a quotation mark. */
export const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Returns the index of the quote that ends the string that begins at `start`, else the end of the text. */
export const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    // An even number of backslashes escapes backslashes only.
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}

const occursMoreThan = (source: string, character: string, times: number): boolean => {
  let count = 0
  for (let index = source.indexOf(character); index >= 0; index = source.indexOf(character, index + 1))
    if (++count > times) return true
  return false
}

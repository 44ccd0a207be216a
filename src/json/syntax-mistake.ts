import { MAX_JSON_DEPTH } from '../limits.ts'
import { TOO_DEEP } from './parse.ts'

/** Where a text is not JSON, from line 1 and column 1, and what to write there. */
type SyntaxMistake = { line: number; column: number; message: string }

/** `more`: a comma, or the end of what is open. */
type Expected = 'value' | 'name' | 'colon' | 'more'

/** A string without its closing quote: up to the first character that no string can have. */
const unclosed = String.raw`"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*`
const UNCLOSED_STRING = new RegExp(unclosed, 'y')
const TOKEN = new RegExp(
  String.raw`${unclosed}"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)|[[\]{},:]`,
  'y',
)
const SPACE = /[ \t\r\n]*/y

/** A place in a text, the token before it, what is expected there, and the offsets of the brackets that are open. */
type Place = { text: string; at: number; before: string; expected: Expected; open: number[] }

/** Finds the first mistake in a text that is not JSON, or too deep. Quotes no word of it: it may be a secret. */
export const findSyntaxMistake = (text: string): SyntaxMistake => {
  const place: Place = { text, at: 0, before: '', expected: 'value', open: [] }
  for (;;) {
    place.at += match(SPACE, place)?.length ?? 0
    const token = match(TOKEN, place) ?? ''
    const expected = place.open.length <= MAX_JSON_DEPTH && step(token, place)
    if (!expected) return describe(place)
    Object.assign(place, { at: place.at + token.length, before: token, expected })
  }
}

const match = (pattern: RegExp, { text, at }: Place): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

const CLOSING: Record<string, string> = { '{': '}', '[': ']' }

/** Returns what is expected after a token; undefined if the token must not be there. */
const step = (token: string, { text, at, before, expected, open }: Place): Expected | undefined => {
  const outer = text[open.at(-1) ?? -1] ?? ''
  if (token === ':') return expected === 'colon' ? 'value' : undefined
  if (token === ',') return expected !== 'more' || !outer ? undefined : outer === '{' ? 'name' : 'value'
  if (token === '}' || token === ']') {
    if (expected === 'colon' || /^[,:]$/.test(before) || token !== CLOSING[outer]) return undefined
    open.pop()
    return 'more'
  }
  if (expected === 'name') return token.startsWith('"') ? 'colon' : undefined
  if (expected !== 'value' || token === '') return undefined
  if (token === '{' || token === '[') open.push(at)
  return token === '{' ? 'name' : token === '[' ? 'value' : 'more'
}

/** Common mistakes: what is expected, what is found instead, and how to fix it. */
const HINTS: readonly (readonly [expected: RegExp, found: RegExp, hint: string])[] = [
  [/./, /[<=>]{7} ?/y, 'Resolve this Git conflict: keep one of the two versions'],
  [/value/, /(?<=^\s*)</y, 'This is HTML or XML, not a card'],
  [
    /value/,
    /(?<=^\s*)(?:---|[\w$-]+:)/y,
    'This looks like YAML or Markdown: name the file .yaml or .md. A host accepts JSON (sync-card converts it)',
  ],
  [/./, /\/[/*]|#/y, 'Remove this comment: JSON has none'],
  [/./, /(?<=\{)\{|\$\{|\{%|<%/y, 'Replace this template by its value'],
  [/./, /[\u00a0\u200b-\u200f\u2028\u2029\u2060\ufeff]/y, 'Remove this invisible character'],
  [/name|value/, /(?<=,\s*)[}\]]/y, 'Remove the comma before this bracket'],
  [/name|value/, /,/y, 'Remove this comma'],
  [/value/, /(?:[-+]?Infinity|NaN|undefined)(?!\w)/y, 'Write null or a number'],
  [/value/, /(?:True|False|None|TRUE|FALSE|NULL)(?!\w)/y, 'Write true, false or null, in lowercase letters'],
  [/value/, /[-+.\d]/y, 'Write the number as in 5, -0.5 or 1e3'],
  [/name|value/, /[^"[\]{}:]/y, 'Write this in straight double quotes, as in "name": "Weather"'],
  [/name/, /(?=)/y, 'Write a name in double quotes here, as in "name": "Weather"'],
  [/value/, /(?=)/y, 'Write a value here, as in "name": "Weather"'],
  [/colon/, /(?=)/y, 'Write a colon before this, as in "name": "Weather"'],
]

const describe = (place: Place): SyntaxMistake => {
  const { text, at, expected, open } = place
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length
  const report = (message: string, offset = at): SyntaxMistake => {
    const column = offset - text.slice(0, offset).lastIndexOf('\n')
    return { line: lineOf(offset), column, message: `This is not JSON. ${message}.` }
  }
  const found = text[at] ?? ''
  const outer = open.at(-1)
  if (open.length > MAX_JSON_DEPTH) return { ...report(''), message: TOO_DEEP }
  if (found === '"' && expected !== 'more' && expected !== 'colon') {
    const end = at + (match(UNCLOSED_STRING, place)?.length ?? 0)
    if (/[\r\n]/.test(text[end] ?? '\n')) return report('Close this text with ": a line break in it is written as \\n')
    return report(text[end] === '\\' ? 'Write a backslash as \\\\' : 'Write a tab as \\t', end)
  }
  if (expected === 'more' && outer === undefined) return report('Remove this: each agent has a document of its own')
  if (outer !== undefined && (found === '' || (expected === 'more' && /[}\]]/.test(found)))) {
    const bracket = text[outer] ?? ''
    return report(`Write ${CLOSING[bracket]} here: the ${bracket} of line ${lineOf(outer)} is open`)
  }
  const hint = HINTS.find(([states, mistake]) => states.test(expected) && match(mistake, place) !== undefined)
  return report(hint?.[2] ?? 'Write a comma before this')
}

/** The first byte that is not UTF-8, for people: its offset, from 0, and the line and column of the text, from 1. */
type InvalidByte = { message: string; offset: number; line: number; column: number }

/** Decodes UTF-8 text, without its byte order mark; or finds the first byte that is not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): { text: string } | InvalidByte => {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes) }
  } catch {
    return findInvalidByte(bytes)
  }
}

/** A lenient decoder replaces the byte, so the text differs from the bytes in the character that begins there. */
const findInvalidByte = (bytes: Uint8Array): InvalidByte => {
  const encoded = new TextEncoder().encode(new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes))
  let offset = encoded.findIndex((byte, index) => byte !== bytes[index])
  while (((encoded[offset] ?? 0) & 0xc0) === 0x80) offset--
  const lines = new TextDecoder().decode(bytes.subarray(0, offset)).split('\n')
  const byte = bytes[offset]?.toString(16).toUpperCase().padStart(2, '0')
  const column = (lines.at(-1) ?? '').length + 1
  return { message: `the byte 0x${byte} at offset ${offset}`, offset, line: lines.length, column }
}

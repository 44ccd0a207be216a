import type { Json } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import type { Refusal } from './verdict.ts'

// V8 has them, TypeScript's library does not yet: https://github.com/tc39/proposal-json-parse-with-source
declare global {
  interface JSON {
    parse(text: string, reviver: (this: unknown, name: string, value: Json, context: { source?: string }) => Json): Json
    rawJSON(text: string): { rawJSON: string }
    isRawJSON(value: unknown): boolean
  }
}

/** Only texts up to this length are looked at so closely, in characters: to look at every value of 4 MiB takes seconds. */
const longestExact = 256 * 1024

/** A number longer than this is no number of any agent's, and costs those who read it more than its length. */
const longestNumber = 1000

/**
 * Where a number may stand that JavaScript would write in another way: one of 16 digits or more, with an exponent or small
 * enough to get one, with a zero at its end after the point, or minus zero. Text inside strings may match too, which costs
 * time and nothing else.
 */
const unusualNumber = /(?:^|[[:,])\s*(?:-?(?:[\d.]{16}|[\d.]+[eE]|\d+\.\d*0(?!\d)|0\.0{6})|-0(?![\d.]))/

/**
 * Parses the JSON text of a call so that what is forwarded says what was sent: but in a very long call, a number that JavaScript
 * would round or respell is kept as its own text (an object for `JSON.isRawJSON`, which `JSON.stringify` writes as that text).
 */
export const parseJsonLossless = (text: string): { value: Json } | Refusal => {
  const parsed = parseJson(text, 'a call')
  if ('value' in parsed) return text.length <= longestExact && unusualNumber.test(text) ? exactly(text) : parsed
  if (parsed.refused === 'too-deep') return { refused: 'not-a-request', detail: parsed.detail, id: null }
  return { refused: 'not-json', detail: parsed.detail }
}

const exactly = (text: string): { value: Json } | Refusal => {
  let longest = 0
  const value = JSON.parse(text.replace(/^\ufeff/, ''), (_, value, { source }) => {
    if (typeof value !== 'number' || source === undefined || String(value) === source) return value
    longest = Math.max(longest, source.length)
    return JSON.rawJSON(source)
  })
  return longest > longestNumber
    ? { refused: 'not-a-request', detail: `A number is longer than ${longestNumber} characters.`, id: null }
    : { value }
}

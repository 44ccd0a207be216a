import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import type { Refusal } from './errors.ts'

/** A JSON-RPC request that is sound; or why it is not, with as much of it as could be read. */
export type JsonRpcRequest =
  | { id: Json; method: string; params: JsonObject }
  /** `id` is null and `method` empty where they could not be read. */
  | { id: Json; method: string; refusal: Refusal }

/** No method of A2A is near it; what is refused is said again in the answer. */
const longestMethod = 256

/** Reads a parsed body as one JSON-RPC 2.0 request: no batch, and no notification, which A2A does not know. */
export const parseJsonRpcRequest = (value: Json): JsonRpcRequest => {
  const faults = faultsOf(value)
  const read = isJsonObject(value) ? value : {}
  const id = isId(read.id) ? read.id : null
  const method = isMethod(read.method) ? read.method : ''
  if (faults !== undefined) return { id, method, refusal: { refused: 'not-a-request', detail: faults, id } }
  const { params = {} } = read
  if (isJsonObject(params) && !JSON.isRawJSON(params)) return { id, method, params }
  const violations = [{ field: 'params', description: 'must be an object of named parameters' }]
  return {
    id,
    method,
    refusal: { refused: 'invalid-params', detail: '`params` must be an object of named parameters.', violations },
  }
}

const faultsOf = (value: Json): string | undefined => {
  if (Array.isArray(value)) return 'A2A takes no batches: send each call by itself.'
  if (!isJsonObject(value) || JSON.isRawJSON(value))
    return 'A call is a JSON object with `jsonrpc`, `id`, `method`, `params`.'
  if (value.jsonrpc !== '2.0') return '`jsonrpc` must be the string "2.0".'
  if (value.id === undefined) return '`id` is missing: A2A knows no notifications, every call is answered.'
  if (!isId(value.id)) return '`id` must be a string, a number or null.'
  if (typeof value.method !== 'string') return '`method` must be a string.'
  return isMethod(value.method) ? undefined : `\`method\` is longer than ${longestMethod} characters.`
}

/** Null too: JSON-RPC discourages it, and allows it. */
const isId = (id: Json | undefined): id is Json =>
  id === null || typeof id === 'string' || typeof id === 'number' || JSON.isRawJSON(id)

const isMethod = (method: Json | undefined): method is string =>
  typeof method === 'string' && method.length <= longestMethod

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

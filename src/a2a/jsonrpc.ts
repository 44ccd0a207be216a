import { endOfString, isJsonObject, isPlainObject, type Json, type JsonObject, parseJson } from '../json/start.ts'
import { MAX_METHOD_LENGTH, MAX_NUMBER_LENGTH, MAX_RAW_NUMBERS } from '../limits.ts'
import { type CallError, invalidParam } from './call-error.ts'

/** A valid JSON-RPC request; or the error of an invalid one, with as much of it as could be read. */
export type JsonRpcRequest =
  | { id: Json; method: string; params: JsonObject }
  /** `id` is null and `method` empty if they could not be read. With `params`, nothing but the id is missing. */
  | { id: Json; method: string; params?: JsonObject; error: CallError }

/** Parses one JSON-RPC 2.0 request. Rejects batches, and notifications, which A2A does not have. */
export const parseJsonRpcRequest = (value: Json): JsonRpcRequest => {
  const detail = findFault(value)
  const request = isJsonObject(value) ? value : {}
  const id = isId(request.id) ? request.id : null
  const method = isMethod(request.method) ? request.method : ''
  if (detail !== undefined) return { id, method, error: { kind: 'not-a-request', detail } }
  const { params = {} } = request
  if (!isPlainObject(params))
    return { id, method, error: invalidParam('params', 'must be an object of named parameters') }
  if (request.id !== undefined) return { id, method, params }
  const missing = '`id` is missing. A2A does not support notifications: every call has a response.'
  return { id, method, params, error: { kind: 'not-a-request', detail: missing } }
}

const findFault = (value: Json): string | undefined => {
  if (Array.isArray(value)) return 'A2A does not support batches. Send each call in a request of its own.'
  if (!isPlainObject(value)) return 'A call must be a JSON object with `jsonrpc`, `id`, `method` and `params`.'
  if (value.jsonrpc === undefined && ('card' in value || 'skills' in value || 'description' in value))
    return 'This is a card, not a call. To register it, send PUT /agents/{id}.'
  if (value.jsonrpc !== '2.0') return '`jsonrpc` must be the string "2.0".'
  if (value.id !== undefined && !isId(value.id)) return '`id` must be a string, a number or null.'
  if (typeof value.method !== 'string') return '`method` must be a string.'
  return isMethod(value.method) ? undefined : `\`method\` is longer than ${MAX_METHOD_LENGTH} characters.`
}

/** JSON-RPC discourages null as an id, but allows it. */
const isId = (id: Json | undefined): id is Json =>
  id === null || typeof id === 'string' || typeof id === 'number' || JSON.isRawJSON(id)

const isMethod = (method: Json | undefined): method is string =>
  typeof method === 'string' && method.length <= MAX_METHOD_LENGTH

/** Parses JSON such that `JSON.stringify` writes every number as it was sent, if need be as a raw JSON object. */
export const parseJsonLossless = (text: string): { value: Json } | CallError => {
  const parsed = parseJson(text, 'a call')
  if ('value' in parsed) return parseWithRawNumbers(text) ?? parsed
  return { kind: parsed.refused === 'too-deep' ? 'not-a-request' : 'not-json', detail: parsed.detail }
}

/**
 * Parses valid JSON with numbers that JavaScript would write differently in three linear passes: replaces each by a
 * marked string, parses, and replaces the marked strings by raw numbers. A reviver would take seconds for the largest
 * body. Returns undefined if there are none, as in nearly all calls.
 */
const parseWithRawNumbers = (text: string): { value: Json } | CallError | undefined => {
  let mark = ''
  const pieces: string[] = []
  let copied = text.charCodeAt(0) === 0xfeff ? 1 : 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at)
      const number = text.slice(at, end)
      if (number.length > MAX_NUMBER_LENGTH)
        return { kind: 'not-a-request', detail: `A number is longer than ${MAX_NUMBER_LENGTH} characters.` }
      if (!commonNumber.test(number) && String(Number(number)) !== number) {
        // Random, so that no string of the text can have it.
        mark ||= `${crypto.randomUUID()}:`
        pieces.push(text.slice(copied, at), `"${mark}${number}"`)
        copied = end
        // Each costs as much as 20 characters of other JSON.
        if (pieces.length > 2 * MAX_RAW_NUMBERS)
          return { kind: 'not-a-request', detail: `More than ${MAX_RAW_NUMBERS} numbers are written like 1.0, not 1.` }
      }
      at = end - 1
    }
  }
  if (pieces.length === 0) return undefined
  pieces.push(text.slice(copied))
  return { value: restoreNumbers(JSON.parse(pieces.join('')), mark) }
}

/** Matches numbers that JavaScript writes as they are, without a conversion, which takes longer. */
const commonNumber = /^(?!-0$)-?\d{1,9}(?:\.\d{0,5}[1-9])?$/

const QUOTE = 0x22
const MINUS = 0x2d

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** Returns the index after the number that begins at `start`. */
const endOfNumber = (text: string, start: number): number => {
  let at = start + 1
  while (at < text.length && (isDigit(text.charCodeAt(at)) || '.eE+-'.includes(text.charAt(at)))) at++
  return at
}

const restoreNumbers = (value: Json, mark: string): Json => {
  if (typeof value === 'string') return value.startsWith(mark) ? JSON.rawJSON(value.slice(mark.length)) : value
  if (Array.isArray(value)) for (const [index, item] of value.entries()) value[index] = restoreNumbers(item, mark)
  else if (isJsonObject(value))
    for (const name of Object.keys(value)) value[name] = restoreNumbers(value[name] ?? null, mark)
  return value
}

import { isObject, type JsonObject } from '../card/json.ts'
import { parseCall } from './exact-json.ts'
import type { Refusal } from './verdict.ts'

/** Reads the body of an HTTP+JSON call: a JSON object, or nothing where the path says it all. */
export const readRestBody = (text: string): { body: JsonObject } | Refusal => {
  if (text.trim() === '') return { body: {} }
  const parsed = parseCall(text)
  if ('refused' in parsed) return parsed
  return isObject(parsed.value) && !JSON.isRawJSON(parsed.value)
    ? { body: parsed.value }
    : { refused: 'not-a-request', detail: 'The body of a call is a JSON object.', id: null }
}

/**
 * The parameters of an HTTP+JSON call in the shape of JSON-RPC's: those of the path, over those of the body, over those of the
 * query, where the first of a name counts. The version is no parameter.
 */
export const restParams = (path: Record<string, string>, query: URLSearchParams, body: JsonObject): JsonObject => {
  const fromQuery = [...query].filter(([name]) => name.toLowerCase() !== 'a2a-version').reverse()
  return { ...Object.fromEntries(fromQuery), ...body, ...path }
}

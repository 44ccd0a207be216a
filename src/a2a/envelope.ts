import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import type { Refusal } from './verdict.ts'

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

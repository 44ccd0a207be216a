import type { CallBinding, WireVersion } from '../card/model/calls.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { OperationName } from './operations.ts'

/** One A2A call as the gate sees it, whatever binding it came by. */
export type A2ACall = {
  binding: CallBinding
  operation: OperationName
  /** The version of A2A that the caller speaks: what is answered is in its form. */
  version: WireVersion
  /** The JSON-RPC id as it was sent; null where there was none, and over HTTP+JSON. */
  id: Json
  /** The parameters: of JSON-RPC's `params`, or gathered from path, query and body. */
  params: JsonObject
  /** The extensions that the caller names. */
  extensions: string[]
}

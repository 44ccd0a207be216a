import type { Authentication } from '../../auth/principal.ts'
import type { Handler } from '../../http/handler.ts'
import type { JsonObject } from '../../json/json.ts'
import type { RpcProblem } from './superx-errors.ts'

/** What came of a method; `agent` is the id of the one that it was about, where there is such an agent. */
export type RpcOutcome = { agent?: string } & ({ result: JsonObject } | { problem: RpcProblem })

/** A method of SuperX's door. It may throw an HttpError. */
export type RpcMethod = (
  params: JsonObject,
  caller: Authentication,
  ...asking: Parameters<Handler>
) => Promise<RpcOutcome>

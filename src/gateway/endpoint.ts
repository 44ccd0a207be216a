import type { Refusal } from '../a2a/verdict.ts'
import type { Authentication } from '../auth/principal.ts'
import type { Asking } from '../http/handler.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { InboundCall } from './call-context.ts'

/** An agent by its id, and as the caller named it: what it did not say, it is not told. */
export type AgentRef = { id: string; named: string }

/** An agent that a caller named by its id. */
export const byId = (id = ''): AgentRef => ({ id, named: id })

/** What came in the body of a call, parsed; or why it cannot be one. */
export type Body = { value: Json } | Refusal

/** A place that calls come to. */
export type Endpoint = {
  /** The agent, where the path names it; else how to find it by what the call says, and who makes it. */
  whose: AgentRef | ((params: JsonObject, caller: Authentication, ...rest: Asking) => Promise<AgentRef | Refusal>)
  body: () => Promise<Body>
  ask: (body: Body) => InboundCall
}

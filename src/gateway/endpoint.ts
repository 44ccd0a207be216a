import type { Refusal } from '../a2a/verdict.ts'
import type { Caller } from '../auth/principal.ts'
import type { Asking } from '../http/handler.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { Asked } from './call-context.ts'

/** An agent by its id, and as the caller named it: what it did not say, it is not told. */
export type Addressee = { id: string; named: string }

/** An agent that a caller named by its id. */
export const byId = (id = ''): Addressee => ({ id, named: id })

/** What came in the body of a call, parsed; or why it cannot be one. */
export type Body = { value: Json } | Refusal

/** A place that calls come to. */
export type Endpoint = {
  /** The agent, where the path names it; else how to find it by what the call says, and who makes it. */
  whose: Addressee | ((params: JsonObject, caller: Caller, ...rest: Asking) => Promise<Addressee | Refusal>)
  body: () => Promise<Body>
  ask: (body: Body) => Asked
}

import type { Failure, Refusal } from '../a2a/errors.ts'
import type { A2ACall } from '../a2a/operations.ts'
import { authenticateForAgent } from '../auth/authenticate.ts'
import type { Authentication } from '../auth/principal.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { RepresentationName } from '../card/model/constants.ts'
import type { Asking } from '../http/handler.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { type CachedDocument, lookUpProfile } from '../registry/edge/cards.ts'

/** A call that its agent's profile has made sense of: what goes upstream is written anew from what was read. */
export type ParsedCall = {
  call: A2ACall
  /** The dialect that an extended card is asked for in. */
  dialect: RepresentationName
  method: string
  /** Of HTTP+JSON: path and query below the agent's address. */
  path: string
  /** The JSON text that goes on; written only where it does. */
  body: () => string | undefined
}

/** A call as it came, in the words of its binding. */
export type InboundCall = {
  /** Why it is no call, whosever it might be. */
  refusal?: Refusal | undefined
  params: JsonObject
  read: (profile: CallProfile) => ParsedCall | Refusal
  refuse: (problem: Refusal | Failure, call?: A2ACall) => Response
  answerCard: (card: CachedDocument) => Response
}

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

/** Who calls which agent; there is none of that id where `profile` is null. */
export type Visit = AgentRef & { profile: CallProfile | null; caller: Authentication }

/** Finds the agent of a call, and who calls it: `bearer`, unless the agent's card says more. */
export const resolveCallContext = async (
  { id, named }: AgentRef,
  bearer: Authentication,
  ...[request, env, ctx]: Asking
): Promise<Visit | Refusal> => {
  const profile = await lookUpProfile(id, env, ctx)
  if (profile === undefined) return unavailable
  const caller = profile ? await authenticateForAgent(bearer, { id, profile }, { request, env, ctx }) : bearer
  return { id, named, profile, caller }
}

/** What is told while KV or the Registry is away, which the log has been told. */
export const unavailable: Refusal = { refused: 'unavailable' }

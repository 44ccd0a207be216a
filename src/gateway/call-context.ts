import type { A2ACall } from '../a2a/call.ts'
import type { Failure, Refusal } from '../a2a/verdict.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { RepresentationName } from '../card/model/representation-names.ts'
import type { JsonObject } from '../json/json.ts'
import type { CachedDocument } from '../registry/edge/cards.ts'

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

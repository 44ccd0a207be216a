import type { WireVersion } from '../card/model/calls.ts'
import type { Json } from '../json/json.ts'

/** Why a call goes no further, with the facts; `wire-error.ts` says each in the words of the caller's version. */
export type Refusal =
  | { refused: 'not-json'; detail: string }
  | { refused: 'not-a-request'; detail: string; id: Json }
  | { refused: 'too-large'; most: number }
  | { refused: 'content-type'; offered: string | null }
  | { refused: 'unknown-agent'; agent: string }
  | { refused: 'invalid-params'; detail: string; violations: { field: string; description: string }[] }
  /** No such method; `today` is what has taken the place of a name that is gone. */
  | { refused: 'method'; method: string; version: WireVersion; today?: string }
  | { refused: 'version'; offered: string; accepted: string[] }
  | { refused: 'streaming' }
  | { refused: 'push-notifications' }
  | { refused: 'extended-card' }
  | { refused: 'extended-card-not-configured' }
  | { refused: 'extensions'; required: string[]; missing: string[] }
  | { refused: 'input-modes'; offered: string[]; accepted: string[] }
  | { refused: 'output-modes'; offered: string[]; accepted: string[] }
  | { refused: 'closed' }
  | { refused: 'no-token' }
  | { refused: 'bad-token' }
  | { refused: 'forbidden'; missing: string }
  /** Whether the token holds cannot be told now. */
  | { refused: 'token-unchecked' }
  /** What this host knows of its agents cannot be read now. */
  | { refused: 'unavailable' }
  | { refused: 'rate-limit'; retryAfter: number }

/** Why a call that was let through brought no answer of the agent. */
export type Failure =
  /** The card is to come from elsewhere and never has: there is nothing to check the call against. */
  | { failed: 'no-card' }
  | { failed: 'unreachable' }
  /** Without the seconds where it was not this host that waited. */
  | { failed: 'timeout'; seconds?: number }
  | { failed: 'not-json'; status: number }
  /** `status` is the agent's own, for the log. */
  | { failed: 'too-large'; most: number; status?: number }
  | { failed: 'redirect'; status?: number }
  | { failed: 'loop' }
  /** The manifest names what this Worker does not have, or may not reach; the detail is for the log. */
  | { failed: 'misconfigured'; detail: string }
  /** What came of a stream has passed. */
  | { failed: 'silent'; seconds: number }
  | { failed: 'broken-off' }
  /** The agent wants other credentials or fewer calls, and said so in no form of A2A; the status is its own. */
  | { failed: 'agent-refused'; status: number }

/** What the gate says of a call: to be forwarded, though `warnings` were found where its manifest says `warn`; or refused. */
export type Verdict = { passed: true; warnings: Refusal[] } | Refusal

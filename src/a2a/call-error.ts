import type { WireVersion } from '../card/model/index.ts'

/** A parameter that is wrong, by its path in `params`. */
type FieldViolation = { field: string; description: string }

/** The error of a call that was refused, or failed after it was forwarded. The log names its `kind`. */
export type CallError =
  // The request is not a call.
  | { kind: 'not-json'; detail: string }
  | { kind: 'not-a-request'; detail: string }
  | { kind: 'too-large'; maxBytes: number }
  | { kind: 'content-type'; offered: string | null }
  /** The connection closed before the whole body arrived. */
  | { kind: 'aborted' }
  | { kind: 'method'; method: string; version: WireVersion; currentName?: string }
  | { kind: 'http-method'; method: string; path: string; allow: string[] }
  | InvalidParams
  // The caller may not make it.
  | { kind: 'unknown-agent'; agent: string }
  | { kind: 'no-token'; scope: 'read' | 'call' }
  | { kind: 'bad-token' }
  | { kind: 'forbidden'; scope: 'read' | 'call'; agent: string }
  | { kind: 'rate-limit'; retryAfter: number }
  /** The issuer of the token does not respond. */
  | { kind: 'token-unchecked' }
  /** KV or the Registry does not respond. */
  | { kind: 'unavailable' }
  // The agent's card does not allow it.
  | { kind: 'version'; offered: string; accepted: string[] }
  /** The agent has another version, in which there is no such operation. */
  | { kind: 'operation-missing'; method: string; version: WireVersion }
  | { kind: 'streaming' }
  | { kind: 'push-notifications' }
  | { kind: 'extended-card' }
  | { kind: 'extended-card-not-configured' }
  | { kind: 'extensions'; required: string[]; missing: string[] }
  | { kind: 'input-modes'; offered: string[]; accepted: string[] }
  | { kind: 'output-modes'; offered: string[]; accepted: string[] }
  /** No such task or context, or one of another caller: nobody may learn which. */
  | { kind: 'task-not-found' }
  | { kind: 'closed' }
  // The agent cannot be called, or its response cannot be passed on. `detail` is for the log only.
  /** The card is remote and was never fetched, so there is nothing to check the call against. */
  | { kind: 'no-card' }
  | { kind: 'misconfigured'; detail: string }
  | { kind: 'unreachable'; detail?: string }
  /** Without `seconds` if Cloudflare's network gave up, not this host. */
  | { kind: 'timeout'; seconds?: number }
  | { kind: 'loop' }
  /** The status is the agent's own, here and below. */
  | { kind: 'invalid-response'; status: number; detail?: string }
  /** An answer names a task or context of another caller. */
  | { kind: 'foreign-task'; detail: string }
  | { kind: 'response-too-large'; maxBytes: number; status?: number }
  | { kind: 'redirect'; status?: number }
  /** The agent refused the call with one of `PASSTHROUGH_STATUSES`, but not in a form of A2A. */
  | { kind: 'agent-refused'; status: number }
  /** Part of the stream was already passed on. */
  | { kind: 'silent'; seconds: number }
  | { kind: 'broken-off' }

/** Parameters that are wrong. */
export type InvalidParams = { kind: 'invalid-params'; detail: string; violations: FieldViolation[] }

/** Builds the error of one wrong parameter. */
export const invalidParam = (field: string, description: string): InvalidParams => ({
  kind: 'invalid-params',
  detail: `\`${field.slice(0, 100)}\` ${description}.`,
  violations: [{ field, description }],
})

/** Statuses with which an agent refuses a call that its caller must see, even if the agent sends HTML. */
export const PASSTHROUGH_STATUSES: Readonly<Record<number, { grpcStatus: string; meaning: string }>> = {
  401: { grpcStatus: 'UNAUTHENTICATED', meaning: 'requires credentials' },
  403: { grpcStatus: 'PERMISSION_DENIED', meaning: 'does not permit this with these credentials' },
  413: { grpcStatus: 'INVALID_ARGUMENT', meaning: 'does not accept a call of this size' },
  429: { grpcStatus: 'RESOURCE_EXHAUSTED', meaning: 'is receiving too many calls' },
}

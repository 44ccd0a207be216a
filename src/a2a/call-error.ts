import type { WireVersion } from '../card/model/index.ts'

/** A parameter that is wrong, by its path in `params`. */
type FieldViolation = { field: string; description: string }

/** The error of a call that was refused, or failed after it was forwarded. The log names its `kind`. */
export type CallError =
  // The request is not a call.
  /** The body is not JSON in UTF-8. */
  | { kind: 'not-json'; detail: string }
  /** The body is JSON, but not a JSON-RPC 2.0 request with an id, or nested too deeply. */
  | { kind: 'not-a-request'; detail: string }
  /** The call is larger than `MAX_CALL_BYTES`. */
  | { kind: 'too-large'; maxBytes: number }
  /** The call is not sent as JSON. */
  | { kind: 'content-type'; offered: string | null }
  /** The connection closed before the whole body arrived. */
  | { kind: 'aborted' }
  /** The method does not exist in the version of the call; the message names the current one. */
  | { kind: 'method'; method: string; version: WireVersion; currentName?: string }
  /** The path of the HTTP+JSON binding does not support the HTTP method. */
  | { kind: 'http-method'; method: string; path: string; allow: string[] }
  | InvalidParams
  // The caller may not make it.
  /** No such agent exists, or the caller may not see it. */
  | { kind: 'unknown-agent'; agent: string }
  /** A token is needed and the call has none. */
  | { kind: 'no-token'; scope: 'read' | 'call' }
  /** The token is malformed, unknown, expired or revoked. */
  | { kind: 'bad-token' }
  /** The token lacks a scope, a tier or the agent. */
  | { kind: 'forbidden'; scope: 'read' | 'call'; agent: string }
  /** Too many calls, or too many failed authentication attempts. */
  | { kind: 'rate-limit'; retryAfter: number }
  /** The issuer of the token does not respond. */
  | { kind: 'token-unchecked' }
  /** KV or the registry does not respond. */
  | { kind: 'unavailable' }
  // The agent's card does not allow it.
  /** The agent does not support the version, or the binding, and `bridge` does not translate the call. */
  | { kind: 'version'; offered: string; accepted: string[] }
  /** The call would be [translated](docs/design/calls.md#bridges), but the agent's version has no such operation. */
  | { kind: 'operation-missing'; method: string; version: WireVersion }
  /** The card does not declare `capabilities.streaming`. */
  | { kind: 'streaming' }
  /** The card does not declare `capabilities.pushNotifications`. */
  | { kind: 'push-notifications' }
  /** The card does not declare an extended card. */
  | { kind: 'extended-card' }
  /** The card declares an extended card, but neither the manifest nor a remote card has one. */
  | { kind: 'extended-card-not-configured' }
  /** The call does not name an extension that the card requires. */
  | { kind: 'extensions'; required: string[]; missing: string[] }
  /** The agent does not accept the media type of a part; a file without one counts as `application/octet-stream`. */
  | { kind: 'input-modes'; offered: string[]; accepted: string[] }
  /** The agent produces none of `acceptedOutputModes`. */
  | { kind: 'output-modes'; offered: string[]; accepted: string[] }
  /** The task or context does not exist, or belongs to another caller; the error is the same. */
  | { kind: 'task-not-found' }
  /** The manifest has `route: closed`. */
  | { kind: 'closed' }
  // The agent cannot be called, or its response cannot be passed on. `detail` is for the log, `status` the agent's.
  /** The agent's remote card was never fetched, so there is nothing to check the call against. */
  | { kind: 'no-card' }
  /**
   * The manifest needs a secret or binding that this Worker lacks, or names an address that it does not call; or the
   * agent rejects the secret.
   */
  | { kind: 'misconfigured'; detail: string }
  /** The agent cannot be reached. */
  | { kind: 'unreachable'; detail?: string }
  /** The agent does not respond within `UPSTREAM_TIMEOUT`; without `seconds`, Cloudflare's network gave up first. */
  | { kind: 'timeout'; seconds?: number }
  /** The agent's endpoint forwards back to this host. */
  | { kind: 'loop' }
  /** The response of the agent, or an event of its stream, is not A2A. */
  | { kind: 'invalid-response'; status: number; detail?: string }
  /**
   * The response of the agent, or an event of its stream, has the id of another caller's task or context, for example
   * after a restart of the agent (docs/design/calls.md#whose-tasks-a-call-reaches).
   */
  | { kind: 'foreign-task'; detail: string }
  /**
   * The response of the agent is larger than `MAX_RESPONSE_BYTES`, an event of its stream than `MAX_EVENT_BYTES`, or
   * its extended card than `MAX_AGENT_EXTENDED_CARD_BYTES`.
   */
  | { kind: 'response-too-large'; maxBytes: number; status?: number }
  /** The agent responds with a redirect. */
  | { kind: 'redirect'; status?: number }
  /** The agent refuses the call with a response that is not A2A; the status is that of the agent. */
  | { kind: 'agent-refused'; status: number }
  /** The stream of the agent is silent for `STREAM_IDLE_TIMEOUT`; sent as its last event. */
  | { kind: 'silent'; seconds: number }
  /** The agent closes its stream before the end; sent as its last event. */
  | { kind: 'broken-off' }

/**
 * Parameters are wrong, or a message has the form of another version (docs/design/calls.md#mistakes-in-a-message);
 * `fieldViolations` names them.
 */
export type InvalidParams = { kind: 'invalid-params'; detail: string; violations: FieldViolation[] }

/** The reason why a call is refused; undefined where it is not. */
export type Refusal = CallError | undefined

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

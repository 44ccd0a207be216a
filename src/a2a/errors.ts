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

/** The facts of a problem, as `data` says them. */
export type Facts = Record<string, string | number | readonly string[]>

/** How one kind of problem is told on the wire. */
export type ErrorSpec<Tagged> = {
  /** JSON-RPC's. */
  code: number
  /** google.rpc.ErrorInfo's; that of A2A where A2A has the error. */
  reason: string
  /** Of both bindings, where the problem is not in the A2A call itself. */
  status?: number | ((problem: Tagged) => number)
  /** Of HTTP+JSON, where that is not 400; JSON-RPC answers a well-formed call with 200. */
  restStatus?: number
  /** Whether the body was no JSON-RPC request at all: 400 in both bindings. */
  malformed?: true
  /** Whether the call would be sound elsewhere: FAILED_PRECONDITION, where 400 else is INVALID_ARGUMENT. */
  precondition?: true
  say: (problem: Tagged) => string
  facts?: (problem: Tagged) => Facts
}

const list = (items: readonly string[]): string => (items.length > 0 ? items.join(', ') : 'none')

const tokenHint = 'Send one of this host as `Authorization: Bearer …`.'

/** What is said of each refusal, to whoever made the call. */
export const refusals: { [Tag in Refusal['refused']]: ErrorSpec<Extract<Refusal, { refused: Tag }>> } = {
  'not-json': { code: -32700, reason: 'PARSE_ERROR', malformed: true, say: ({ detail }) => detail },
  'not-a-request': { code: -32600, reason: 'INVALID_REQUEST', malformed: true, say: ({ detail }) => detail },
  'too-large': {
    code: -32600,
    reason: 'REQUEST_TOO_LARGE',
    status: 413,
    say: ({ most }) => `The call is larger than ${most} bytes, the most that this host takes.`,
    facts: ({ most }) => ({ most }),
  },
  'content-type': {
    code: -32005,
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
    status: 415,
    say: ({ offered }) =>
      `Send the call as JSON, with \`Content-Type: application/json\`, not ${offered === null ? 'without one' : `"${offered}"`}.`,
    facts: ({ offered }) => ({ offered: offered === null ? [] : [offered], accepted: ['application/json'] }),
  },
  'unknown-agent': {
    code: -32602,
    reason: 'AGENT_NOT_FOUND',
    status: 404,
    // Who asked by the host name alone has named none.
    say: ({ agent }) =>
      `${agent === '' ? 'No agent stands for this host name.' : `There is no agent "${agent}" here.`} GET /agents lists the agents of this host.`,
    facts: ({ agent }) => ({ agent }),
  },
  'invalid-params': { code: -32602, reason: 'INVALID_PARAMS', say: ({ detail }) => detail },
  method: {
    code: -32601,
    reason: 'METHOD_NOT_FOUND',
    restStatus: 404,
    say: ({ method, version, today }) =>
      `A2A ${version} has no method "${method}"${today === undefined ? '' : `; there it is "${today}"`}.`,
    facts: ({ method, version, today }) => ({ method, version, ...(today !== undefined && { today }) }),
  },
  version: {
    code: -32009,
    reason: 'VERSION_NOT_SUPPORTED',
    precondition: true,
    say: ({ offered, accepted }) =>
      accepted.length === 0
        ? 'This agent takes no calls over this binding; its card names those that it takes.'
        : `A2A ${offered} is not spoken here. Name one version in \`A2A-Version\`: ${accepted.join(' or ')}.`,
    facts: ({ offered, accepted }) => ({ offered: [offered], accepted }),
  },
  streaming: {
    code: -32004,
    reason: 'UNSUPPORTED_OPERATION',
    precondition: true,
    say: () => 'This agent does not stream: its card says so. Send the message without streaming, and get the task.',
    facts: () => ({ capability: 'streaming' }),
  },
  'push-notifications': {
    code: -32003,
    reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
    precondition: true,
    say: () =>
      'This agent sends no push notifications: its card says so. Leave their configuration out, and get the task.',
    facts: () => ({ capability: 'pushNotifications' }),
  },
  'extended-card': {
    code: -32004,
    reason: 'UNSUPPORTED_OPERATION',
    precondition: true,
    say: () => 'This agent has no extended card: its public card is all there is.',
    facts: () => ({ capability: 'extendedAgentCard' }),
  },
  'extended-card-not-configured': {
    code: -32007,
    reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    precondition: true,
    say: () => 'This agent declares an extended card, but none is configured on this host.',
  },
  extensions: {
    code: -32008,
    reason: 'EXTENSION_SUPPORT_REQUIRED',
    precondition: true,
    say: ({ missing }) =>
      `This agent requires extensions that the call does not name in \`A2A-Extensions\`: ${list(missing)}.`,
    facts: ({ required, missing }) => ({ required, missing }),
  },
  'input-modes': {
    code: -32005,
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
    say: ({ offered, accepted }) => `The message has parts of ${list(offered)}; what goes in is ${list(accepted)}.`,
    facts: ({ offered, accepted }) => ({ offered, accepted }),
  },
  'output-modes': {
    code: -32005,
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
    say: ({ offered, accepted }) =>
      `The call accepts only ${list(offered)} (acceptedOutputModes); what comes out is ${list(accepted)}.`,
    facts: ({ offered, accepted }) => ({ offered, accepted }),
  },
  closed: {
    code: -32004,
    reason: 'UNSUPPORTED_OPERATION',
    precondition: true,
    say: () => "This host only publishes this agent's card; calls do not pass through it.",
    facts: () => ({ route: 'closed' }),
  },
  'no-token': {
    code: -32000,
    reason: 'UNAUTHENTICATED',
    status: 401,
    say: () => `This needs a token. ${tokenHint}`,
  },
  'bad-token': {
    code: -32000,
    reason: 'UNAUTHENTICATED',
    status: 401,
    say: () => `The token is not valid here: malformed, unknown, expired or revoked. ${tokenHint}`,
  },
  forbidden: {
    code: -32000,
    reason: 'PERMISSION_DENIED',
    status: 403,
    say: ({ missing }) => `The token does not allow this. It lacks: ${missing}.`,
    facts: ({ missing }) => ({ missing }),
  },
  'token-unchecked': {
    code: -32000,
    reason: 'UNAVAILABLE',
    status: 503,
    say: () => 'Whether the token holds cannot be told now: who could tell does not answer. Try again later.',
  },
  unavailable: {
    code: -32000,
    reason: 'UNAVAILABLE',
    status: 503,
    say: () => 'This host cannot look up its agents now. Try again in a moment.',
  },
  'rate-limit': {
    code: -32000,
    reason: 'RESOURCE_EXHAUSTED',
    status: 429,
    say: ({ retryAfter }) => `Too many calls. Try again in ${retryAfter} seconds.`,
    facts: ({ retryAfter }) => ({ retryAfter }),
  },
}

/** What an agent refuses that its caller must hear of, even where the agent tells it in HTML. */
export const PASSTHROUGH_STATUSES: Readonly<Record<number, string>> = {
  401: 'wants credentials',
  403: 'does not let these credentials do this',
  429: 'is called too often',
}

/** What is said of each failure: never where the agent is, nor what it answered. */
export const failures: { [Tag in Failure['failed']]: ErrorSpec<Extract<Failure, { failed: Tag }>> } = {
  'no-card': {
    code: -32603,
    reason: 'AGENT_CARD_UNAVAILABLE',
    status: 502,
    say: () => "The agent's card could not be fetched yet, so that no call can be checked. Try again later.",
  },
  unreachable: {
    code: -32603,
    reason: 'AGENT_UNREACHABLE',
    status: 502,
    say: () => 'The agent could not be reached. Try again later.',
  },
  timeout: {
    code: -32603,
    reason: 'AGENT_TIMEOUT',
    status: 504,
    say: ({ seconds }) =>
      `The agent did not answer ${seconds === undefined ? 'in time' : `within ${seconds} seconds`}.`,
    facts: ({ seconds }) => (seconds === undefined ? {} : { seconds }),
  },
  'not-json': {
    code: -32006,
    reason: 'INVALID_AGENT_RESPONSE',
    status: 502,
    say: ({ status }) => `The agent answered something that is not A2A (HTTP ${status}).`,
    facts: ({ status }) => ({ status }),
  },
  'too-large': {
    code: -32006,
    reason: 'INVALID_AGENT_RESPONSE',
    status: 502,
    say: ({ most }) => `The agent's answer is larger than ${most} bytes, the most that this host passes on.`,
    facts: ({ most }) => ({ most }),
  },
  redirect: {
    code: -32006,
    reason: 'INVALID_AGENT_RESPONSE',
    status: 502,
    say: () => 'The agent answered with a redirect, which this host does not follow.',
  },
  loop: {
    code: -32603,
    reason: 'LOOP_DETECTED',
    status: 508,
    say: () => "The call has been here before: the agent's endpoint leads back to this host.",
  },
  misconfigured: {
    code: -32603,
    reason: 'AGENT_MISCONFIGURED',
    status: 502,
    say: () => 'This host is not set up to reach the agent; its owner will find why in the log.',
  },
  silent: {
    code: -32603,
    reason: 'AGENT_SILENT',
    status: 504,
    say: ({ seconds }) => `The agent went silent: nothing came for ${seconds} seconds.`,
    facts: ({ seconds }) => ({ seconds }),
  },
  'broken-off': {
    code: -32603,
    reason: 'AGENT_BROKE_OFF',
    status: 502,
    say: () => 'The agent broke off its stream.',
  },
  'agent-refused': {
    code: -32603,
    reason: 'AGENT_REFUSED',
    status: ({ status }) => status,
    say: ({ status }) => `The agent ${PASSTHROUGH_STATUSES[status] ?? 'refuses the call'} (HTTP ${status}).`,
    facts: ({ status }) => ({ status }),
  },
}

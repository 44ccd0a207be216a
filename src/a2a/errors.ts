import type { ErrorSpec } from './problem.ts'
import type { Refusal } from './verdict.ts'

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

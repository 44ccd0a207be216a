import { type CallError, PASSTHROUGH_STATUSES } from './errors.ts'

/** What programs need to know of an error: members of `data` in 0.3, `ErrorInfo.metadata` in 1.0. */
export type ErrorMetadata = Record<string, string | number | readonly string[]>

/** A row of the catalogue. */
export type ErrorSpec<Tagged> = {
  /** Of JSON-RPC. */
  code: number
  /** Of google.rpc.ErrorInfo. */
  reason: string
  /** Of google.rpc.ErrorInfo: A2A_DOMAIN where the specification defines the reason, else this host's. */
  domain?: typeof A2A_DOMAIN
  /**
   * Of HTTP+JSON, and of JSON-RPC unless `jsonRpcStatus` differs: like the official SDKs, JSON-RPC reports errors with 200, except
   * where no JSON was read, and those of authentication, of limits and of the agent.
   */
  httpStatus: number | ((error: Tagged) => number)
  jsonRpcStatus?: 200
  /** The name of the google.rpc.Code. */
  grpcStatus: string | ((error: Tagged) => string)
  headers?: Record<string, string> | ((error: Tagged) => Record<string, string>)
  message: string | ((error: Tagged) => string)
  metadata?: (error: Tagged) => ErrorMetadata
}

/** The domain of the reasons that the specification defines. */
export const A2A_DOMAIN = 'a2a-protocol.org'

const badRequest = { httpStatus: 400, grpcStatus: 'INVALID_ARGUMENT' } as const
const invalidArgument = { httpStatus: 400, jsonRpcStatus: 200, grpcStatus: 'INVALID_ARGUMENT' } as const
/** Of calls that another agent might accept. */
const failedPrecondition = { httpStatus: 400, jsonRpcStatus: 200, grpcStatus: 'FAILED_PRECONDITION' } as const
/** Of operations that an agent does not support. */
const unsupported = {
  code: -32004,
  reason: 'UNSUPPORTED_OPERATION',
  domain: A2A_DOMAIN,
  ...failedPrecondition,
} as const
const badGateway = { httpStatus: 502, grpcStatus: 'UNAVAILABLE' } as const
const gatewayTimeout = { httpStatus: 504, grpcStatus: 'DEADLINE_EXCEEDED' } as const
const serviceUnavailable = {
  code: -32000,
  reason: 'UNAVAILABLE',
  httpStatus: 503,
  grpcStatus: 'UNAVAILABLE',
  headers: { 'Retry-After': '10' },
} as const

const TOKEN_HINT = 'Send a token of this host as `Authorization: Bearer …`.'

const list = (items: readonly string[]): string => (items.length > 0 ? items.join(', ') : 'none')

/** Every error of a call. Messages never reveal where the agent is, nor what it responded. */
export const ERRORS: { [Kind in CallError['kind']]: ErrorSpec<Extract<CallError, { kind: Kind }>> } = {
  'not-json': { code: -32700, reason: 'PARSE_ERROR', ...badRequest, message: ({ detail }) => detail },
  'not-a-request': { code: -32600, reason: 'INVALID_REQUEST', ...invalidArgument, message: ({ detail }) => detail },
  'too-large': {
    code: -32600,
    reason: 'REQUEST_TOO_LARGE',
    httpStatus: 413,
    grpcStatus: 'INVALID_ARGUMENT',
    message: ({ maxBytes }) => `The call is larger than ${maxBytes} bytes, the limit of this host.`,
    metadata: ({ maxBytes }) => ({ maxBytes }),
  },
  'content-type': {
    code: -32005,
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
    domain: A2A_DOMAIN,
    httpStatus: 415,
    grpcStatus: 'INVALID_ARGUMENT',
    message: ({ offered }) =>
      `Send the call as JSON, with \`Content-Type: application/json\`, not ${offered === null ? 'without a content type' : `"${offered}"`}.`,
    metadata: ({ offered }) => ({ offered: offered === null ? [] : [offered], accepted: ['application/json'] }),
  },
  aborted: {
    code: -32600,
    reason: 'REQUEST_ABORTED',
    ...badRequest,
    message: 'The connection closed before the whole body arrived.',
  },
  method: {
    code: -32601,
    reason: 'METHOD_NOT_FOUND',
    httpStatus: 404,
    jsonRpcStatus: 200,
    grpcStatus: 'NOT_FOUND',
    message: ({ method, version, currentName }) =>
      `Method "${method}" does not exist in A2A ${version}.${currentName === undefined ? '' : ` Use "${currentName}".`}`,
    metadata: ({ method, version, currentName }) => ({
      method,
      version,
      ...(currentName !== undefined && { currentName }),
    }),
  },
  'http-method': {
    code: -32601,
    reason: 'METHOD_NOT_FOUND',
    httpStatus: 405,
    grpcStatus: 'UNIMPLEMENTED',
    headers: ({ allow }) => ({ Allow: allow.join(', ') }),
    message: ({ method, path, allow }) => `${method} is not allowed for /${path}. Use ${allow.join(' or ')}.`,
    metadata: ({ method, path, allow }) => ({ method: `${method} /${path}`, allow }),
  },
  'invalid-params': {
    code: -32602,
    reason: 'INVALID_PARAMS',
    domain: A2A_DOMAIN,
    ...invalidArgument,
    message: ({ detail }) => detail,
  },
  'unknown-agent': {
    code: -32602,
    reason: 'AGENT_NOT_FOUND',
    httpStatus: 404,
    jsonRpcStatus: 200,
    grpcStatus: 'NOT_FOUND',
    // The name is empty where only the hostname selects the agent.
    message: ({ agent }) =>
      `${agent === '' ? 'No agent is configured for this hostname.' : `There is no agent "${agent}" here.`} GET /agents lists the agents of this host.`,
    metadata: ({ agent }) => ({ agent }),
  },
  'no-token': {
    code: -32000,
    reason: 'UNAUTHENTICATED',
    httpStatus: 401,
    grpcStatus: 'UNAUTHENTICATED',
    // RFC 6750 §3: no error code where no credentials were sent.
    headers: { 'WWW-Authenticate': 'Bearer realm="a2a"' },
    message: `This call requires a token. ${TOKEN_HINT}`,
  },
  'bad-token': {
    code: -32000,
    reason: 'UNAUTHENTICATED',
    httpStatus: 401,
    grpcStatus: 'UNAUTHENTICATED',
    headers: { 'WWW-Authenticate': 'Bearer realm="a2a", error="invalid_token"' },
    message: `The token is not valid here: malformed, unknown, expired or revoked. ${TOKEN_HINT}`,
  },
  forbidden: {
    code: -32000,
    reason: 'PERMISSION_DENIED',
    httpStatus: 403,
    grpcStatus: 'PERMISSION_DENIED',
    headers: { 'WWW-Authenticate': 'Bearer realm="a2a", error="insufficient_scope", scope="read"' },
    message: ({ missing }) => `The token does not permit this. It lacks ${missing}.`,
    metadata: ({ missing }) => ({ missing }),
  },
  'rate-limit': {
    code: -32000,
    reason: 'RESOURCE_EXHAUSTED',
    httpStatus: 429,
    grpcStatus: 'RESOURCE_EXHAUSTED',
    headers: ({ retryAfter }) => ({ 'Retry-After': String(retryAfter) }),
    message: ({ retryAfter }) => `Too many calls. Try again in ${retryAfter} seconds.`,
    metadata: ({ retryAfter }) => ({ retryAfter }),
  },
  'token-unchecked': {
    ...serviceUnavailable,
    message: 'The token cannot be verified right now because its issuer is not responding. Try again later.',
  },
  unavailable: {
    ...serviceUnavailable,
    message: 'This host cannot look up its agents right now. Try again in a moment.',
  },
  version: {
    code: -32009,
    reason: 'VERSION_NOT_SUPPORTED',
    domain: A2A_DOMAIN,
    ...failedPrecondition,
    message: ({ offered, accepted }) =>
      accepted.length === 0
        ? 'This agent does not support this protocol binding. See supportedInterfaces in its card.'
        : `A2A ${offered} is not supported here. Name one version in \`A2A-Version\`: ${accepted.join(' or ')}.`,
    metadata: ({ offered, accepted }) => ({ offered: [offered], accepted }),
  },
  'operation-missing': {
    ...unsupported,
    message: ({ method, version }) => `This agent speaks A2A ${version}, which has no ${method}.`,
    metadata: ({ method, version }) => ({ method, version }),
  },
  streaming: {
    ...unsupported,
    message: 'This agent does not support streaming. Send the message without streaming, and poll the task.',
    metadata: () => ({ capability: 'streaming' }),
  },
  'push-notifications': {
    code: -32003,
    reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
    domain: A2A_DOMAIN,
    ...failedPrecondition,
    message: 'Push notifications are not supported by this agent. Leave out their configuration, and poll the task.',
    metadata: () => ({ capability: 'pushNotifications' }),
  },
  'extended-card': {
    ...unsupported,
    message: 'This agent has no extended card.',
    metadata: () => ({ capability: 'extendedAgentCard' }),
  },
  'extended-card-not-configured': {
    code: -32007,
    reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    domain: A2A_DOMAIN,
    ...failedPrecondition,
    message: 'This agent declares an extended card, but none is configured on this host.',
  },
  extensions: {
    code: -32008,
    reason: 'EXTENSION_SUPPORT_REQUIRED',
    domain: A2A_DOMAIN,
    ...failedPrecondition,
    message: ({ missing }) => `This agent requires extensions that \`A2A-Extensions\` does not name: ${list(missing)}.`,
    metadata: ({ required, missing }) => ({ required, missing }),
  },
  'input-modes': {
    code: -32005,
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
    domain: A2A_DOMAIN,
    ...invalidArgument,
    message: ({ offered, accepted }) =>
      `Unsupported input media type: ${list(offered)}. This agent accepts ${list(accepted)}.`,
    metadata: ({ offered, accepted }) => ({ offered, accepted }),
  },
  'output-modes': {
    code: -32005,
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
    domain: A2A_DOMAIN,
    ...invalidArgument,
    message: ({ offered, accepted }) =>
      `This agent cannot produce any of acceptedOutputModes (${list(offered)}). It produces ${list(accepted)}.`,
    metadata: ({ offered, accepted }) => ({ offered, accepted }),
  },
  'task-not-found': {
    code: -32001,
    reason: 'TASK_NOT_FOUND',
    domain: A2A_DOMAIN,
    httpStatus: 404,
    jsonRpcStatus: 200,
    grpcStatus: 'NOT_FOUND',
    message: 'This task or context does not exist, or another caller started it.',
  },
  closed: {
    ...unsupported,
    message: "This host only publishes this agent's card. It does not forward calls to the agent.",
    metadata: () => ({ route: 'closed' }),
  },
  'no-card': {
    code: -32603,
    reason: 'AGENT_CARD_UNAVAILABLE',
    ...badGateway,
    message:
      "This agent's card is fetched from an upstream that is unreachable or returned an invalid card. Try again later.",
  },
  misconfigured: {
    code: -32603,
    reason: 'AGENT_MISCONFIGURED',
    ...badGateway,
    message: 'This host is not configured to reach the agent. The log of the host has the reason.',
  },
  unreachable: {
    code: -32603,
    reason: 'AGENT_UNREACHABLE',
    ...badGateway,
    message: 'The agent could not be reached. Try again later.',
  },
  timeout: {
    code: -32603,
    reason: 'AGENT_TIMEOUT',
    ...gatewayTimeout,
    message: ({ seconds }) =>
      `The agent did not respond ${seconds === undefined ? 'in time' : `within ${seconds} seconds`}.`,
    metadata: ({ seconds }) => (seconds === undefined ? {} : { seconds }),
  },
  loop: {
    code: -32603,
    reason: 'LOOP_DETECTED',
    httpStatus: 508,
    grpcStatus: 'ABORTED',
    message: "Loop detected: the agent's endpoint forwards back to this host.",
  },
  'invalid-response': {
    code: -32006,
    reason: 'INVALID_AGENT_RESPONSE',
    domain: A2A_DOMAIN,
    ...badGateway,
    message: ({ status }) => `The agent's response is not A2A (HTTP ${status}).`,
    metadata: ({ status }) => ({ status }),
  },
  'response-too-large': {
    code: -32006,
    reason: 'INVALID_AGENT_RESPONSE',
    domain: A2A_DOMAIN,
    ...badGateway,
    message: ({ maxBytes }) => `The agent's response is larger than ${maxBytes} bytes, the limit of this host.`,
    metadata: ({ maxBytes }) => ({ maxBytes }),
  },
  redirect: {
    code: -32006,
    reason: 'INVALID_AGENT_RESPONSE',
    domain: A2A_DOMAIN,
    ...badGateway,
    message: 'The agent responded with a redirect, which this host does not follow.',
  },
  'agent-refused': {
    code: -32603,
    reason: 'AGENT_REFUSED',
    httpStatus: ({ status }) => status,
    grpcStatus: ({ status }) => PASSTHROUGH_STATUSES[status]?.grpcStatus ?? 'UNKNOWN',
    message: ({ status }) =>
      `The agent ${PASSTHROUGH_STATUSES[status]?.meaning ?? 'refused the call'} (HTTP ${status}).`,
    metadata: ({ status }) => ({ status }),
  },
  silent: {
    code: -32603,
    reason: 'AGENT_SILENT',
    ...gatewayTimeout,
    message: ({ seconds }) => `The agent sent nothing for ${seconds} seconds.`,
    metadata: ({ seconds }) => ({ seconds }),
  },
  'broken-off': {
    code: -32603,
    reason: 'AGENT_BROKE_OFF',
    ...badGateway,
    message: 'The connection to the agent was lost before its stream ended.',
  },
}

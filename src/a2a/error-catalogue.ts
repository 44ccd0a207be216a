import { type CallError, PASSTHROUGH_STATUSES } from './call-error.ts'
import { ANY_FILE } from './message.ts'

/** A row of the catalogue. */
export type ErrorSpec<Tagged> = {
  /** The code of JSON-RPC. */
  code: number
  /** The reason in google.rpc.ErrorInfo. */
  reason: string
  /** The domain in google.rpc.ErrorInfo: A2A_DOMAIN where the specification defines the reason, else this host's. */
  domain?: typeof A2A_DOMAIN
  /**
   * The status of HTTP+JSON, and of JSON-RPC unless `jsonRpcStatus` differs: like the official SDKs, JSON-RPC reports
   * errors with 200, except where no JSON was read, and those of authentication, of limits and of the agent.
   */
  httpStatus: number | ((error: Tagged) => number)
  jsonRpcStatus?: 200
  /** The name of the google.rpc.Code. */
  grpcStatus: string | ((error: Tagged) => string)
  headers?: Record<string, string> | ((error: Tagged) => Record<string, string>)
  message: string | ((error: Tagged) => string)
  /** The values that programs need: members of `data` in 0.3, `ErrorInfo.metadata` in 1.0. */
  metadata?: (error: Tagged) => Record<string, string | number | string[]>
}

/** The domain of the reasons that the specification defines. */
export const A2A_DOMAIN = 'a2a-protocol.org'

/** The errors that JSON-RPC and A2A define, but for an internal one. */
const specification = {
  PARSE_ERROR: [-32700, 400, 'INVALID_ARGUMENT'],
  INVALID_REQUEST: [-32600, 400, 'INVALID_ARGUMENT'],
  METHOD_NOT_FOUND: [-32601, 404, 'NOT_FOUND'],
  INVALID_PARAMS: [-32602, 400, 'INVALID_ARGUMENT'],
  TASK_NOT_FOUND: [-32001, 404, 'NOT_FOUND'],
  TASK_NOT_CANCELABLE: [-32002, 400, 'FAILED_PRECONDITION'],
  PUSH_NOTIFICATION_NOT_SUPPORTED: [-32003, 400, 'FAILED_PRECONDITION'],
  UNSUPPORTED_OPERATION: [-32004, 400, 'FAILED_PRECONDITION'],
  CONTENT_TYPE_NOT_SUPPORTED: [-32005, 400, 'INVALID_ARGUMENT'],
  INVALID_AGENT_RESPONSE: [-32006, 500, 'INTERNAL'],
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: [-32007, 400, 'FAILED_PRECONDITION'],
  EXTENSION_SUPPORT_REQUIRED: [-32008, 400, 'FAILED_PRECONDITION'],
  VERSION_NOT_SUPPORTED: [-32009, 400, 'FAILED_PRECONDITION'],
} as const satisfies Readonly<Record<string, readonly [code: number, httpStatus: number, grpcStatus: string]>>
type SpecifiedReason = keyof typeof specification

/** An error that a specification defines: its code in JSON-RPC, its reason in 1.0, and its statuses over HTTP+JSON. */
export type SpecifiedError = { code: number; reason: string; httpStatus: number; grpcStatus: string }

/** Returns the error with this reason. */
export const specifiedError = (reason: SpecifiedReason): SpecifiedError => {
  const [code, httpStatus, grpcStatus] = specification[reason]
  return { code, reason, httpStatus, grpcStatus }
}

/** Every error that a specification defines. */
export const specifiedErrors = (Object.keys(specification) as SpecifiedReason[]).map(specifiedError)

/** An error of A2A for a call that was read. */
const a2aError = (reason: SpecifiedReason) =>
  ({ ...specifiedError(reason), domain: A2A_DOMAIN, jsonRpcStatus: 200 }) as const
/** The error of operations that an agent does not support. */
const unsupported = a2aError('UNSUPPORTED_OPERATION')

/** An error of this host, or of what it depends on. */
const hostError = (httpStatus: number, reason: string) =>
  ({ code: -32000, reason, httpStatus, grpcStatus: reason }) as const
const unauthenticated = hostError(401, 'UNAUTHENTICATED')
const serviceUnavailable = { ...hostError(503, 'UNAVAILABLE'), headers: { 'Retry-After': '10' } }

/** An error of an agent that cannot be called, or whose response cannot be passed on. */
const agentError = (reason: string, httpStatus = 502, grpcStatus = 'UNAVAILABLE') =>
  ({ code: -32603, reason, httpStatus, grpcStatus }) as const
const invalidResponse = {
  ...agentError('INVALID_AGENT_RESPONSE'),
  code: specifiedError('INVALID_AGENT_RESPONSE').code,
  domain: A2A_DOMAIN,
} as const

const missingPermission = ({ scope, agent }: Extract<CallError, { kind: 'forbidden' }>): string =>
  `the scope "${scope}" for agent "${agent}"`

const list = (items: readonly string[]): string => (items.length > 0 ? items.join(', ') : 'none')

/** Every error of a call. Messages never reveal where the agent is, nor what it responded. */
export const ERRORS: { [Kind in CallError['kind']]: ErrorSpec<Extract<CallError, { kind: Kind }>> } = {
  'not-json': { ...specifiedError('PARSE_ERROR'), message: ({ detail }) => detail },
  'not-a-request': { ...specifiedError('INVALID_REQUEST'), jsonRpcStatus: 200, message: ({ detail }) => detail },
  'too-large': {
    ...specifiedError('INVALID_REQUEST'),
    reason: 'REQUEST_TOO_LARGE',
    httpStatus: 413,
    message: ({ maxBytes }) => `The call is larger than ${maxBytes} bytes, the limit of this host.`,
    metadata: ({ maxBytes }) => ({ maxBytes }),
  },
  'content-type': {
    ...specifiedError('CONTENT_TYPE_NOT_SUPPORTED'),
    domain: A2A_DOMAIN,
    httpStatus: 415,
    message: ({ offered }) =>
      `Send the call with \`Content-Type: application/json\`, not ${offered === null ? 'without' : `"${offered}"`}.`,
    metadata: ({ offered }) => ({ offered: offered === null ? [] : [offered], accepted: ['application/json'] }),
  },
  aborted: {
    ...specifiedError('INVALID_REQUEST'),
    reason: 'REQUEST_ABORTED',
    message: 'The connection closed before the whole body arrived.',
  },
  method: {
    ...specifiedError('METHOD_NOT_FOUND'),
    jsonRpcStatus: 200,
    message: ({ method, version, currentName }) =>
      `Method "${method}" does not exist in A2A ${version}.` +
      (currentName === undefined ? '' : ` Use "${currentName}".`),
    metadata: ({ kind: _, ...members }) => members,
  },
  'http-method': {
    ...specifiedError('METHOD_NOT_FOUND'),
    httpStatus: 405,
    grpcStatus: 'UNIMPLEMENTED',
    headers: ({ allow }) => ({ Allow: allow.join(', ') }),
    message: ({ method, path, allow }) => `${method} is not allowed for /${path}. Use ${allow.join(' or ')}.`,
    metadata: ({ method, path, allow }) => ({ method: `${method} /${path}`, allow }),
  },
  'invalid-params': { ...a2aError('INVALID_PARAMS'), message: ({ detail }) => detail },
  'unknown-agent': {
    ...specifiedError('INVALID_PARAMS'),
    reason: 'AGENT_NOT_FOUND',
    httpStatus: 404,
    jsonRpcStatus: 200,
    grpcStatus: 'NOT_FOUND',
    // The name is empty where only the hostname selects the agent.
    message: ({ agent }) =>
      (agent === '' ? 'No agent is configured for this hostname.' : `There is no agent "${agent}" here.`) +
      ' GET /agents lists the agents of this host.',
    metadata: ({ agent }) => ({ agent }),
  },
  'no-token': {
    ...unauthenticated,
    // RFC 6750 §3: no error code where no credentials were sent.
    headers: { 'WWW-Authenticate': 'Bearer realm="a2a"' },
    message: ({ scope }) =>
      `This call requires a token of this host with the scope \`${scope}\`, or other credentials that the agent's ` +
      `card names. Ask the agent's owner for a token (\`npx sync-card token create --scope ${scope} --agent ID\`), ` +
      'and send it as `Authorization: Bearer …`.',
  },
  'bad-token': {
    ...unauthenticated,
    headers: { 'WWW-Authenticate': 'Bearer realm="a2a", error="invalid_token"' },
    message:
      'The token is malformed, unknown, expired or revoked. Send a token of this host as `Authorization: Bearer …`.',
  },
  forbidden: {
    ...hostError(403, 'PERMISSION_DENIED'),
    headers: ({ scope }) => ({
      'WWW-Authenticate': `Bearer realm="a2a", error="insufficient_scope", scope="${scope}"`,
    }),
    message: error => `The token does not permit this. It lacks ${missingPermission(error)}.`,
    metadata: error => ({ missing: missingPermission(error) }),
  },
  'rate-limit': {
    ...hostError(429, 'RESOURCE_EXHAUSTED'),
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
    ...a2aError('VERSION_NOT_SUPPORTED'),
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
    ...a2aError('PUSH_NOTIFICATION_NOT_SUPPORTED'),
    message: 'Push notifications are not supported by this agent. Leave out their configuration, and poll the task.',
    metadata: () => ({ capability: 'pushNotifications' }),
  },
  'extended-card': {
    ...unsupported,
    message: 'This agent has no extended card.',
    metadata: () => ({ capability: 'extendedAgentCard' }),
  },
  'extended-card-not-configured': {
    ...a2aError('EXTENDED_AGENT_CARD_NOT_CONFIGURED'),
    message: 'This agent declares an extended card, but none is configured on this host.',
  },
  extensions: {
    ...a2aError('EXTENSION_SUPPORT_REQUIRED'),
    message: ({ missing }) => `This agent requires extensions that \`A2A-Extensions\` does not name: ${list(missing)}.`,
    metadata: ({ required, missing }) => ({ required, missing }),
  },
  'input-modes': {
    ...a2aError('CONTENT_TYPE_NOT_SUPPORTED'),
    message: ({ offered, accepted }) =>
      `Unsupported input media type: ${list(offered)}. This agent accepts ${list(accepted)}.` +
      (offered.includes(ANY_FILE) ? ` A file without a media type counts as ${ANY_FILE}.` : ''),
    metadata: ({ offered, accepted }) => ({ offered, accepted }),
  },
  'output-modes': {
    ...a2aError('CONTENT_TYPE_NOT_SUPPORTED'),
    message: ({ offered, accepted }) =>
      `This agent cannot produce any of acceptedOutputModes (${list(offered)}). It produces ${list(accepted)}.`,
    metadata: ({ offered, accepted }) => ({ offered, accepted }),
  },
  'task-not-found': {
    ...a2aError('TASK_NOT_FOUND'),
    message: 'This task or context does not exist, or another caller started it.',
  },
  closed: {
    ...unsupported,
    message: "This host only publishes this agent's card. It does not forward calls to the agent.",
    metadata: () => ({ route: 'closed' }),
  },
  'no-card': {
    ...agentError('AGENT_CARD_UNAVAILABLE'),
    message: "The upstream of this agent's card is unreachable or returned an invalid card. Try again later.",
  },
  misconfigured: {
    ...agentError('AGENT_MISCONFIGURED'),
    message: 'This host is not configured to reach the agent. The log of the host has the reason.',
  },
  unreachable: {
    ...agentError('AGENT_UNREACHABLE'),
    message: 'The agent could not be reached. Try again later.',
  },
  timeout: {
    ...agentError('AGENT_TIMEOUT', 504, 'DEADLINE_EXCEEDED'),
    message: ({ seconds }) =>
      `The agent did not respond ${seconds === undefined ? 'in time' : `within ${seconds} seconds`}.`,
    metadata: ({ seconds }) => (seconds === undefined ? {} : { seconds }),
  },
  loop: {
    ...agentError('LOOP_DETECTED', 508, 'ABORTED'),
    message: "Loop detected: the agent's endpoint forwards back to this host.",
  },
  'invalid-response': {
    ...invalidResponse,
    message: ({ status }) => `The agent's response is not A2A (HTTP ${status}).`,
    metadata: ({ status }) => ({ status }),
  },
  'foreign-task': {
    ...invalidResponse,
    message:
      "The agent's response names a task or context that is not yours. If the agent has restarted and uses ids " +
      'again, its owner must clear the old ones.',
  },
  'response-too-large': {
    ...invalidResponse,
    message: ({ maxBytes }) => `The agent's response is larger than ${maxBytes} bytes, the limit of this host.`,
    metadata: ({ maxBytes }) => ({ maxBytes }),
  },
  redirect: {
    ...invalidResponse,
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
    ...agentError('AGENT_SILENT', 504, 'DEADLINE_EXCEEDED'),
    message: ({ seconds }) => `The agent sent nothing for ${seconds} seconds.`,
    metadata: ({ seconds }) => ({ seconds }),
  },
  'broken-off': {
    ...agentError('AGENT_BROKE_OFF'),
    message: 'The connection to the agent was lost before its stream ended.',
  },
}

import type { CallBinding, WireVersion } from '../card/model/calls.ts'
import { A2A_CORS_HEADERS, PRIVATE_NO_STORE } from '../http/headers.ts'
import { a2aResponse } from '../http/responses.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { type ErrorSpec, type Facts, type Failure, failures, type Refusal, refusals } from './errors.ts'
import { type A2ACall, type OperationName, operations } from './operations.ts'

/** A JSON-RPC error object. */
export type RpcError = { code: number; message: string; data?: JsonObject | JsonObject[] }

/** The reasons that A2A v1.0 itself names; the others are this host's. */
const a2aReasons: ReadonlySet<string> = new Set([
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  'UNSUPPORTED_OPERATION',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'INVALID_AGENT_RESPONSE',
  'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  'EXTENSION_SUPPORT_REQUIRED',
  'VERSION_NOT_SUPPORTED',
  'INVALID_PARAMS',
])

/** The names that google.rpc.Code gives what HTTP has numbers for. */
const rpcStatuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  508: 'ABORTED',
}

/** Callers' own text comes back in errors: enough of it to know it by. */
const longestText = 200
const longestList = 50

/** The JSON-RPC error of what stopped a call, in the form of a version. */
export const toJsonRpcError = (problem: Refusal | Failure, version: WireVersion): RpcError => {
  const { code } = entryOf(problem)
  const told = telling(problem)
  return { code, message: told.message, data: version === '1.0' ? detailsOf(told) : factsOf(told) }
}

/** The body of an HTTP+JSON error: v1.0's is google.rpc.Status; v0.3's is the bare JSON-RPC error. */
export const toRestError = (problem: Refusal | Failure, version: WireVersion): JsonObject => {
  if (version === '0.3') return { ...toJsonRpcError(problem, version) }
  const code = httpStatus(problem, 'HTTP+JSON')
  const status = entryOf(problem).precondition ? 'FAILED_PRECONDITION' : (rpcStatuses[code] ?? 'INVALID_ARGUMENT')
  const told = telling(problem)
  return { error: { code, status, message: told.message, details: detailsOf(told) } }
}

/** The HTTP status: over JSON-RPC, 200 for the errors of a well-formed call (protocol.md). */
export const httpStatus = (problem: Refusal | Failure, binding: CallBinding): number => {
  const { status, restStatus = 400, malformed } = entryOf(problem)
  if (typeof status === 'function') return status(problem as never)
  return status ?? (malformed || binding === 'HTTP+JSON' ? restStatus : 200)
}

const entryOf = (problem: Refusal | Failure): ErrorSpec<never> =>
  'refused' in problem ? refusals[problem.refused] : failures[problem.failed]

/** What is said of a problem. */
type Told = { reason: string; message: string; facts: Facts; violations: JsonObject }

/** The tables are typed by tag, so that each entry has its own facts; TypeScript cannot follow a tag to its entry. */
const telling = (problem: Refusal | Failure): Told => {
  const { reason, say, facts } = entryOf(problem)
  const shown = bounded(problem) as never
  return { reason, message: say(shown), facts: facts?.(shown) ?? {}, violations: violationsOf(problem) }
}

const factsOf = ({ reason, facts, violations }: Told): JsonObject => ({ reason, ...copied(facts), ...violations })

const violationsOf = (problem: Refusal | Failure): JsonObject =>
  'refused' in problem && problem.refused === 'invalid-params'
    ? {
        fieldViolations: problem.violations
          .slice(0, longestList)
          .map(({ field, description }) => ({ field: shortened(field), description: shortened(description) })),
      }
    : {}

const copied = (facts: Facts): JsonObject =>
  Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, typeof fact === 'object' ? [...fact] : fact]))

/** v1.0's `data` and `details`: what happened, and which fields are wrong. */
const detailsOf = ({ reason, facts: said, violations }: Told): JsonObject[] => {
  const domain = a2aReasons.has(reason) ? 'a2a-protocol.org' : 'calling-card'
  const info: JsonObject = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain }
  const metadata: JsonObject = {}
  for (const [name, fact] of Object.entries(said)) {
    metadata[name] = typeof fact === 'object' ? fact.join(', ') : String(fact)
    info.metadata = metadata
  }
  if (!violations.fieldViolations) return [info]
  return [info, { '@type': 'type.googleapis.com/google.rpc.BadRequest', ...violations }]
}

const bounded = (problem: Refusal | Failure): JsonObject => {
  const shown: JsonObject = { ...problem }
  for (const name in shown) {
    const fact: Json = shown[name] ?? null
    shown[name] = Array.isArray(fact) ? fact.slice(0, longestList).map(shortened) : shortened(fact)
  }
  return shown
}

const shortened = <Fact>(fact: Fact): Fact | string =>
  typeof fact === 'string' && fact.length > longestText ? `${fact.slice(0, longestText).toWellFormed()}…` : fact

/** What a route makes a response of. */
export type ErrorResponse = { status: number; headers: Record<string, string>; body: string }

/** What is known of a JSON-RPC call when it is refused or fails. */
type Refused = { id: Json; version: WireVersion; operation?: OperationName | undefined }

/** The JSON text of a JSON-RPC error response. */
export const rpcErrorText = (id: Json, error: RpcError): string => JSON.stringify({ jsonrpc: '2.0', id, error })

/** One server-sent event; JSON text has no line ends of its own. */
export const eventText = (data: string): string => `data: ${data}\n\n`

/** How a JSON-RPC call is answered that was refused or failed. */
export const rpcErrorAnswer = (problem: Refusal | Failure, { id, version, operation }: Refused): ErrorResponse => {
  const status = httpStatus(problem, 'JSONRPC')
  const text = rpcErrorText(id, toJsonRpcError(problem, version))
  // An old client that asked for a stream reads JSON only where the status tells it that no stream comes.
  const asEvent = version === '0.3' && operation !== undefined && operations[operation].streams && status === 200
  return {
    status,
    headers: { 'Content-Type': asEvent ? 'text/event-stream' : 'application/json', ...headersOf(problem) },
    body: asEvent ? eventText(text) : text,
  }
}

/** How a call over HTTP+JSON is answered that was refused or failed. */
export const restErrorAnswer = (problem: Refusal | Failure, version: WireVersion): ErrorResponse => ({
  status: httpStatus(problem, 'HTTP+JSON'),
  headers: { 'Content-Type': 'application/json', ...headersOf(problem) },
  body: JSON.stringify(toRestError(problem, version)),
})

/** What HTTP itself wants to be told: how to authenticate (RFC 6750 §3), when to come back. */
const headersOf = (problem: Refusal | Failure): Record<string, string> => {
  if (!('refused' in problem)) return {}
  switch (problem.refused) {
    case 'no-token':
      return { 'WWW-Authenticate': 'Bearer realm="a2a"' }
    case 'bad-token':
      return { 'WWW-Authenticate': 'Bearer realm="a2a", error="invalid_token"' }
    case 'forbidden':
      return { 'WWW-Authenticate': 'Bearer realm="a2a", error="insufficient_scope", scope="read"' }
    case 'rate-limit':
      return { 'Retry-After': String(problem.retryAfter) }
    case 'token-unchecked':
    case 'unavailable':
      return { 'Retry-After': '10' }
    default:
      return {}
  }
}

/** Whose call it is that an error answers, and in which form. */
export type ErrorForm = Pick<A2ACall, 'binding' | 'version' | 'id'>

/** The body that tells a failure in the place of an agent. */
export const upstreamErrorText = ({ binding, version, id }: ErrorForm, failure: Failure): string =>
  binding === 'JSONRPC'
    ? rpcErrorText(id, toJsonRpcError(failure, version))
    : JSON.stringify(toRestError(failure, version))

/** The event that ends a stream in place of its agent. Over HTTP+JSON events have no envelope: their type tells an error. */
export const toErrorEvent = (form: ErrorForm, failure: Failure): string =>
  (form.binding === 'HTTP+JSON' ? 'event: error\n' : '') + eventText(upstreamErrorText(form, failure))

/** The response that says why a call was refused, or failed. */
export const errorResponse = ({ status, headers, body }: ErrorResponse): Response => a2aResponse(body, status, headers)

/** The response to a call that this host itself answers with a card. */
export const cardAnswer = (body: BodyInit): Response =>
  new Response(body, {
    headers: { ...A2A_CORS_HEADERS, 'Content-Type': 'application/json', 'Cache-Control': PRIVATE_NO_STORE },
  })

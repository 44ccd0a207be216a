import type { WireVersion } from '../card/model/calls.ts'
import type { Json } from '../json/json.ts'
import { httpStatus, type RpcError, toJsonRpcError, toRestError } from './error-response.ts'
import { type OperationName, operations } from './operations.ts'
import type { Failure, Refusal } from './verdict.ts'

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

import type { AnswerPlace } from '../a2a/results.ts'
import type { Protocol } from '../card/model/calls.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'

/** The errors that have a code of their own: in JSON-RPC the code, in 1.0 the reason, over HTTP+JSON the status and the gRPC code. */
const KNOWN_ERRORS: readonly { code: number; reason: string; status: number; grpcStatus: string }[] = [
  { code: -32700, reason: 'PARSE_ERROR', status: 400, grpcStatus: 'INVALID_ARGUMENT' },
  { code: -32600, reason: 'INVALID_REQUEST', status: 400, grpcStatus: 'INVALID_ARGUMENT' },
  { code: -32601, reason: 'METHOD_NOT_FOUND', status: 404, grpcStatus: 'NOT_FOUND' },
  { code: -32602, reason: 'INVALID_PARAMS', status: 400, grpcStatus: 'INVALID_ARGUMENT' },
  { code: -32001, reason: 'TASK_NOT_FOUND', status: 404, grpcStatus: 'NOT_FOUND' },
  { code: -32002, reason: 'TASK_NOT_CANCELABLE', status: 400, grpcStatus: 'FAILED_PRECONDITION' },
  { code: -32003, reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED', status: 400, grpcStatus: 'FAILED_PRECONDITION' },
  { code: -32004, reason: 'UNSUPPORTED_OPERATION', status: 400, grpcStatus: 'FAILED_PRECONDITION' },
  { code: -32005, reason: 'CONTENT_TYPE_NOT_SUPPORTED', status: 400, grpcStatus: 'INVALID_ARGUMENT' },
  { code: -32006, reason: 'INVALID_AGENT_RESPONSE', status: 500, grpcStatus: 'INTERNAL' },
  { code: -32007, reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED', status: 400, grpcStatus: 'FAILED_PRECONDITION' },
  { code: -32008, reason: 'EXTENSION_SUPPORT_REQUIRED', status: 400, grpcStatus: 'FAILED_PRECONDITION' },
  { code: -32009, reason: 'VERSION_NOT_SUPPORTED', status: 400, grpcStatus: 'FAILED_PRECONDITION' },
]

const INTERNAL = { code: -32603, reason: 'INTERNAL_ERROR', status: 500, grpcStatus: 'INTERNAL' }

/** The codes of JSON-RPC for statuses of HTTP, where an error of HTTP+JSON has no reason of A2A. */
const CODES_OF_STATUSES: ReadonlyMap<number, number> = new Map([
  [400, -32602],
  [404, -32001],
  [405, -32601],
  [501, -32004],
])

/** An error of an agent, whatever its version and binding. `status` is the one of HTTP+JSON. */
type AnsweredError = { code: number; message: string; status: number; data?: Json | undefined }

/** Translates the error in an answer; over HTTP+JSON, `status` is the one of the response. */
export const translateError = (
  body: JsonObject,
  { from, to, place, status }: { from: Protocol; to: Protocol; place: AnswerPlace; status: number },
): { body: JsonObject; status: number } => {
  const error =
    from.binding === 'JSONRPC' ? readJsonRpcError(body.error) : readRestError(body, place === 'event' ? 500 : status)
  const data = to.version === '1.0' ? toDetails(error) : error.data
  const { code, message } = error
  const rpcError: JsonObject = { code, message, ...(data !== undefined && { data }) }
  if (to.binding === 'JSONRPC') return { body: { error: rpcError }, status: 200 }
  if (to.version === '0.3') return { body: rpcError, status: error.status }
  const { grpcStatus } = knownError(code)
  return {
    body: { error: { code: error.status, status: grpcStatus, message, ...(data !== undefined && { details: data }) } },
    status: error.status,
  }
}

const knownError = (code: number) => KNOWN_ERRORS.find(known => known.code === code) ?? INTERNAL

const readJsonRpcError = (error: Json | undefined): AnsweredError => {
  const { code, message, data } = isJsonObject(error) ? error : {}
  const number = typeof code === 'number' ? code : INTERNAL.code
  return { code: number, message: typeof message === 'string' ? message : '', status: knownError(number).status, data }
}

const readRestError = (body: JsonObject, status: number): AnsweredError => {
  const error = isJsonObject(body.error) ? body.error : body
  const { code, message, data, details = data } = error
  const reason = (Array.isArray(details) ? details : []).flatMap(detail =>
    isJsonObject(detail) ? (detail.reason ?? []) : [],
  )[0]
  const known = KNOWN_ERRORS.find(each => each.reason === reason)
  // The bare errors of 0.3 have the code of JSON-RPC.
  const own = typeof code === 'number' && code < 0 ? code : undefined
  return {
    code: own ?? known?.code ?? CODES_OF_STATUSES.get(status) ?? INTERNAL.code,
    message: typeof message === 'string' ? message : '',
    status,
    data: details,
  }
}

const A2A_ERRORS = -32001

/** 1.0 has typed details. What 0.3 has in `data`, in any form, is kept as a detail of the type Struct or Value. */
const toDetails = ({ code, data }: AnsweredError): Json | undefined => {
  if (Array.isArray(data) && data.every(detail => isJsonObject(detail) && typeof detail['@type'] === 'string'))
    return data
  const known = KNOWN_ERRORS.find(each => each.code === code && code <= A2A_ERRORS && code > -32100)
  const info = known && {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: known.reason,
    domain: 'a2a-protocol.org',
  }
  const kept =
    data === undefined || data === null
      ? undefined
      : { '@type': `type.googleapis.com/google.protobuf.${isJsonObject(data) ? 'Struct' : 'Value'}`, value: data }
  const details = [info, kept].filter(detail => detail !== undefined)
  return details.length > 0 ? details : undefined
}

import { type CallError, errorResponse, type RpcError, rpcErrorText } from '../../a2a/index.ts'
import { a2aResponse, HttpError } from '../../http/index.ts'
import type { Json } from '../../json/index.ts'
import type { SourceFailure } from '../../registry/index.ts'

/** Why a request has no result: an error of any call, an error of the same request over HTTP, or a card that cannot be fetched. */
export type SuperxError = CallError | HttpError | { kind: 'source'; agent: string; failure: Failure }

/** Only callers that may refresh a card get `code` and `errors`. */
type Failure = Pick<SourceFailure, 'status' | 'message'> & Partial<Pick<SourceFailure, 'code' | 'errors'>>

/** SuperX's own error codes. */
const codes = { unauthorized: -32000, unknownAgent: -32001, timeout: -32098, source: -32099 } as const

/** The codes of HTTP statuses; every other status stands for an invalid parameter. */
const codesByStatus: Readonly<Record<number, number>> = {
  401: codes.unauthorized,
  403: codes.unauthorized,
  404: codes.unknownAgent,
  429: codes.unauthorized,
  503: codes.unauthorized,
}

/** Returns the JSON-RPC response of an error. */
export const superxErrorResponse = (error: SuperxError, id: Json): Response => {
  if (error instanceof HttpError) return httpErrorResponse(error, id)
  switch (error.kind) {
    case 'source':
      return sourceErrorResponse(error.agent, error.failure, id)
    case 'unknown-agent': {
      const agent = shorten(error.agent)
      const message = `No agent "${agent}" exists here. agents/list lists agents.`
      return rpcResponse(id, 200, { code: codes.unknownAgent, message, data: { agent } })
    }
    case 'method': {
      const method = shorten(error.method)
      const message = `Unknown method "${method}". Supported: agents/get, agents/list, agents/refreshCard. Send A2A calls to /agents/{id}/a2a.`
      return rpcResponse(id, 200, { code: -32601, message, data: { method } })
    }
    default:
      return errorResponse(error, { binding: 'JSONRPC', version: '0.3', id })
  }
}

/** Returns the name of an error in the log. */
export const errorName = (error: SuperxError): string => {
  if (error instanceof HttpError) return error.code
  return error.kind === 'source' ? (error.failure.code ?? error.kind) : error.kind
}

const httpErrorResponse = ({ status, code, message, headers }: HttpError, id: Json): Response =>
  rpcResponse(
    id,
    [401, 403, 429, 503].includes(status) ? status : 200,
    { code: codesByStatus[status] ?? -32602, message, data: { reason: code } },
    headers,
  )

const sourceErrorResponse = (agent: string, { status, message, ...reason }: Failure, id: Json): Response => {
  const code = status === 504 ? codes.timeout : codes.source
  const errors = reason.errors && { errors: reason.errors.map(error => ({ ...error })) }
  return rpcResponse(id, status, { code, message, data: { agent, status, ...reason, ...errors } })
}

const rpcResponse = (id: Json, status: number, error: RpcError, headers: Record<string, string> = {}): Response =>
  a2aResponse(rpcErrorText(id, error), status, headers)

const shorten = (text: string): string => text.slice(0, 80).toWellFormed()

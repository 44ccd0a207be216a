import {
  errorResponse,
  type JsonRpcRequest,
  parseJsonRpcRequest,
  type RpcError,
  rpcErrorText,
} from '../../a2a/index.ts'
import { authenticate, reportRefusal } from '../../auth/index.ts'
import { checkRateLimit, hasSmallBody, readCallBody } from '../../gateway/gate/index.ts'
import { a2aResponse, type Handler, HttpError, log, type RequestContext, toHttpError } from '../../http/index.ts'
import type { Json } from '../../json/index.ts'
import { agentNotFound } from '../agent-errors.ts'
import {
  getAgent,
  listAgents,
  type MethodContext,
  type MethodResult,
  refreshCard,
  type SuperxError,
} from './superx-methods.ts'

const methods = new Map([
  ['agents/get', getAgent],
  ['agents/list', listAgents],
  ['agents/refreshCard', refreshCard],
])

/** `POST /rpc`: SuperX's JSON-RPC endpoint. A request counts as a call, before its body is read. */
export const handleSuperxRpc: Handler = async (request, env, ctx) => {
  const startedAt = Date.now()
  const caller = await authenticate(request, env, ctx)
  const limited = await checkRateLimit(caller, request, env)
  const body = limited && !hasSmallBody(request) ? limited : await readCallBody(request)
  const call = 'value' in body ? parseJsonRpcRequest(body.value) : { id: null, method: '', error: body }
  // Older versions of SuperX separate the parts of a method's name by a dot.
  const method = call.method.replace(/^agents\./, 'agents/')
  const context = { caller, request, env, ctx }
  const outcome = limited ? { error: limited } : await invoke(call, method, context)
  if (methods.get(method) === refreshCard) await auditRefusal(outcome, context)
  const response =
    'error' in outcome
      ? superxErrorResponse(outcome.error, call.id)
      : a2aResponse(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: outcome.result }), 200)
  // Contains nothing that a caller wrote.
  log('info', 'rpc', {
    ...(outcome.agent !== undefined && { 'gen_ai.agent.id': outcome.agent }),
    ...(methods.has(method) && { 'rpc.method': method }),
    'calling_card.caller': caller.authenticated ? caller.subject : caller.reason,
    ...('error' in outcome && { 'error.type': errorName(outcome.error) }),
    'http.response.status_code': response.status,
    'calling_card.duration_ms': Date.now() - startedAt,
  })
  return response
}

/** Reports a refused refresh to the audit, as `POST /agents/{id}/refresh` does. */
const auditRefusal = async (outcome: MethodResult, context: RequestContext): Promise<void> => {
  if (!('error' in outcome)) return
  const { agent, error } = outcome
  if (error instanceof HttpError) await reportRefusal(error, agent, context)
  else if (error.kind === 'unknown-agent') await reportRefusal(agentNotFound(error.agent), error.agent, context)
}

const invoke = async (call: JsonRpcRequest, name: string, context: MethodContext): Promise<MethodResult> => {
  if ('error' in call) return call
  const method = methods.get(name)
  if (method === undefined) return { error: { kind: 'method', method: call.method, version: '0.3' } }
  try {
    return await method(call.params, context)
  } catch (error) {
    const httpError = toHttpError(error)
    if (httpError) return { error: httpError }
    throw error
  }
}

// Errors

/** SuperX's own error codes. */
const codes = { unauthorized: -32000, unknownAgent: -32001, timeout: -32098, source: -32099 } as const

/** The HTTP statuses of SuperX's responses to callers that it does not admit. */
const UNAUTHORIZED_STATUSES = [401, 403, 429, 503]

/** Returns the JSON-RPC response of an error. */
const superxErrorResponse = (error: SuperxError, id: Json): Response => {
  if (error instanceof HttpError) return httpErrorResponse(error, id)
  switch (error.kind) {
    case 'source': {
      const { agent, failure } = error
      const { status, message, ...reason } = failure
      const code = status === 504 ? codes.timeout : codes.source
      const errors = reason.errors && { errors: reason.errors.map(error => ({ ...error })) }
      return rpcResponse(id, status, { code, message, data: { agent, status, ...reason, ...errors } })
    }
    case 'unknown-agent': {
      const agent = shorten(error.agent)
      const message = `No agent "${agent}" exists here. agents/list lists agents.`
      return rpcResponse(id, 200, { code: codes.unknownAgent, message, data: { agent } })
    }
    case 'method': {
      const method = shorten(error.method)
      const supported = `${[...methods.keys()].join(', ')}. Send A2A calls to /agents/{id}/a2a.`
      const message = `Unknown method "${method}". Supported: ${supported}`
      return rpcResponse(id, 200, { code: -32601, message, data: { method } })
    }
    default:
      return errorResponse(error, { binding: 'JSONRPC', version: '0.3', id })
  }
}

/** Returns the name of an error in the log. */
const errorName = (error: SuperxError): string => {
  if (error instanceof HttpError) return error.code
  return error.kind === 'source' ? (error.failure.code ?? error.kind) : error.kind
}

/** Every status without a code of SuperX stands for an invalid parameter. */
const httpErrorResponse = ({ status, code: reason, message, headers }: HttpError, id: Json): Response => {
  const data = { reason }
  if (UNAUTHORIZED_STATUSES.includes(status))
    return rpcResponse(id, status, { code: codes.unauthorized, message, data }, headers)
  return rpcResponse(id, 200, { code: status === 404 ? codes.unknownAgent : -32602, message, data }, headers)
}

const rpcResponse = (id: Json, status: number, error: RpcError, headers: Record<string, string> = {}): Response =>
  a2aResponse(rpcErrorText(id, error), status, headers)

const shorten = (text: string): string => text.slice(0, 80).toWellFormed()

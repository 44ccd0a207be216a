import { type CallError, type JsonRpcRequest, parseJsonRpcRequest } from '../../a2a/index.ts'
import { authenticate, reportRefusal } from '../../auth/index.ts'
import { checkRateLimit, hasSmallBody, readCallBody } from '../../gateway/gate/index.ts'
import { a2aResponse, type Handler, HttpError, log, type RequestContext, toHttpError } from '../../http/index.ts'
import type { Json } from '../../json/index.ts'
import { agentNotFound } from '../agent-errors.ts'
import { errorName, superxErrorResponse } from './superx-errors.ts'
import { getAgent, listAgents, type MethodContext, type MethodResult, refreshCard } from './superx-methods.ts'

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
  const call = toRequest(limited && !hasSmallBody(request) ? limited : await readCallBody(request))
  // Older versions of SuperX separate the parts of a method's name by a dot.
  const method = call.method.replace(/^agents\./, 'agents/')
  const outcome = limited ? { error: limited } : await invoke(call, method, { caller, request, env, ctx })
  if (methods.get(method) === refreshCard) await auditRefusal(outcome, { request, env, ctx })
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

const toRequest = (body: { value: Json } | CallError): JsonRpcRequest =>
  'value' in body ? parseJsonRpcRequest(body.value) : { id: null, method: '', error: body }

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

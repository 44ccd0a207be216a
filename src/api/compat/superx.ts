import type { CallError } from '../../a2a/errors.ts'
import { type JsonRpcRequest, parseJsonRpcRequest } from '../../a2a/jsonrpc.ts'
import { authenticate } from '../../auth/authenticate.ts'
import type { Authentication } from '../../auth/principal.ts'
import { checkRateLimit } from '../../gateway/access.ts'
import { isSmall, readCallBody } from '../../gateway/jsonrpc-binding.ts'
import { HttpError } from '../../http/errors.ts'
import type { Handler } from '../../http/handler.ts'
import { log } from '../../http/log.ts'
import { a2aResponse } from '../../http/responses.ts'
import type { Json } from '../../json/json.ts'
import { type RpcMethod, type RpcOutcome, tagOf, toSuperxError } from './superx-errors.ts'
import { getAgent, listForSuperx, refreshCard } from './superx-methods.ts'

const methods: ReadonlyMap<string, RpcMethod> = new Map([
  ['agents/get', getAgent],
  ['agents/list', listForSuperx],
  ['agents/refreshCard', refreshCard],
])

/** `POST /rpc`: SuperX's JSON-RPC endpoint. A request counts as a call, before its body is read. */
export const handleSuperxRpc: Handler = async (...asking) => {
  const begun = Date.now()
  const [request, env] = asking
  const caller = await authenticate(...asking)
  const tooMany = await checkRateLimit(caller, request, env)
  const envelope = envelopeOf(tooMany && !isSmall(request) ? tooMany : await readCallBody(request))
  const { id, method } = envelope
  const named = nameOf(method)
  const outcome: RpcOutcome = tooMany ? { problem: tooMany } : await take(envelope, named, caller, ...asking)
  const response =
    'problem' in outcome
      ? toSuperxError(outcome.problem, id)
      : a2aResponse(JSON.stringify({ jsonrpc: '2.0', id, result: outcome.result }), 200)
  // Words of this host alone: nothing that a caller wrote.
  log('info', 'rpc', {
    agent: outcome.agent ?? '',
    caller: caller.authenticated ? caller.subject : caller.reason,
    method: methods.has(named) ? named : '',
    verdict: 'problem' in outcome ? tagOf(outcome.problem) : 'passed',
    status: response.status,
    milliseconds: Date.now() - begun,
  })
  return response
}

const envelopeOf = (body: { value: Json } | CallError): JsonRpcRequest =>
  'value' in body ? parseJsonRpcRequest(body.value) : { id: null, method: '', error: body }

/** SuperX has had a point in the names of its methods, and a slash. */
const nameOf = (method: string): string => method.replace(/^agents\./, 'agents/')

const take = async (
  envelope: JsonRpcRequest,
  named: string,
  caller: Authentication,
  ...asking: Parameters<Handler>
): Promise<RpcOutcome> => {
  if ('error' in envelope) return { problem: envelope.error }
  const method = methods.get(named)
  if (method === undefined) return { problem: { kind: 'method', method: envelope.method, version: '0.3' } }
  try {
    return await method(envelope.params, caller, ...asking)
  } catch (error) {
    if (error instanceof HttpError) return { problem: error }
    throw error
  }
}

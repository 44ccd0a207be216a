import type { ErrorForm } from '../a2a/index.ts'
import {
  type A2ACall,
  type CallError,
  invalidParam,
  type JsonRpcRequest,
  operations,
  parseJsonRpcRequest,
  readExtensions,
  readMessage,
  readVersion,
  resolveMethod,
  versionForError,
} from '../a2a/start.ts'
import type { CallProfile } from '../card/index.ts'
import type { CallTarget } from '../card/model/index.ts'
import { a2aResponse, type Handler, PRIVATE_NO_STORE, requestHostname } from '../http/start.ts'
import type { JsonObject } from '../json/index.ts'
import type { CachedDocument } from '../registry/edge/index.ts'
import { findAgentByHost } from '../registry/edge/start.ts'
import {
  type AgentRef,
  agentById,
  type CallContext,
  callableBy,
  findAgentByName,
  type InboundCall,
  impliedVersions,
  preferVersionError,
  readCallBody,
  UNAVAILABLE,
} from './gate/index.ts'
import { handleCall } from './handle-call.ts'
import { type AgentParameter, jsonRpcMessage, rewriteRoutingParams, type UpstreamMessage } from './upstream/start.ts'

/** `POST /agents/{id}/a2a` and `POST /agents/{id}`: a JSON-RPC call of one agent. */
export const agentCall: Handler = (request, env, ctx, { id }) =>
  handleCall(new JsonRpcCall(request, agentById(id)), request, env, ctx)

/** `POST /a2a`: a JSON-RPC call of the agent that `tenant` names, else of the agent of the hostname. */
export const hostCall: Handler = (request, env, ctx) =>
  handleCall(new JsonRpcCall(request, tenantSelector), request, env, ctx)

/** `POST /a2a/v1`: Shaman's JSON-RPC endpoint, at which `agentName` is an agent's name or id, in any case. */
export const namedCall: Handler = (request, env, ctx) =>
  handleCall(new JsonRpcCall(request, nameSelector), request, env, ctx)

/** An endpoint at which a parameter of the call selects the agent. It is for this host, so it is not forwarded. */
type AgentSelector = {
  parameter: AgentParameter
  find: (params: JsonObject, context: CallContext) => Promise<AgentRef | CallError>
}

const tenantSelector: AgentSelector = {
  parameter: 'tenant',
  find: async ({ tenant }, { request, env, ctx }) =>
    typeof tenant === 'string' && tenant !== ''
      ? agentById(tenant)
      : findAgentByHost(requestHostname(request), env, ctx).then(
          (id = '') => ({ id, named: '' }),
          () => UNAVAILABLE,
        ),
}

const nameSelector: AgentSelector = {
  parameter: 'agentName',
  find: async ({ agentName: named }, { caller, request, env, ctx }) =>
    typeof named !== 'string' || named === ''
      ? invalidParam('agentName', 'must be the name or id of an agent')
      : findAgentByName(named, callableBy(caller, request, env, ctx), env, ctx).then(
          id => ({ id, named }),
          () => UNAVAILABLE,
        ),
}

/** A call over JSON-RPC: one request in the body of a POST. */
export class JsonRpcCall implements InboundCall {
  readonly agent: AgentRef | undefined
  readonly #request: Request
  readonly #selector: AgentSelector | undefined
  /** Empty until the body is read. */
  #rpc: JsonRpcRequest = { id: null, method: '', params: {} }

  constructor(request: Request, addressing: AgentRef | AgentSelector) {
    this.#request = request
    if ('find' in addressing) this.#selector = addressing
    else this.agent = addressing
  }

  async read(): Promise<CallError | undefined> {
    const body = await readCallBody(this.#request)
    if ('kind' in body) return body
    this.#rpc = parseJsonRpcRequest(body.value)
    return 'error' in this.#rpc && this.#rpc.params === undefined ? this.#rpc.error : undefined
  }

  findAgent(context: CallContext): Promise<AgentRef | CallError> | undefined {
    return this.#selector?.find(this.#rpc.params ?? {}, context)
  }

  parse(profile: CallProfile): A2ACall | CallError {
    const requested = readVersion(this.#request)
    if ('kind' in requested) return preferVersionError(requested, 'JSONRPC', profile)
    const { id, method } = this.#rpc
    const resolved = resolveMethod(method, requested.version, impliedVersions(profile, 'JSONRPC'))
    if ('kind' in resolved) return preferVersionError(resolved, 'JSONRPC', profile)
    const call: A2ACall = {
      binding: 'JSONRPC',
      ...resolved,
      id,
      params: this.#rpc.params ?? {},
      extensions: readExtensions(this.#request.headers),
    }
    return 'error' in this.#rpc ? (rejectParams(call) ?? this.#rpc.error) : call
  }

  toUpstream({ id, params }: A2ACall, target: CallTarget): UpstreamMessage {
    const sent = rewriteRoutingParams(params, target, this.#selector?.parameter)
    return jsonRpcMessage(id, this.#rpc.method, sent)
  }

  get selector(): AgentParameter | undefined {
    return this.#selector?.parameter
  }

  getErrorForm(): ErrorForm {
    const { id, method } = this.#rpc
    return { binding: 'JSONRPC', version: versionForError(readVersion(this.#request), method), id }
  }

  wrapCard({ body }: Pick<CachedDocument, 'body'>): Response {
    const before = `{"jsonrpc":"2.0","id":${JSON.stringify(this.#rpc.id)},"result":`
    return a2aResponse(new Blob([before, body, '}']), 200, { 'Cache-Control': PRIVATE_NO_STORE })
  }
}

/** Rejects the parameters of a call that is not forwarded, so that no agent can. */
const rejectParams = (call: A2ACall): CallError | undefined => {
  const message = readMessage(call)
  if ('kind' in message) return message
  const lacksMessage = operations[call.operation].sends && message.parts.length === 0
  return lacksMessage ? invalidParam('message', 'must be a message with parts') : undefined
}

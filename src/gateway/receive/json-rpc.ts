import {
  type A2ACall,
  type CallError,
  type ErrorForm,
  invalidParam,
  type JsonRpcRequest,
  operations,
  parseJsonLossless,
  parseJsonRpcRequest,
  readExtensions,
  readMessage,
  readVersion,
  resolveMethod,
  versionForError,
} from '../../a2a/index.ts'
import { callableBy, findAgentByName } from '../../auth/index.ts'
import type { CallTarget } from '../../card/model/index.ts'
import { a2aResponse, type BodyText, PRIVATE_NO_STORE, readText, requestHostname } from '../../http/index.ts'
import { essence, isJsonType, type Json, type JsonObject } from '../../json/index.ts'
import { MAX_CALL_BYTES, MAX_REFUSED_CALL_BYTES } from '../../limits.ts'
import { type CachedDocument, findAgentByHost } from '../../registry/edge/index.ts'
import { type AgentRef, agentById, Exchange, type Gate, UNAVAILABLE } from '../gate/index.ts'
import { jsonRpcMessage, rewriteRoutingParams, type UpstreamMessage } from '../upstream/index.ts'

/** A call over JSON-RPC: one request in the body of a POST. The path or a parameter selects the agent. */
export class JsonRpcExchange extends Exchange {
  /** Empty until the body is read. */
  #rpc: JsonRpcRequest = { id: null, method: '', params: {} }

  readBody(): Promise<BodyText> | CallError | undefined {
    return readBody(this.request, this.headers, this.type)
  }

  parseBody(read: BodyText | CallError | undefined): CallError | undefined {
    // The body of a refused call is not read.
    if (read === undefined) return undefined
    const body = parseBody(read)
    if ('kind' in body) return body
    this.#rpc = parseJsonRpcRequest(body.value)
    return 'error' in this.#rpc && this.#rpc.params === undefined ? this.#rpc.error : undefined
  }

  override findAgent(): Promise<AgentRef | CallError> | AgentRef | CallError {
    const { params = {} } = this.#rpc
    if (this.selector === 'agentName') return this.#findNamed(params)
    const { tenant } = params
    if (typeof tenant === 'string' && tenant !== '') return agentById(tenant)
    return findAgentByHost(requestHostname(this.request), this.env, this.ctx).then(
      (id = '') => ({ id, named: '' }),
      () => UNAVAILABLE,
    )
  }

  #findNamed({ agentName: named }: JsonObject): Promise<AgentRef | CallError> | CallError {
    const { caller, request, env, ctx } = this
    if (typeof named !== 'string' || named === '')
      return invalidParam('agentName', 'must be the name or id of an agent')
    return findAgentByName(named, callableBy(caller, request, env, ctx), env, ctx).then(
      id => ({ id, named }),
      () => UNAVAILABLE,
    )
  }

  parse(gate: Gate): A2ACall | CallError {
    const requested = readVersion(this)
    if ('kind' in requested) return gate.preferVersionError(requested, 'JSONRPC')
    const { id, method } = this.#rpc
    const resolved = resolveMethod(method, requested.version, () => gate.impliedVersions('JSONRPC'))
    if ('kind' in resolved) return gate.preferVersionError(resolved, 'JSONRPC')
    const { operation, version, dialect } = resolved
    const { params = {} } = this.#rpc
    const extensions = readExtensions(this.headers)
    const call: A2ACall = { binding: 'JSONRPC', operation, version, dialect, id, params, extensions }
    return 'error' in this.#rpc ? (rejectParams(call) ?? this.#rpc.error) : call
  }

  write({ id, params }: A2ACall, target: CallTarget): UpstreamMessage {
    return jsonRpcMessage(id, this.#rpc.method, rewriteRoutingParams(params, target, this.selector))
  }

  errorForm(): ErrorForm {
    const { id, method } = this.#rpc
    return { binding: 'JSONRPC', version: versionForError(readVersion(this), method), id }
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

// Bodies

/** Checks whether a request declares a body that is small enough to be read even if the call is refused. */
export const hasSmallBody = ({ headers }: Pick<Request, 'headers'>): boolean =>
  Number(headers.get('Content-Length') ?? MAX_CALL_BYTES) <= MAX_REFUSED_CALL_BYTES

/** Checks whether a POST has no body. Its stream is an object that only a body without a length needs. */
export const isEmptyPost = (request: Request, headers: Headers): boolean => {
  const length = headers.get('Content-Length')
  return length === null ? request.body === null : length === '0'
}

/** Reads the body of a call. Returns an error if it is not sent as JSON. */
export const readBody = (
  request: Request,
  headers = request.headers,
  type = headers.get('Content-Type'),
): Promise<BodyText> | CallError => {
  // What `curl -d` declares, as GopherHole's examples do, is accepted if `Authorization` requires a preflight.
  if (!isJsonType(type) && !(essence(type) === 'application/x-www-form-urlencoded' && headers.has('Authorization')))
    return { kind: 'content-type', offered: type }
  return readText(request, MAX_CALL_BYTES, headers)
}

/** Parses a body that was read. */
export const parseBody = (body: BodyText | CallError): { value: Json } | CallError => {
  if ('kind' in body) return body
  return 'failed' in body ? BODY_ERRORS[body.failed] : parseJsonLossless(body.text)
}

const BODY_ERRORS: Record<Extract<BodyText, { failed: string }>['failed'], CallError> = {
  'too-large': { kind: 'too-large', maxBytes: MAX_CALL_BYTES },
  'not-utf-8': { kind: 'not-json', detail: 'The body is not UTF-8 text, as JSON must be.' },
  // The client has disconnected: this error is for the log.
  incomplete: { kind: 'aborted' },
}

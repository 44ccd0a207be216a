import {
  type A2ACall,
  type CallError,
  chooseVersion,
  type ErrorForm,
  invalidParam,
  isVersionParameter,
  type JsonRpcRequest,
  matchRestPath,
  normalizeRestPath,
  operations,
  parseJsonLossless,
  parseJsonRpcRequest,
  type Refusal,
  type RestMatch,
  readExtensions,
  readMessage,
  readVersion,
  resolveMethod,
  resolveRestVersion,
  versionForError,
  versionOfPath,
} from '../../a2a/index.ts'
import { callableBy, findAgentByName } from '../../auth/index.ts'
import { type CallTarget, versions } from '../../card/model/index.ts'
import { writeV0SchemeWithWrapper } from '../../card/read/index.ts'
import { a2aResponse, type BodyText, PRIVATE_NO_STORE, readText, requestHostname } from '../../http/index.ts'
import type { Json, JsonObject } from '../../json/index.ts'
import { essence, isJsonObject, isJsonType, isPlainObject, mapMembers } from '../../json/index.ts'
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

  parseBody(read: BodyText | CallError | undefined): Refusal {
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
const rejectParams = (call: A2ACall): Refusal => {
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
const isEmptyPost = (request: Request, headers: Headers): boolean => {
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

/** Matches URLs that the parser accepts and leaves as they are, and takes the path below the agent's endpoint. */
const plainUrl = /^https?:\/\/(?!.*xn--)(?:[\w-]+\.)*[a-z][\w-]*(?::\d{1,4})?\/[a-z]+\/[a-z0-9-]+\/a2a\/([\w/:-]*)$/

/** A call over HTTP+JSON, below `/agents/{id}/a2a/`: of 1.0, and under `v1/` of 0.3. */
export class RestExchange extends Exchange {
  readonly #method: string
  /** Path below the agent's endpoint, normalized and percent-encoded. */
  readonly #path: string
  readonly #query: URLSearchParams | undefined
  readonly #match: RestMatch | CallError
  /** The value is null if there is no body. */
  #body: { value: Json } | CallError = { value: null }

  constructor(request: Request, env: Env, ctx: ExecutionContext, agentId: string | undefined) {
    super(request, env, ctx, agentById(agentId))
    const { url } = this
    const { method } = request
    this.#method = method
    const plain = plainUrl.exec(url)?.[1]
    const parsed = plain === undefined ? new URL(url) : undefined
    // By position, because an agent's id may be `a2a` too.
    this.#path = normalizeRestPath(plain ?? parsed?.pathname.split('/').slice(4).join('/') ?? '')
    this.#query = parsed?.searchParams
    this.#match = matchRestPath(method, this.#path)
    // HEAD is supported for the extended card only, which this host serves: agents may not support it.
    if (method === 'HEAD') {
      const get = matchRestPath('GET', this.#path)
      if ('operation' in get && get.operation === 'extendedCard') this.#match = get
    }
  }

  readBody(): Promise<BodyText> | CallError | undefined {
    if ('kind' in this.#match) return this.#match
    return this.#method === 'POST' && !isEmptyPost(this.request, this.headers)
      ? readBody(this.request, this.headers, this.type)
      : undefined
  }

  parseBody(read: BodyText | CallError | undefined): Refusal {
    if ('kind' in this.#match) return read && this.#match
    const isEmpty = read === undefined || ('text' in read && read.text === '')
    this.#body = isEmpty ? { value: null } : parseBody(read)
    return undefined
  }

  parse(gate: Gate): A2ACall | CallError {
    if ('kind' in this.#match) return this.#match
    if ('kind' in this.#body) return this.#body
    const requested = readVersion(this)
    if ('kind' in requested) return gate.preferVersionError(requested, 'HTTP+JSON')
    const implied = () => gate.impliedVersions('HTTP+JSON')
    const resolved = resolveRestVersion(this.#method, this.#match, requested.version, implied)
    if ('kind' in resolved) return gate.preferVersionError(resolved, 'HTTP+JSON')
    const { value } = this.#body
    if (value !== null && !isPlainObject(value))
      return { kind: 'not-a-request', detail: 'The body must be a JSON object.' }
    const { version } = resolved
    const { operation, pathParams } = this.#match
    // Without the version, which is sent as a header. A repeated parameter has its first value only.
    const named = this.#query ? [...this.#query].filter(([name]) => !isVersionParameter(name)) : []
    const query = Object.fromEntries(named.reverse())
    const body = value ?? {}
    return {
      binding: 'HTTP+JSON',
      operation,
      version,
      dialect: versions[version].card,
      id: null,
      // The path wins over the body, and the body over the query.
      params: { ...(named.length > 0 && Object.fromEntries(Object.entries(query).reverse())), ...body, ...pathParams },
      sources: { path: pathParams, query, body },
      extensions: readExtensions(this.headers),
    }
  }

  write({ sources }: A2ACall, target: CallTarget): UpstreamMessage {
    const { query = {} } = sources ?? {}
    const search = Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : ''
    const hasBody = 'value' in this.#body && this.#body.value !== null
    return {
      method: this.#method,
      path: this.#path + search,
      ...(hasBody && { body: JSON.stringify(rewriteRoutingParams(sources?.body ?? {}, target)) }),
    }
  }

  errorForm(): ErrorForm {
    const { version: named } = { version: undefined, ...readVersion(this) }
    const having = 'versions' in this.#match ? this.#match.versions : [versionOfPath(this.#path)]
    return {
      binding: 'HTTP+JSON',
      version: chooseVersion(having, () => (named === undefined ? [] : [named])),
      id: null,
    }
  }

  wrapCard({ body }: Pick<CachedDocument, 'body'>): Response {
    const { version } = this.errorForm()
    return a2aResponse(versions[version].card === '0.3' ? wrapSchemesForProto(body) : body, 200, {
      'Cache-Control': PRIVATE_NO_STORE,
    })
  }
}

/** Wraps the security schemes of a 0.3 card as 0.3's proto does, too: its readers reject others. */
const wrapSchemesForProto = (body: BufferSource): string => {
  const card: JsonObject = JSON.parse(new TextDecoder().decode(body))
  const { securitySchemes } = card
  const wrapped = isJsonObject(securitySchemes) && {
    securitySchemes: mapMembers(securitySchemes, writeV0SchemeWithWrapper),
  }
  return JSON.stringify({ ...card, ...wrapped })
}

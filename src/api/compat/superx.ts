import { type CallError, errorResponse, invalidParam, parseJsonRpcRequest, rpcErrorText } from '../../a2a/index.ts'
import {
  actorOf,
  countWrites,
  findAgentByName,
  forbidden,
  hasPermission,
  type IsVisible,
  readableBy,
  reportRefusal,
  requireScope,
} from '../../auth/index.ts'
import { toSlug } from '../../card/model/index.ts'
import type { UnresolvedCall } from '../../gateway/gate/index.ts'
import { authorizeRead, checkRateLimit, countRefusal, resolveAgent, UNAVAILABLE } from '../../gateway/gate/index.ts'
import { hasSmallBody, parseBody, readBody } from '../../gateway/receive/index.ts'
import { a2aResponse, HttpError, log, serviceUnavailable, statusOf, toHttpError } from '../../http/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { MAX_CALL_BYTES, MAX_NAME_LENGTH } from '../../limits.ts'
import { readProfile } from '../../registry/edge/index.ts'
import type { SourceFailure } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { requestRefresh } from '../../sources/index.ts'
import { agentNotFound } from '../agent-errors.ts'
import { agentPage, readSuperxList } from '../agents/index.ts'
import { loadCard } from '../card-endpoints.ts'
import { type CallerContext, endpoint, json, otherBody, parseQuery } from '../contract/index.ts'
import { JsonRpcRequest, JsonRpcResponse, toPending, toSuperxAgent } from '../schemas/index.ts'
import { fetchCacheable } from '../shared-cache.ts'

/** `POST /rpc`: SuperX's JSON-RPC endpoint. A request counts as a call, before its body is read. */
export const callSuperx = endpoint(
  {
    tag: 'compatibility',
    summary: 'Call `agents/get`, `agents/list` or `agents/refreshCard` of SuperX',
    access: 'optional',
    body: otherBody('stream', { 'application/json': JsonRpcRequest }, MAX_CALL_BYTES),
    responses: { 200: json('The response.', JsonRpcResponse) },
    raw: true,
    limits: ['CALL_LIMIT', 'WRITE_LIMIT'],
    errors: { form: 'superx' },
  },
  async context => {
    const startedAt = Date.now()
    const { caller, request, env } = context
    const limited = await checkRateLimit(caller, request, env)
    const body = limited && !hasSmallBody(request) ? limited : parseBody(await readBody(request))
    const call = 'value' in body ? parseJsonRpcRequest(body.value) : { id: null, method: '', error: body }
    // Older versions of SuperX separate the parts of a method's name by a dot.
    const method = call.method.replace(/^agents\./, 'agents/')
    const { agent, result, error }: MethodResult = limited ? { error: limited } : await invoke(call, method, context)
    // As `POST /agents/{id}/refresh` does.
    if (methods.get(method) === refreshCard && error) {
      if (error instanceof HttpError) await reportRefusal(error, agent, context)
      else if (error.kind === 'unknown-agent') await reportRefusal(agentNotFound(error.agent), error.agent, context)
    }
    const response = error
      ? superxErrorResponse(error, call.id)
      : a2aResponse(JSON.stringify({ jsonrpc: '2.0', id: call.id, result }), 200)
    // Contains nothing that a caller wrote.
    log('info', 'rpc', {
      ...(agent !== undefined && { 'gen_ai.agent.id': agent }),
      ...(methods.has(method) && { 'rpc.method': method }),
      'calling_card.caller': caller.authenticated ? caller.subject : caller.reason,
      ...(error && { 'error.type': errorName(error) }),
      'http.response.status_code': response.status,
      'calling_card.duration_ms': Date.now() - startedAt,
    })
    return response
  },
)

const invoke = async (call: ReturnType<typeof parseJsonRpcRequest>, name: string, context: CallerContext) => {
  if ('error' in call) return call
  const method = methods.get(name)
  if (method === undefined) return { error: { kind: 'method', method: call.method, version: '0.3' } as const }
  try {
    return await method(call.params, context)
  } catch (error) {
    const httpError = toHttpError(error)
    if (httpError) return { error: httpError }
    throw error
  }
}

// Errors

const errorName = (error: SuperxError): string =>
  error instanceof HttpError ? error.code : (error.kind === 'source' && error.failure.code) || error.kind

/** SuperX's own error codes. Every status without one stands for an invalid parameter. */
const codes = { unauthorized: -32000, unknownAgent: -32001, timeout: -32098, source: -32099, invalid: -32602 } as const

const superxErrorResponse = (error: SuperxError, id: Json): Response => {
  const respond = (status: number, error: Parameters<typeof rpcErrorText>[1], headers?: Record<string, string>) =>
    a2aResponse(rpcErrorText(id, error), status, headers)
  if (error instanceof HttpError) {
    const { code: reason, message, headers } = error
    const status = statusOf(error)
    // Only callers that SuperX does not admit get another HTTP status than 200.
    const isRefused = [401, 403, 429, 503].includes(status)
    const code = isRefused ? codes.unauthorized : status === 404 ? codes.unknownAgent : codes.invalid
    return respond(isRefused ? status : 200, { code, message, data: { reason } }, headers)
  }
  switch (error.kind) {
    case 'source': {
      const { agent, failure } = error
      const { status, message, ...reason } = failure
      const code = status === 504 ? codes.timeout : codes.source
      const errors = reason.errors && { errors: reason.errors.map(error => ({ ...error })) }
      return respond(status, { code, message, data: { agent, status, ...reason, ...errors } })
    }
    case 'unknown-agent': {
      const agent = shorten(error.agent)
      const message = `No agent "${agent}" exists here. agents/list lists agents.`
      return respond(200, { code: codes.unknownAgent, message, data: { agent } })
    }
    case 'method': {
      const method = shorten(error.method)
      const supported = [...methods.keys()].join(', ')
      const message = `Unknown method "${method}". Supported: ${supported}. Send A2A calls to /agents/{id}/a2a.`
      return respond(200, { code: -32601, message, data: { method } })
    }
    default:
      return errorResponse(error, { binding: 'JSONRPC', version: '0.3', id })
  }
}

const shorten = (text: string): string => text.slice(0, 80).toWellFormed()

/** The error of a request: one of any call, one of the same request over HTTP, or a card that cannot be fetched. */
type SuperxError = CallError | HttpError | { kind: 'source'; agent: string; failure: Failure }

/** Only callers that may refresh a card get `code` and `errors`. */
type Failure = Pick<SourceFailure, 'status' | 'message'> & Partial<SourceFailure>

/** The result of a method, or its error. `agent` is the id of the agent that the request is about, for the log. */
type MethodResult = { agent?: string; result?: object; error?: SuperxError }

/** A method of SuperX. May throw an HttpError. */
type Method = (params: JsonObject, context: CallerContext) => Promise<MethodResult>

/** `agents/get`: an agent with its card, for callers that may read it. */
export const getAgent: Method = async (params, context) => {
  const { caller, request, env, ctx } = context
  const agent = await findAgent(params, readableBy(caller, request, env, ctx), context)
  if ('kind' in agent) return { error: agent }
  const call: UnresolvedCall = { agent, caller, gate: null, request, env, ctx, timing: undefined }
  const refused = (await resolveAgent(call)) ?? authorizeRead(agent, call.gate?.profile ?? null, call.caller)
  if (refused) return { error: await countRefusal(refused, call) }
  const { id } = agent
  const read = await readSuperxCard(id, context)
  if ('error' in read) return { agent: id, ...read }
  const registered = await getRegistry(env).manifest(id)
  const origin = registered?.origin ?? new URL(request.url).origin
  // The card of an MCP server has no URL: this host answers calls for it.
  const { protocol = 'a2a', description = '', version = '', url = `${origin}/agents/${id}/a2a` } = read.card
  const listed = toSuperxAgent({ id, origin, protocol, description, version, url })
  return { agent: id, result: { agent: { ...listed, card: read.card } } }
}

/** `agents/list`: a page of agents, with their cards if `includeCard` is true. Credentials, if sent, must be valid. */
export const listAgents: Method = async ({ limit, cursor, includeCard = false }, context) => {
  const { caller, request, env, ctx } = context
  if (typeof includeCard !== 'boolean') return { error: invalidParam('includeCard', 'must be true or false') }
  const query = new URLSearchParams()
  if (limit !== undefined) query.set('limit', toQueryValue(limit))
  if (cursor !== undefined) query.set('cursor', toQueryValue(cursor))
  const page = parseQuery(new URL(`/rpc?${query}`, request.url), agentPage)
  let list: JsonObject
  if (request.headers.has('Authorization'))
    list = await readSuperxList(page, env, await requireScope(context, 'read', caller))
  else {
    const response = await fetchCacheable('/rpc', query, ctx)
    if (!response.ok) throw serviceUnavailable()
    list = await response.json()
  }
  return { result: includeCard ? await includeCards(list, context) : list }
}

/** Converts a parameter for the query of a list, which validates it. A number may be a JSON.rawJSON object. */
const toQueryValue = (value: Json): string => {
  if (typeof value === 'string') return value
  const text = JSON.stringify(value)
  return typeof value === 'number' || JSON.isRawJSON(value) ? String(Number(text)) : text
}

/** A page ends when its cards exceed this size, unless the first one does. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024
const CONCURRENT_READS = 4

/** Adds the cards to a page, as far as they fit. An unavailable card is null, so that the others can be listed. */
const includeCards = async (list: JsonObject, context: CallerContext): Promise<JsonObject> => {
  const agents = Array.isArray(list.agents) ? list.agents.filter(isJsonObject) : []
  const listed: JsonObject[] = []
  let remainingBytes = MAX_PAGE_BYTES
  while (listed.length < agents.length) {
    const next = agents.slice(listed.length, listed.length + CONCURRENT_READS)
    const reads = await Promise.all(next.map(({ id }) => readSuperxCard(String(id), context, true)))
    for (const [index, read] of reads.entries()) {
      remainingBytes -= 'card' in read ? read.length : 0
      if (remainingBytes < 0 && listed.length > 0) return { ...list, agents: listed, cursor: listed.at(-1)?.id ?? null }
      listed.push({ ...next[index], card: 'card' in read ? read.card : null })
    }
  }
  return { ...list, agents: listed }
}

/** `agents/refreshCard`: fetches a remote card now, for callers that may write the agent. */
export const refreshCard: Method = async (params, context) => {
  const { caller, env, ctx } = context
  const principal = await requireScope(context, 'write', caller)
  const canSee = (id: string) => hasPermission(principal, 'write', id) || hasPermission(principal, 'read', id)
  const agent = await findAgent(params, canSee, context)
  if ('kind' in agent) return { error: agent }
  const { id, named } = agent
  const unknown = { error: { kind: 'unknown-agent', agent: named } } as const
  if (id === '') return unknown
  if (!hasPermission(principal, 'write', id)) {
    const profile = await readProfile(id, env, ctx)
    const isVisible = profile !== null && (profile.visibility === 'public' || hasPermission(principal, 'read', id))
    return isVisible ? { agent: id, error: forbidden(principal, 'write', id) } : unknown
  }
  await countWrites(principal, env)
  const { result } = await requestRefresh(id, { force: true, actor: actorOf(principal) }, env)
  if (result.outcome === 'failed') return { agent: id, error: { kind: 'source', agent: id, failure: result.failure } }
  const read = await readSuperxCard(id, context)
  const { outcome } = result
  // The card is now known to be that of its upstream.
  const refreshed = outcome === 'refreshed' || outcome === 'unchanged'
  const changes = result.outcome === 'refreshed' && { seq: result.seq, drift: result.drift }
  const pending = result.outcome === 'pending' && { pending: toPending(result.pending) }
  const card = 'card' in read && { card: read.card }
  return { agent: id, result: { id, name: id, refreshed, outcome, ...changes, ...pending, ...card } }
}

/** Finds the agent that a request names by `id`, or by `name` in newer SuperX; either may be an id or a name. */
const findAgent = async ({ id, name }: JsonObject, canSee: IsVisible, { env, ctx }: CallerContext) => {
  const named = id ?? name
  if (typeof named !== 'string' || named === '') return invalidParam('id', 'must be the id or name of an agent')
  if (named.length > MAX_NAME_LENGTH) return { id: '', named }
  try {
    const found = await findAgentByName(named, canSee, env, ctx)
    // SuperX's ids may have characters that ids of this host do not have: `my_agent`.
    return { id: found || (await findAgentByName(toSlug(named, named), canSee, env, ctx)), named }
  } catch (error) {
    if (error instanceof HttpError && statusOf(error) === 503) return UNAVAILABLE
    throw error
  }
}

/** Reads a card in SuperX's dialect as the caller may see it, with its length in bytes. */
const readSuperxCard = async (
  id: string,
  context: CallerContext,
  inList = false,
): Promise<{ card: JsonObject; length: number } | { error: SuperxError }> => {
  try {
    const document = await loadCard(id, 'superx', context, { caller: context.caller, inList })
    const card: unknown = document && JSON.parse(new TextDecoder().decode(document.body))
    return document && isJsonObject(card)
      ? { card, length: document.body.byteLength }
      : { error: { kind: 'unknown-agent', agent: id } }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { code, message } = error
    const status = statusOf(error)
    // `unavailable` is this host's own state, not the upstream's.
    if (code === 'unavailable' || (status !== 502 && status !== 503 && status !== 504)) return { error }
    return { error: { kind: 'source', agent: id, failure: { status, message } } }
  }
}

const methods = new Map([
  ['agents/get', getAgent],
  ['agents/list', listAgents],
  ['agents/refreshCard', refreshCard],
])

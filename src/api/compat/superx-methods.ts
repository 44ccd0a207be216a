import { type CallError, invalidParam } from '../../a2a/index.ts'
import {
  type Authentication,
  actorOf,
  countWrites,
  hasPermission,
  insufficientScope,
  requireAnyAgent,
} from '../../auth/index.ts'
import { agentIdPattern, cardUrl, toSlug } from '../../card/model/index.ts'
import {
  type AgentRef,
  authorizeRead,
  countRefusal,
  createCallContext,
  findAgentByName,
  type IsVisible,
  readableBy,
  resolveAgent,
  UNAVAILABLE,
} from '../../gateway/gate/index.ts'
import { HttpError, type RequestContext, serviceUnavailable } from '../../http/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { MAX_NAME_LENGTH } from '../../limits.ts'
import { readProfile } from '../../registry/edge/index.ts'
import type { SourceFailure } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { type RefreshOutcome, requestRefresh } from '../../sources/index.ts'
import { LIST_FORMATS, listVisibleAgents } from '../agents/index.ts'
import { loadCard } from '../card-endpoints.ts'
import { parsePageQuery } from '../parse-request.ts'
import { fetchCacheable } from '../shared-cache.ts'

/** The error of a request: one of any call, one of the same request over HTTP, or a card that cannot be fetched. */
export type SuperxError = CallError | HttpError | { kind: 'source'; agent: string; failure: Failure }

/** Only callers that may refresh a card get `code` and `errors`. */
type Failure = Pick<SourceFailure, 'status' | 'message'> & Partial<Pick<SourceFailure, 'code' | 'errors'>>

/** A request to a method, and its caller. */
export type MethodContext = RequestContext & { caller: Authentication }

/** The result of a method, or its error. `agent` is the id of the agent that the request is about, for the log. */
export type MethodResult = { agent?: string } & ({ result: object } | { error: SuperxError })

/** A method of SuperX. May throw an HttpError. */
type Method = (params: JsonObject, context: MethodContext) => Promise<MethodResult>

/** `agents/get`: an agent with its card, for callers that may read it. */
export const getAgent: Method = async (params, context) => {
  const { caller, request, env, ctx } = context
  const agent = await findAgent(params, readableBy(caller, request, env, ctx), context)
  if ('kind' in agent) return { error: agent }
  const call = createCallContext(caller, { request, env, ctx })
  const unresolved = await resolveAgent(call, agent)
  if (unresolved) return { error: unresolved }
  const authorized = authorizeRead(call)
  if ('kind' in authorized) return { error: await countRefusal(authorized, call) }
  const { id } = agent
  const read = await readSuperxCard(id, context)
  if ('error' in read) return { agent: id, ...read }
  const { card } = read
  const { protocol = 'a2a', description = '', version = '', url } = card
  const registered = await getRegistry(env).manifest(id)
  const origin = registered?.origin ?? new URL(request.url).origin
  return {
    agent: id,
    result: {
      agent: {
        ...{ id, name: id, protocol, description, version },
        // The card of an MCP server has no URL: this host answers calls for it.
        url: url ?? `${origin}/agents/${id}/a2a`,
        agentCard: { url: cardUrl({ origin, id }) },
        card,
      },
    },
  }
}

/** `agents/list`: a page of agents, with their cards if `includeCard` is true. Credentials, if sent, must be valid. */
export const listAgents: Method = async ({ limit, cursor, includeCard = false }, context) => {
  const { caller, request, env, ctx } = context
  if (typeof includeCard !== 'boolean') return { error: invalidParam('includeCard', 'must be true or false') }
  const query = new URLSearchParams()
  if (limit !== undefined) query.set('limit', toQueryValue(limit))
  if (cursor !== undefined) query.set('cursor', toQueryValue(cursor))
  const pageQuery = parsePageQuery(new URL(`/rpc?${query}`, request.url), agentIdPattern)
  const list: JsonObject = request.headers.has('Authorization')
    ? LIST_FORMATS['/rpc'](await listVisibleAgents(pageQuery, env, await requireAnyAgent(context, 'read', caller)))
    : await readPublicList(query, ctx)
  return { result: includeCard ? await includeCards(list, context) : list }
}

/** Converts a parameter for the query of a list, which validates it. A number may be a JSON.rawJSON object. */
const toQueryValue = (value: Json): string => {
  if (typeof value === 'string') return value
  const text = JSON.stringify(value)
  return typeof value === 'number' || JSON.isRawJSON(value) ? String(Number(text)) : text
}

const readPublicList = async (query: URLSearchParams, ctx: ExecutionContext): Promise<JsonObject> => {
  const response = await fetchCacheable('/rpc', query, ctx)
  if (!response.ok) throw serviceUnavailable()
  return response.json()
}

/** A page ends when its cards exceed this size, unless the first one does. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024
const CONCURRENT_READS = 4

/** Adds the cards to a page, as far as they fit. An unavailable card is null, so that the others can be listed. */
const includeCards = async (list: JsonObject, context: MethodContext): Promise<JsonObject> => {
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
  const principal = await requireAnyAgent(context, 'write', caller)
  const canSee = (id: string) => hasPermission(principal, 'write', id) || hasPermission(principal, 'read', id)
  const agent = await findAgent(params, canSee, context)
  if ('kind' in agent) return { error: agent }
  const { id, named } = agent
  const unknown = { error: { kind: 'unknown-agent', agent: named } } as const
  if (id === '') return unknown
  if (!hasPermission(principal, 'write', id)) {
    const profile = await readProfile(id, env, ctx)
    const isVisible = profile !== null && (profile.visibility === 'public' || hasPermission(principal, 'read', id))
    return isVisible ? { agent: id, error: insufficientScope(principal, 'write', id) } : unknown
  }
  await countWrites(principal, env)
  const { result } = await requestRefresh(id, { force: true, actor: actorOf(principal) }, env)
  if (result.outcome === 'failed') return { agent: id, error: { kind: 'source', agent: id, failure: result.failure } }
  const read = await readSuperxCard(id, context)
  const card = 'card' in read && { card: read.card }
  return { agent: id, result: { id, name: id, ...serializeOutcome(result), ...card } }
}

/** Serializes a refresh. It is `refreshed` if the card is now known to be that of its upstream. */
const serializeOutcome = (result: Exclude<RefreshOutcome, { outcome: 'failed' }>): object => {
  const { outcome } = result
  if (outcome === 'refreshed') return { refreshed: true, outcome, seq: result.seq, drift: result.drift }
  if (outcome !== 'pending') return { refreshed: outcome === 'unchanged', outcome }
  const { etag, widens, drift } = result.pending
  return { refreshed: false, outcome, pending: { etag, widens, drift } }
}

/** Finds the agent that a request names by `id`, or by `name` in newer SuperX; either may be an id or a name. */
const findAgent = async (
  { id, name }: JsonObject,
  canSee: IsVisible,
  { env, ctx }: MethodContext,
): Promise<AgentRef | CallError> => {
  const named = id ?? name
  if (typeof named !== 'string' || named === '') return invalidParam('id', 'must be the id or name of an agent')
  if (named.length > MAX_NAME_LENGTH) return { id: '', named }
  try {
    const found = await findAgentByName(named, canSee, env, ctx)
    // SuperX's ids may have characters that ids of this host do not have: `my_agent`.
    return { id: found || (await findAgentByName(toSlug(named, named), canSee, env, ctx)), named }
  } catch (error) {
    if (error instanceof HttpError && error.status === 503) return UNAVAILABLE
    throw error
  }
}

/** Reads a card in SuperX's dialect as the caller may see it, with its length in bytes. */
const readSuperxCard = async (
  id: string,
  context: MethodContext,
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
    const { status, code, message } = error
    // `unavailable` is this host's own state, not the upstream's.
    if (code === 'unavailable' || (status !== 502 && status !== 503 && status !== 504)) return { error }
    return { error: { kind: 'source', agent: id, failure: { status, message } } }
  }
}

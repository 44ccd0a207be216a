import { type CallError, invalidParam } from '../../a2a/errors.ts'
import { hasPermission } from '../../auth/permissions.ts'
import type { Authentication } from '../../auth/principal.ts'
import { insufficientScope, requireAnyAgent } from '../../auth/require.ts'
import { agentIdPattern, toSlug } from '../../card/model/constants.ts'
import {
  authorizeCall,
  type CanSee,
  canRead,
  findAgentByName,
  resolveAgent,
  UNAVAILABLE,
} from '../../gateway/access.ts'
import { type AgentRef, createCallContext } from '../../gateway/call-context.ts'
import { HttpError, serviceUnavailable } from '../../http/errors.ts'
import type { Handler } from '../../http/handler.ts'
import { isJsonObject, type JsonObject } from '../../json/json.ts'

import { readProfile } from '../../registry/edge/cards.ts'
import { getRegistry } from '../../registry/store/client.ts'
import type { RefreshOutcome } from '../../sources/refresh.ts'
import { requestRefresh } from '../../sources/revalidate.ts'
import { fetchPublicList, LIST_FORMATS, listVisibleAgents } from '../agent-lists.ts'
import { type CardOptions, readCard } from '../cards.ts'
import { parsePageQuery } from '../pagination.ts'
import type { RpcMethod, RpcProblem } from './superx-errors.ts'

/**
 * The agent that a request is about, as far as who sends it `sees` internal ones. SuperX says which in `id`, newer versions of it in `name`; it is looked
 * for by either.
 */
const namedAgent = async (
  { id, name }: JsonObject,
  sees: CanSee,
  ...asking: Parameters<Handler>
): Promise<AgentRef | CallError> => {
  const [, env, ctx] = asking
  const named = id ?? name
  if (typeof named !== 'string' || named === '') return noAgent
  try {
    const found = await findAgentByName(named, sees, env, ctx)
    // SuperX's ids may be spelt as no id of this host is: `my_agent`.
    return { id: found || (await findAgentByName(toSlug(named, named), sees, env, ctx)), named }
  } catch {
    return UNAVAILABLE
  }
}

const noAgent = invalidParam('id', 'must be the id or name of an agent')

/** An agent's card in SuperX's dialect, as its reader gets it, with its length in bytes; or why there is none for it. */
const superxCard = async (
  id: string,
  options: CardOptions,
  ...asking: Parameters<Handler>
): Promise<{ card: JsonObject; length: number } | { problem: RpcProblem }> => {
  try {
    const served = await readCard(id, 'superx', { request: asking[0], env: asking[1], ctx: asking[2] }, options)
    const card: unknown = served && JSON.parse(new TextDecoder().decode(served.body))
    const length = served?.body.byteLength ?? 0
    return isJsonObject(card) ? { card, length } : { problem: { kind: 'unknown-agent', agent: id } }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { status, code, message } = error
    // Of these three, what this host itself cannot read is no fault of the source's.
    if (code === 'unavailable' || (status !== 502 && status !== 503 && status !== 504)) return { problem: error }
    return { problem: { kind: 'source', agent: id, failure: { status, message } } }
  }
}

/** `agents/get`: an agent with its card, for whoever may read it. */
export const getAgent: RpcMethod = async (params, caller, ...asking) => {
  const [request, env] = asking
  const addressee = await namedAgent(params, canRead(caller, ...asking), ...asking)
  if ('kind' in addressee) return { problem: addressee }
  const context = createCallContext(caller, ...asking)
  const unresolved = await resolveAgent(context, addressee)
  if (unresolved) return { problem: unresolved }
  const authorized = authorizeCall(context)
  if ('kind' in authorized) return { problem: authorized }
  const { id } = addressee
  const read = await superxCard(id, { caller }, ...asking)
  if ('problem' in read) return { agent: id, ...read }
  const { card } = read
  const { protocol = 'a2a', description = '', version = '', url } = card
  const registered = await getRegistry(env).manifest(id)
  const origin = registered?.origin ?? new URL(request.url).origin
  return {
    agent: id,
    result: {
      agent: {
        id,
        name: id,
        protocol,
        description,
        version,
        // An MCP server's card has none of its own: what is said to it is said here.
        url: url ?? `${origin}/agents/${id}/a2a`,
        agentCard: { url: `${origin}/agents/${id}/.well-known/agent-card.json` },
        card,
      },
    },
  }
}

/** `agents/list`: a page of the agents here, with their cards where `includeCard` says so. Whoever sends a token is to have one that holds. */
export const listForSuperx: RpcMethod = async (params, caller, ...asking) => {
  const [request, env, ctx] = asking
  const { limit, cursor, includeCard = false } = params
  if (typeof includeCard !== 'boolean') return { problem: notAFlag }
  const asked = new URLSearchParams()
  if (limit !== undefined) asked.set('limit', String(limit))
  if (cursor !== undefined) asked.set('cursor', String(cursor))
  const query = parsePageQuery(new URL(`/rpc?${asked}`, request.url), agentIdPattern)
  const list: JsonObject = request.headers.has('Authorization')
    ? LIST_FORMATS['/rpc'](
        await listVisibleAgents(query, env, await requireAnyAgent({ request, env, ctx }, 'read', caller)),
      )
    : await readPublicList(asked, ctx)
  return { result: includeCard ? await withCards(list, caller, ...asking) : list }
}

const readPublicList = async (query: URLSearchParams, ctx: ExecutionContext): Promise<JsonObject> => {
  const response = await fetchPublicList('/rpc', query, ctx)
  if (!response.ok) throw serviceUnavailable()
  return response.json()
}

const notAFlag = invalidParam('includeCard', 'must be true or false')

/** How many bytes of cards a page holds, unless its first is larger; and how many are read at a time. */
const mostBytes = 4 * 1024 * 1024
const atOnce = 4

/** A page with its cards, as far as there is room for them. One that cannot be had is none: the others are still worth to be told. */
const withCards = async (
  list: JsonObject,
  caller: Authentication,
  ...asking: Parameters<Handler>
): Promise<JsonObject> => {
  const agents = Array.isArray(list.agents) ? list.agents.filter(isJsonObject) : []
  const told: JsonObject[] = []
  let room = mostBytes
  while (told.length < agents.length) {
    const next = agents.slice(told.length, told.length + atOnce)
    const reads = next.map(({ id }) => superxCard(String(id), { caller, inList: true }, ...asking))
    for (const [index, read] of (await Promise.all(reads)).entries()) {
      room -= 'card' in read ? read.length : 0
      if (room < 0 && told.length > 0) return { ...list, agents: told, cursor: told.at(-1)?.id ?? null }
      told.push({ ...next[index], card: 'card' in read ? read.card : null })
    }
  }
  return { ...list, agents: told }
}

/** `agents/refreshCard`: reads an agent's card from where it comes from again, for who may write the agent. */
export const refreshCard: RpcMethod = async (params, caller, ...asking) => {
  const [request, env, ctx] = asking
  const bearer = await requireAnyAgent({ request, env, ctx }, 'write', caller)
  const sees = (id: string) => hasPermission(bearer, 'write', id) || hasPermission(bearer, 'read', id)
  const addressee = await namedAgent(params, sees, ...asking)
  if ('kind' in addressee) return { problem: addressee }
  const { id, named } = addressee
  const unknown = { problem: { kind: 'unknown-agent', agent: named } } as const
  if (id === '') return unknown
  if (!hasPermission(bearer, 'write', id)) {
    const profile = await readProfile(id, env, ctx)
    const isSeen = profile !== null && (profile.visibility === 'public' || hasPermission(bearer, 'read', id))
    return isSeen ? { agent: id, problem: insufficientScope(bearer, 'write', id) } : unknown
  }
  const { result: refreshed } = await requestRefresh(id, { force: true }, env)
  if (refreshed.outcome === 'failed')
    return { agent: id, problem: { kind: 'source', agent: id, failure: refreshed.failure } }
  const read = await superxCard(id, { caller }, ...asking)
  return {
    agent: id,
    result: { id, name: id, ...told(refreshed), ...('card' in read && { card: read.card }) },
  }
}

/** `refreshed` says whether the card is now known to be what its source says. */
const told = (came: Exclude<RefreshOutcome, { outcome: 'failed' }>): JsonObject => {
  const { outcome } = came
  if (outcome === 'refreshed')
    return { refreshed: true, outcome, seq: came.seq, drift: came.drift.map(each => ({ ...each })) }
  if (outcome === 'conflict') return { refreshed: false, outcome: 'overtaken' }
  if (outcome !== 'pending') return { refreshed: outcome === 'unchanged', outcome }
  const { etag, widens, drift } = came.pending
  return {
    refreshed: false,
    outcome: 'held',
    held: { etag, widens: widens.map(each => ({ ...each })), drift: drift.map(each => ({ ...each })) },
  }
}

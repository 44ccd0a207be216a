import type { Refusal } from '../../a2a/verdict.ts'
import { requireAnyAgent } from '../../auth/require.ts'
import { isObject, type JsonObject } from '../../card/json.ts'
import { agentId } from '../../card/limits.ts'
import { agentPage } from '../agent-page.ts'
import { publicList } from '../catalog.ts'
import type { Handler } from '../handler.ts'
import { lists } from '../lists.ts'
import { pageQuery } from '../page-query.ts'
import type { RpcMethod } from './method.ts'
import { superxCard } from './superx-card.ts'

/** `agents/list`: a page of the agents here, with their cards where `includeCard` says so. Whoever sends a token is to have one that holds. */
export const listForSuperx: RpcMethod = async (params, caller, ...asking) => {
  const [request, env, ctx] = asking
  const { limit, cursor, includeCard = false } = params
  if (typeof includeCard !== 'boolean') return { problem: notAFlag }
  const asked = new URLSearchParams()
  if (limit !== undefined) asked.set('limit', String(limit))
  if (cursor !== undefined) asked.set('cursor', String(cursor))
  const query = pageQuery(new URL(`/rpc?${asked}`, request.url), agentId)
  const list: JsonObject = request.headers.has('Authorization')
    ? lists['/rpc'](await agentPage(query, env, await requireAnyAgent(request, 'read', env, ctx, caller)))
    : await (await publicList('/rpc', asked, ctx)).json()
  return { result: includeCard ? await withCards(list, ...asking) : list }
}

const notAFlag: Refusal = {
  refused: 'invalid-params',
  detail: '`includeCard` must be true or false.',
  violations: [{ field: 'includeCard', description: 'must be true or false' }],
}

/** A card that cannot be had is none: the others are still worth to be told. */
const withCards = async (list: JsonObject, ...asking: Parameters<Handler>): Promise<JsonObject> => {
  const agents = Array.isArray(list.agents) ? list.agents.filter(isObject) : []
  const told = agents.map(async agent => {
    const read = await superxCard(String(agent.id), ...asking)
    return { ...agent, card: 'card' in read ? read.card : null }
  })
  return { ...list, agents: await Promise.all(told) }
}

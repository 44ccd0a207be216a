import type { Refusal } from '../../a2a/verdict.ts'
import type { Authentication } from '../../auth/principal.ts'
import { requireAnyAgent } from '../../auth/require.ts'
import type { Handler } from '../../http/handler.ts'
import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { agentId } from '../../limits.ts'
import { publicList } from '../agent-lists.ts'
import { listVisibleAgents } from '../agent-page.ts'
import { LIST_FORMATS } from '../lists.ts'
import { parsePageQuery } from '../pagination.ts'
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
  const query = parsePageQuery(new URL(`/rpc?${asked}`, request.url), agentId)
  const list: JsonObject = request.headers.has('Authorization')
    ? LIST_FORMATS['/rpc'](
        await listVisibleAgents(query, env, await requireAnyAgent(request, 'read', env, ctx, caller)),
      )
    : await (await publicList('/rpc', asked, ctx)).json()
  return { result: includeCard ? await withCards(list, caller, ...asking) : list }
}

const notAFlag: Refusal = {
  refused: 'invalid-params',
  detail: '`includeCard` must be true or false.',
  violations: [{ field: 'includeCard', description: 'must be true or false' }],
}

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
    const reads = next.map(({ id }) => superxCard(String(id), { caller, isOneOfMany: true }, ...asking))
    for (const [index, read] of (await Promise.all(reads)).entries()) {
      room -= 'card' in read ? read.length : 0
      if (room < 0 && told.length > 0) return { ...list, agents: told, cursor: told.at(-1)?.id ?? null }
      told.push({ ...next[index], card: 'card' in read ? read.card : null })
    }
  }
  return { ...list, agents: told }
}

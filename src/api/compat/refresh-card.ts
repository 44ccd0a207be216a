import { hasPermission } from '../../auth/permissions.ts'
import { insufficientScope, requireAnyAgent } from '../../auth/require.ts'
import type { JsonObject } from '../../json/json.ts'
import { readProfile } from '../../registry/edge/edge-profiles.ts'
import type { RefreshOutcome } from '../../sources/refreshed.ts'
import type { RpcMethod } from './method.ts'
import { namedAgent } from './named-agent.ts'
import { superxCard } from './superx-card.ts'

/** `agents/refreshCard`: reads an agent's card from where it comes from again, for who may write the agent. */
export const refreshCard: RpcMethod = async (params, caller, ...asking) => {
  const [request, env, ctx] = asking
  const bearer = await requireAnyAgent(request, 'write', env, ctx, caller)
  const sees = (id: string) => hasPermission(bearer, 'write', id) || hasPermission(bearer, 'read', id)
  const addressee = await namedAgent(params, sees, ...asking)
  if ('refused' in addressee) return { problem: addressee }
  const { id, named } = addressee
  const unknown = { problem: { refused: 'unknown-agent', agent: named } } as const
  if (id === '') return unknown
  if (!hasPermission(bearer, 'write', id)) {
    const profile = await readProfile(id, env, ctx)
    const isSeen = profile !== null && (profile.visibility === 'public' || hasPermission(bearer, 'read', id))
    return isSeen ? { agent: id, problem: insufficientScope(bearer, 'write', id) } : unknown
  }
  const { refreshAgent } = await import('../../sources/refresh.ts')
  const refreshed = await refreshAgent(id, { force: true }, env, ctx)
  if (refreshed.outcome === 'failed')
    return { agent: id, problem: { failed: 'source', agent: id, failure: refreshed.failure } }
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
  if (outcome !== 'held') return { refreshed: outcome === 'unchanged', outcome }
  const { etag, widens, drift } = came.held
  return {
    refreshed: false,
    outcome,
    held: { etag, widens: widens.map(each => ({ ...each })), drift: drift.map(each => ({ ...each })) },
  }
}

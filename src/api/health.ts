import { isAdminTokenMissing } from '../auth/token.ts'
import type { Handler } from '../http/handler.ts'
import { jsonResponse } from '../http/responses.ts'
import { readRegistryHealth } from '../registry/edge/health.ts'
import { VERSION } from '../version.ts'

/**
 * `GET /health`: the version of this host, and what its owner should know: whether the Registry responds, what is not published, how
 * old the oldest stale card is, and which secrets are missing. Anyone may read it, so it names no agent.
 */
export const getHealth: Handler = async (request, env, ctx) => {
  const health = await readRegistryHealth(env, ctx)
  const isReachable = health !== 'unreachable'
  const { unpublished, oldestStaleCard } = isReachable ? health : { unpublished: null, oldestStaleCard: null }
  const missing = isAdminTokenMissing(request, env) ? ['ADMIN_TOKEN'] : []
  const isOk = unpublished === 0 && oldestStaleCard === null && missing.length === 0
  const body = {
    service: 'calling-card',
    version: VERSION,
    status: isOk ? 'ok' : 'degraded',
    registry: isReachable ? 'reachable' : 'unreachable',
    unpublished,
    oldestStaleCard: oldestStaleCard === null ? null : new Date(oldestStaleCard).toISOString(),
    missing,
  }
  return jsonResponse(body, isReachable ? 200 : 503, isReachable ? {} : { 'Retry-After': '10' })
}

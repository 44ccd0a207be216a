import { authenticate, countUnrecognized, isAdmin } from '../auth/index.ts'
import { config } from '../config.ts'
import { findMissingBindings } from '../http/index.ts'
import { readHealth, readUpstreamBindings } from '../registry/edge/index.ts'
import { readWebhookKeys } from '../registry/events/index.ts'
import { VERSION } from '../version.ts'
import { endpoint, json } from './contract/index.ts'
import { Health, toTime } from './schemas/index.ts'

/** `GET /health`: what the owner should know. Names no agent, and secrets of manifests to administrators only. */
export const getHealth = endpoint(
  {
    tag: 'documents',
    summary: 'Get the state of the host',
    access: 'public',
    responses: {
      200: json('The state.', Health),
      503: json('The state while the Registry is unreachable.', Health),
    },
  },
  async ({ request, env, ctx }) => {
    const health = await readHealth(env, ctx)
    const isReachable = health !== 'unreachable'
    const { unpublished, oldestStaleCard, webhook } = isReachable
      ? health
      : { unpublished: null, oldestStaleCard: null, webhook: null }
    const caller = await authenticate(request, env, ctx)
    // Nobody is refused here, but administrators read more, so unknown credentials are a guess.
    await countUnrecognized(caller, request, env)
    const { adminToken, webhookUrl, issues: misconfigured } = config(env)
    const upstreams = isReachable && isAdmin(caller) ? await readUpstreamBindings(env, ctx) : []
    const bindings = upstreams.flatMap(upstream => findMissingBindings(upstream, env, config(env)))
    const missing = [
      ...(adminToken === undefined ? ['ADMIN_TOKEN'] : []),
      ...(webhookUrl !== undefined && !readWebhookKeys(env.WEBHOOK_SECRET) ? ['WEBHOOK_SECRET'] : []),
      ...new Set(bindings.map(({ name }) => name)),
    ]
    const isDelivered = webhook === null || (webhook.pending !== null && webhook.failingSince === null)
    const isOk =
      unpublished === 0 && oldestStaleCard === null && isDelivered && missing.length + misconfigured.length === 0
    const body = {
      service: 'calling-card',
      version: VERSION,
      status: isOk ? 'ok' : 'degraded',
      registry: isReachable ? 'reachable' : 'unreachable',
      unpublished,
      oldestStaleCard: toIso(oldestStaleCard),
      webhook: webhook && { ...webhook, failingSince: toIso(webhook.failingSince) },
      missing,
      misconfigured,
    } as const
    return isReachable ? { status: 200, body } : { status: 503, body, headers: { 'Retry-After': '10' } }
  },
)

const toIso = (time: number | null): string | null => (time === null ? null : toTime(time))

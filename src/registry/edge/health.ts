import { log } from '../../http/log.ts'
import type { RegistryHealth, WebhookHealth } from '../records.ts'
import { getRegistry } from '../store/client.ts'
import { KvCache } from './kv-cache.ts'

/** How long the Registry has to respond. Monitors wait 10 seconds, as a rule. */
const TIMEOUT_MS = 4_000

/** The state of the Registry and of the webhook, which is null without one. */
export type HostHealth = RegistryHealth & { webhook: WebhookHealth | null }

/** Keeps the last result in memory, so that nobody can load the Registry by asking often. It has one entry. */
const results = new KvCache<HostHealth | 'unreachable'>(1, () => 1)

/** Returns the state of the host, at most half a minute old. Never rejects. */
export const readHealth = async (env: Env, ctx: ExecutionContext): Promise<HostHealth | 'unreachable'> => {
  const read = async () => ({ value: await loadHealth(env), seq: 0 })
  return results.getFresh('') ?? (await results.fetch('', read, ctx)) ?? 'unreachable'
}

const loadHealth = async (env: Env): Promise<HostHealth | 'unreachable'> => {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(new Error(`no response after ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
  try {
    const [registry, webhook] = await Promise.race([
      Promise.all([getRegistry(env).health(), loadWebhook(env)]),
      timeout.promise,
    ])
    return { ...registry, webhook }
  } catch (error) {
    log('error', 'registry-unavailable', { 'exception.message': String(error) })
    return 'unreachable'
  } finally {
    clearTimeout(timer)
  }
}

/** The Registry may be well while the object that delivers to the webhook is not. */
const loadWebhook = async (env: Env): Promise<WebhookHealth | null> => {
  if (!env.WEBHOOK_URL) return null
  try {
    return await env.EVENTS.getByName('default').health()
  } catch (error) {
    log('error', 'webhook-failed', {
      'calling_card.detail': 'its state is unknown',
      'exception.message': String(error),
    })
    return { pending: null, failingSince: null }
  }
}

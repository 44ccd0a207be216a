import { config } from '../../config.ts'
import { log } from '../../http/index.ts'
import type { WebhookHealth } from '../events/index.ts'
import { getRegistry, type RegistryHealth } from '../store/index.ts'
import { KvCache } from './kv-cache.ts'

export type { CallEnd } from './call-outcome.ts'
export * from './observed-calls.ts'
export * from './start.ts'
export { cacheReceipt, cacheRegistered, cacheRemoved, purgeLists, readReceipt } from './write-through.ts'

/** The time that the Registry has to respond. Monitors wait 10 seconds, as a rule. */
const TIMEOUT_MS = 4_000

/** The state of the Registry and of the webhook, which is null without one. */
type HostHealth = RegistryHealth & { webhook: WebhookHealth | null }

/** Keeps the last result in memory, so that nobody can load the Registry by asking often. */
const keepResult = <Value>(load: (env: Env) => Promise<Value>) =>
  new KvCache<Value>(
    1,
    () => 1,
    (_, env) => load(env),
  )

const hostHealth = keepResult<HostHealth | 'unreachable'>(async env => {
  const loaded = await withTimeout(Promise.all([getRegistry(env).health(), loadWebhook(env)]))
  return loaded ? { ...loaded[0], webhook: loaded[1] } : 'unreachable'
})

/** Returns the state of the host, at most half a minute old. Never rejects. */
export const readHealth = async (env: Env, ctx: ExecutionContext): Promise<HostHealth | 'unreachable'> =>
  (await hostHealth.get('', env, ctx)) ?? 'unreachable'

const bindings = keepResult(async env => (await withTimeout(getRegistry(env).upstreamBindings())) ?? [])

/** Returns the secrets and bindings that manifests name, at most half a minute old; none if unknown. Never rejects. */
export const readUpstreamBindings = async (env: Env, ctx: ExecutionContext) => (await bindings.get('', env, ctx)) ?? []

/** Returns what the Registry responds; undefined, after a line in the log, if it does not respond in time. */
const withTimeout = async <Value>(work: Promise<Value>): Promise<Value | undefined> => {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(new Error(`no response after ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
  try {
    return await Promise.race([work, timeout.promise])
  } catch (error) {
    log('error', 'registry-unavailable', { 'exception.message': String(error) })
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/** The Registry may be well while the object that delivers to the webhook is not. */
const loadWebhook = async (env: Env): Promise<WebhookHealth | null> => {
  if (config(env).webhookUrl === undefined) return null
  try {
    return await env.EVENTS.getByName('default').health()
  } catch (error) {
    const detail = { 'calling_card.detail': 'its state is unknown', 'exception.message': String(error) }
    log('error', 'webhook-failed', detail)
    return { pending: null, failingSince: null }
  }
}

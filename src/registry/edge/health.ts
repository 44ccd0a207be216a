import { log } from '../../http/log.ts'
import type { RegistryHealth } from '../records.ts'
import { getRegistry } from '../store/client.ts'
import { KvCache } from './kv-cache.ts'

/** How long the Registry has to respond. Monitors wait 10 seconds, as a rule. */
const TIMEOUT_MS = 4_000

/** Keeps the last result in memory, so that nobody can load the Registry by asking often. It has one entry. */
const results = new KvCache<RegistryHealth | 'unreachable'>(1, () => 1)

/** Returns the state of the Registry, at most half a minute old. Never rejects. */
export const readRegistryHealth = async (env: Env, ctx: ExecutionContext): Promise<RegistryHealth | 'unreachable'> => {
  const read = async () => ({ value: await loadHealth(env), seq: 0 })
  return results.getFresh('') ?? (await results.fetch('', read, ctx)) ?? 'unreachable'
}

const loadHealth = async (env: Env): Promise<RegistryHealth | 'unreachable'> => {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(new Error(`no response after ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
  try {
    return await Promise.race([getRegistry(env).health(), timeout.promise])
  } catch (error) {
    log('error', 'registry-unavailable', { 'exception.message': String(error) })
    return 'unreachable'
  } finally {
    clearTimeout(timer)
  }
}

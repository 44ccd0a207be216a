import { hostKey } from '../keys.ts'
import { KvCache, kvCacheSeconds, type Versioned } from './kv-cache.ts'

const entryOverhead = 200

const hosts = new KvCache<string>(1024 * 1024, (hostname, id) => entryOverhead + hostname.length + (id?.length ?? 0))

/** The agent that a host name stands for: the one that claims it, else the root agent; undefined where there is none. */
export const resolveHost = async (hostname: string, env: Env, ctx: ExecutionContext): Promise<string | undefined> =>
  (await claimant(hostname, env, ctx)) ?? (env.ROOT_AGENT || undefined) ?? (await claimant('*', env, ctx)) ?? undefined

/** The same, as far as this isolate knows without asking; undefined where it does not, or there is none. */
export const getCachedHost = (hostname: string, env: Env): string | undefined => {
  const id = hosts.getFresh(hostname)
  return (id === null ? env.ROOT_AGENT || hosts.getFresh('*') : id) ?? undefined
}

/** Makes a claim, or its end, visible in this isolate at once. */
export const cacheHost = (hostname: string, claim: Versioned<string>): void => {
  hosts.put(hostname, claim)
}

const claimant = async (hostname: string, env: Env, ctx: ExecutionContext): Promise<string | null> => {
  const held = hosts.getFresh(hostname)
  return held === undefined ? hosts.fetch(hostname, () => loadClaim(hostname, env), ctx) : held
}

/** An empty value says that nobody holds the name any more. */
const loadClaim = async (hostname: string, env: Env): Promise<Versioned<string>> => {
  const options = { type: 'text', cacheTtl: kvCacheSeconds } as const
  const { value, metadata } = await env.CARDS.getWithMetadata<{ seq: number }>(hostKey(hostname), options)
  return { value: value || null, seq: metadata?.seq ?? 0 }
}

import { hostKey } from '../keys.ts'
import { EdgeMemory, type Fact, kvCacheSeconds } from './kv-cache.ts'

const entryOverhead = 200

const hosts = new EdgeMemory<string>(1024 * 1024, (hostname, id) => entryOverhead + hostname.length + (id?.length ?? 0))

/** The agent that a host name stands for: the one that claims it, else the root agent; undefined where there is none. */
export const agentOfHost = async (hostname: string, env: Env, ctx: ExecutionContext): Promise<string | undefined> =>
  (await claimant(hostname, env, ctx)) ?? (env.ROOT_AGENT || undefined) ?? (await claimant('*', env, ctx)) ?? undefined

/** The same, as far as this isolate knows without asking; undefined where it does not, or there is none. */
export const heldAgentOfHost = (hostname: string, env: Env): string | undefined => {
  const id = hosts.held(hostname)
  return (id === null ? env.ROOT_AGENT || hosts.held('*') : id) ?? undefined
}

/** Makes a claim, or its end, visible in this isolate at once. */
export const rememberHost = (hostname: string, claim: Fact<string>): void => {
  hosts.learn(hostname, claim)
}

const claimant = async (hostname: string, env: Env, ctx: ExecutionContext): Promise<string | null> => {
  const held = hosts.held(hostname)
  return held === undefined ? hosts.get(hostname, () => loadClaim(hostname, env), ctx) : held
}

/** An empty value says that nobody holds the name any more. */
const loadClaim = async (hostname: string, env: Env): Promise<Fact<string>> => {
  const options = { type: 'text', cacheTtl: kvCacheSeconds } as const
  const { value, metadata } = await env.CARDS.getWithMetadata<{ seq: number }>(hostKey(hostname), options)
  return { value: value || null, seq: metadata?.seq ?? 0 }
}

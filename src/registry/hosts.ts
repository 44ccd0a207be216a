import { Memory } from './memory.ts'

/** As for cards: memory and KV's edge cache together keep a name for a minute at most. */
const memoryMilliseconds = 30_000
const kvCacheSeconds = 30
const entryOverhead = 128

type Known = { id: string | null; expires: number; size: number }

const memory = new Memory<Known>(1024 * 1024)

/** The agent that a host name stands for: the one that claims it, else the root agent; undefined where there is none. */
export const agentOfHost = async (hostname: string, env: Env): Promise<string | undefined> =>
  (await claimant(hostname, env)) ?? (env.ROOT_AGENT || undefined) ?? (await claimant('*', env)) ?? undefined

/** The same, as far as this isolate knows without asking; undefined where it does not, or there is none. */
export const heldAgentOfHost = (hostname: string, env: Env): string | undefined => {
  const id = held(hostname)
  return (id === null ? env.ROOT_AGENT || held('*') : id) ?? undefined
}

/** Makes a claim, or its end, visible in this isolate at once. */
export const rememberHost = (hostname: string, id: string | null): void =>
  memory.set(hostname, {
    id,
    expires: Date.now() + memoryMilliseconds,
    size: entryOverhead + hostname.length + (id?.length ?? 0),
  })

const held = (hostname: string): string | null | undefined => {
  const known = memory.get(hostname)
  return known && known.expires > Date.now() ? known.id : undefined
}

const claimant = async (hostname: string, env: Env): Promise<string | null> => {
  const known = held(hostname)
  if (known !== undefined) return known
  const id = await env.CARDS.get(`host:${hostname}`, { cacheTtl: kvCacheSeconds })
  rememberHost(hostname, id)
  return id
}

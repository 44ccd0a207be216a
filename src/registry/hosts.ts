import { Memory } from './memory.ts'

/** As for cards: memory and KV's edge cache together keep a name for a minute at most. */
const memoryMilliseconds = 30_000
const kvCacheSeconds = 30
const entryOverhead = 128

const memory = new Memory<string | null>(1024 * 1024)

/** The agent that a host name stands for: the one that claims it, else the root agent; undefined where there is none. */
export const agentOfHost = async (hostname: string, env: Env): Promise<string | undefined> =>
  (await claimant(hostname, env)) ?? (env.ROOT_AGENT || undefined) ?? (await claimant('*', env)) ?? undefined

/** Makes a claim, or its end, visible in this isolate at once. */
export const rememberHost = (hostname: string, id: string | null): void =>
  memory.set(hostname, {
    value: id,
    expires: Date.now() + memoryMilliseconds,
    bytes: entryOverhead + 2 * (hostname.length + (id?.length ?? 0)),
  })

const claimant = async (hostname: string, env: Env): Promise<string | null> => {
  const held = memory.get(hostname)
  if (held && held.expires > Date.now()) return held.value
  const id = await env.CARDS.get(`host:${hostname}`, { cacheTtl: kvCacheSeconds })
  rememberHost(hostname, id)
  return id
}

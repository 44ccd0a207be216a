import { config } from '../../config.ts'
import { MAX_NAME_LENGTH } from '../../limits.ts'
import { hostKey, readText, tokenKey } from '../kv-format.ts'
import { getRegistry } from '../store/index.ts'
import type { NamedAgents } from '../tables/index.ts'
import type { TokenRecord } from '../token-record.ts'
import { KvCache, type Versioned } from './kv-cache.ts'

/** The approximate size of each cache below. The overhead of an entry is that of the objects around its text. */
const CACHE_BYTES = 1024 * 1024
const HOST_OVERHEAD = 200
const TOKEN_OVERHEAD = 400
const NAME_OVERHEAD = 1000

const hosts = new KvCache<string>(CACHE_BYTES, (hostname, id) => HOST_OVERHEAD + hostname.length + (id?.length ?? 0))

/** Includes hashes that belong to no token, so that repeated guesses cost KV nothing. */
const tokens = new KvCache<TokenRecord>(
  CACHE_BYTES,
  (hash, record) => TOKEN_OVERHEAD + hash.length + (record ? 2 * JSON.stringify(record).length : 0),
)

const names = new KvCache<NamedAgents>(CACHE_BYTES, name => NAME_OVERHEAD + 2 * name.length)

/** Returns the agent that a host name stands for: the one that claims it, else the root agent; undefined for none. */
export const findAgentByHost = async (hostname: string, env: Env, ctx: ExecutionContext): Promise<string | undefined> =>
  (await readHost(hostname, env, ctx)) ?? config(env).rootAgent ?? (await readHost('*', env, ctx)) ?? undefined

/** Returns the agent that claims a host name itself; undefined for none. */
export const findHostOwner = async (hostname: string, env: Env, ctx: ExecutionContext): Promise<string | undefined> =>
  (await readHost(hostname, env, ctx)) ?? undefined

/** Makes a change of a host name's owner visible in this isolate at once. */
export const cacheHost = (hostname: string, owner: Versioned<string>): void => {
  hosts.put(hostname, owner)
}

/** Returns the record of a token by the SHA-256 of its text in hexadecimal; null if unknown, revoked or expired. */
export const readToken = async (hash: string, env: Env, ctx: ExecutionContext): Promise<TokenRecord | null> => {
  const cached = tokens.getFresh(hash)
  const record =
    cached === undefined ? await tokens.fetch(hash, () => readText(tokenKey(hash), env, parseToken), ctx) : cached
  return record === null || hasExpired(record) ? null : record
}

/** Makes a new token, or null for a revoked one, visible in this isolate at once. */
export const cacheToken = (hash: string, record: TokenRecord | null, seq: number): void => {
  tokens.put(hash, { value: record, seq })
}

const noAgents: NamedAgents = { public: null, internal: [] }

/** Returns the agents of a name or an id, in any case, from memory; undefined: call `findByName`. */
export const getCachedByName = (name: string): NamedAgents | undefined =>
  name.length > MAX_NAME_LENGTH ? noAgents : (names.getFresh(toLowerCase(name)) ?? undefined)

/** Returns the same, read from the Registry where needed: few clients call agents by name, so KV has no names. */
export const findByName = async (name: string, env: Env, ctx: ExecutionContext): Promise<NamedAgents> => {
  const cached = getCachedByName(name)
  if (cached !== undefined) return cached
  const key = toLowerCase(name)
  const read = async () => ({ value: await getRegistry(env).namedAgents(key), seq: 0 })
  return (await names.fetch(key, read, ctx)) ?? noAgents
}

const readHost = async (hostname: string, env: Env, ctx: ExecutionContext): Promise<string | null> => {
  const cached = hosts.getFresh(hostname)
  return cached === undefined ? hosts.fetch(hostname, () => readText(hostKey(hostname), env, String), ctx) : cached
}

const parseToken = (text: string): TokenRecord => JSON.parse(text)

const hasExpired = ({ expires }: TokenRecord): boolean => expires !== null && expires <= Date.now()

/** Lowers ASCII letters only, as SQLite's lower() does. */
const toLowerCase = (name: string): string => name.replace(/[A-Z]/g, letter => letter.toLowerCase())

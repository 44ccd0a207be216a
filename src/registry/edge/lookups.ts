import { config } from '../../config.ts'
import { MAX_NAME_LENGTH } from '../../limits.ts'
import { getRegistry } from '../store/index.ts'
import type { NamedAgents } from '../tables/index.ts'
import type { TokenRecord } from '../token-record.ts'
import { KvCache, textSource, type Versioned } from './kv-cache.ts'

/** The approximate size of each cache below. The overhead of an entry is that of the objects around its text. */
const CACHE_BYTES = 1024 * 1024
const HOST_OVERHEAD = 200
const TOKEN_OVERHEAD = 400
const NAME_OVERHEAD = 1000

const hosts = new KvCache<string>(
  CACHE_BYTES,
  (hostname, id) => HOST_OVERHEAD + hostname.length + (id?.length ?? 0),
  textSource('host', String),
)

/** Includes hashes that belong to no token, so that repeated guesses cost KV nothing. */
const tokens = new KvCache<TokenRecord>(
  CACHE_BYTES,
  (hash, record) => TOKEN_OVERHEAD + hash.length + (record ? 2 * JSON.stringify(record).length : 0),
  textSource('token', text => JSON.parse(text) as TokenRecord),
)

/** Read from the Registry: few clients call agents by name, so KV has no names. */
const names = new KvCache<NamedAgents>(
  CACHE_BYTES,
  name => NAME_OVERHEAD + 2 * name.length,
  async (name, env) => getRegistry(env).namedAgents(name),
)

/** Returns the agent that a host name stands for: the one that claims it, else the root agent; undefined for none. */
export const findAgentByHost = async (hostname: string, env: Env, ctx: ExecutionContext): Promise<string | undefined> =>
  (await hosts.get(hostname, env, ctx)) ?? config(env).rootAgent ?? (await hosts.get('*', env, ctx)) ?? undefined

/** Returns the agent that claims a host name itself; undefined for none. */
export const findHostOwner = async (hostname: string, env: Env, ctx: ExecutionContext): Promise<string | undefined> =>
  (await hosts.get(hostname, env, ctx)) ?? undefined

/** Makes a change of a host name's owner visible in this isolate at once. */
export const cacheHost = (hostname: string, owner: Versioned<string>): void => {
  hosts.put(hostname, owner)
}

/** Returns the record of a token by the SHA-256 of its text in hexadecimal; null if unknown, revoked or expired. */
export const readToken = async (hash: string, env: Env, ctx: ExecutionContext): Promise<TokenRecord | null> => {
  const record = await tokens.get(hash, env, ctx)
  return record === null || hasExpired(record) ? null : record
}

/** Returns the same from memory; undefined if it is not known, or not fresh: call `readToken`. */
export const getCachedToken = (hash: string): TokenRecord | null | undefined => {
  const record = tokens.getFresh(hash)
  return record && hasExpired(record) ? null : record
}

/** Makes a new token, or null for a revoked one, visible in this isolate at once. */
export const cacheToken = (hash: string, record: TokenRecord | null, seq: number): void => {
  tokens.put(hash, { value: record, seq })
}

const noAgents: NamedAgents = { public: null, internal: [] }

/** Returns the agents of a name or an id, in any case. */
export const findByName = async (name: string, env: Env, ctx: ExecutionContext): Promise<NamedAgents> =>
  (name.length > MAX_NAME_LENGTH ? null : await names.get(toLowerCase(name), env, ctx)) ?? noAgents

const hasExpired = ({ expires }: TokenRecord): boolean => expires !== null && expires <= Date.now()

/** Lowers ASCII letters only, as SQLite's lower() does. */
const toLowerCase = (name: string): string => name.replace(/[A-Z]/g, letter => letter.toLowerCase())

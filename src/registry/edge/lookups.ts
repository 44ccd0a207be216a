import { hostKey, kvCacheSeconds, tokenKey } from '../kv-format.ts'
import type { TokenRecord } from '../records.ts'
import type { NamedAgents } from '../store/agents.ts'
import { getRegistry } from '../store/client.ts'
import { KvCache, type Versioned } from './kv-cache.ts'

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

/** What an entry takes besides its text: the objects around it. */
const tokenOverhead = 400

/** Of tokens that are none, as well: a guess that comes again costs KV nothing. */
const tokens = new KvCache<TokenRecord>(
  1024 * 1024,
  (hash, record) => tokenOverhead + hash.length + (record ? 2 * JSON.stringify(record).length : 0),
)

/** What a token lets its bearer do, by the SHA-256 of its whole text in hexadecimal; null where it holds no more, or is none. */
export const readToken = async (hash: string, env: Env, ctx: ExecutionContext): Promise<TokenRecord | null> => {
  const held = tokens.getFresh(hash)
  const record = held === undefined ? await tokens.fetch(hash, () => loadToken(hash, env), ctx) : held
  return record === null || isExpired(record) ? null : record
}

/** Makes a token, or its end, visible in this isolate at once. */
export const cacheToken = (hash: string, record: TokenRecord | null, seq: number): void => {
  tokens.put(hash, { value: record, seq })
}

const isExpired = ({ expires }: TokenRecord): boolean => expires !== null && expires <= Date.now()

/** An empty value says that the token was revoked. */
const loadToken = async (hash: string, env: Env) => {
  const options = { type: 'text', cacheTtl: kvCacheSeconds } as const
  const { value, metadata } = await env.CARDS.getWithMetadata<{ seq: number }>(tokenKey(hash), options)
  return { value: value ? (JSON.parse(value) as TokenRecord) : null, seq: metadata?.seq ?? 0 }
}

/** The longest name that is looked for, in characters. */
const most = 200

const nobody: NamedAgents = { open: null, internal: [] }

const names = new KvCache<NamedAgents>(1024 * 1024, name => 1000 + 2 * name.length)

/** The agents of a name or an id, whatever its case, as this isolate knows them; undefined: ask `readNamed`. */
export const getCachedByName = (name: string): NamedAgents | undefined => {
  const key = keyOf(name)
  return key.length > most ? nobody : (names.getFresh(key) ?? undefined)
}

/** The same, asked of the Registry where need be, and remembered: calls by name come from Shaman's and SuperX's clients alone. */
export const findByName = async (name: string, env: Env, ctx: ExecutionContext): Promise<NamedAgents> => {
  const key = keyOf(name)
  const read = async () => ({ value: await getRegistry(env).namedAgents(key), seq: 0 })
  return getCachedByName(name) ?? (await names.fetch(key, read, ctx)) ?? nobody
}

/** As SQLite's lower() does it: ASCII alone. */
const keyOf = (name: string): string => name.replace(/[A-Z]/g, letter => letter.toLowerCase())

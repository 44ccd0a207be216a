import { tokenKey } from '../keys.ts'
import type { TokenRecord } from '../token-record.ts'
import { KvCache, kvCacheSeconds } from './kv-cache.ts'

/** What an entry takes besides its text: the objects around it. */
const entryOverhead = 400

/** Of tokens that are none, as well: a guess that comes again costs KV nothing. */
const tokens = new KvCache<TokenRecord>(
  1024 * 1024,
  (hash, record) => entryOverhead + hash.length + (record ? 2 * JSON.stringify(record).length : 0),
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

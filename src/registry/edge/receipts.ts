import type { StoredReceipt } from '../../card/model/index.ts'
import { KvCache, textSource } from './kv-cache.ts'

const CACHE_BYTES = 2 * 1024 * 1024
const OVERHEAD = 300
/** The memory of a parsed receipt, relative to that of its text. */
const PARSED_FACTOR = 3

const receipts = new KvCache<StoredReceipt>(
  CACHE_BYTES,
  (id, _, length) => OVERHEAD + id.length + PARSED_FACTOR * length,
  textSource('receipt', text => JSON.parse(text) as StoredReceipt),
)

/** Returns the newest receipt of an agent from memory or KV; null for none. Does not check the caller. */
export const readReceipt = async (id: string, env: Env, ctx: ExecutionContext): Promise<StoredReceipt | null> =>
  receipts.get(id, env, ctx)

/** Makes a new receipt visible in this isolate at once; or with null, that an agent is removed, and its receipt. */
export const cacheReceipt = (id: string, stored: StoredReceipt | null): void => {
  const seq = stored ? Date.parse(stored.receipt.checked) : Date.now()
  receipts.put(id, { value: stored, seq, length: stored ? JSON.stringify(stored).length : 0 })
}

import type { StoredReceipt } from '../../card/model/index.ts'
import { KV_CACHE_SECONDS, receiptKey } from '../kv-format.ts'
import { KvCache } from './kv-cache.ts'

const CACHE_BYTES = 2 * 1024 * 1024
const OVERHEAD = 300
/** The memory of a parsed receipt, relative to that of its text. */
const PARSED_FACTOR = 3

const receipts = new KvCache<{ stored: StoredReceipt; size: number }>(
  CACHE_BYTES,
  (id, receipt) => OVERHEAD + id.length + PARSED_FACTOR * (receipt?.size ?? 0),
)

/** Returns the newest receipt of an agent from memory or KV; null for none. Whether the caller may see the agent is not checked. */
export const readReceipt = async (id: string, env: Env, ctx: ExecutionContext): Promise<StoredReceipt | null> => {
  const cached = receipts.getFresh(id)
  const receipt = cached === undefined ? await receipts.fetch(id, () => loadReceipt(id, env), ctx) : cached
  return receipt?.stored ?? null
}

/** Makes a new receipt visible in this isolate at once. */
export const cacheReceipt = (id: string, stored: StoredReceipt): void => {
  const size = JSON.stringify(stored).length
  receipts.put(id, { value: { stored, size }, seq: Date.parse(stored.receipt.checked) })
}

/** Makes it visible in this isolate at once that an agent is removed, and its receipt with it. */
export const forgetReceipt = (id: string): void => {
  receipts.put(id, { value: null, seq: Date.now() })
}

/** An empty value marks the receipt of a removed agent. */
const loadReceipt = async (id: string, env: Env) => {
  const { value, metadata } = await env.CARDS.getWithMetadata<{ seq: number }>(receiptKey(id), {
    type: 'text',
    cacheTtl: KV_CACHE_SECONDS,
  })
  const parsed = value ? { stored: JSON.parse(value) as StoredReceipt, size: value.length } : null
  return { value: parsed, seq: metadata?.seq ?? 0 }
}

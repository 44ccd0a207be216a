import type { StoredReceipt } from '../../card/model/index.ts'
import { log } from '../../http/index.ts'
import { publicTier, toAgentEnvelope, toEnvelope } from '../documents.ts'
import type { Registration } from '../prepare.ts'
import type { Registered, Removed } from '../store/index.ts'
import type { HostChange } from '../tables/index.ts'
import { cacheEnvelope, cacheExtended } from './document-cache.ts'
import { KvCache, textSource } from './kv-cache.ts'
import { cacheHost } from './lookups.ts'

/** Makes a registration visible in this isolate at once, to readers of the card and to callers of the agent. */
export const cacheRegistered = (registration: Registration, registered: Registered): void => {
  const { id, cards } = registration
  const { publishedSeq: seq, modified, health: source, removedTiers, changed } = registered
  const published = { seq, modified, source }
  const publicCard = cards.find(({ tier }) => tier === publicTier)
  cacheEnvelope(id, toAgentEnvelope({ ...registration, ...published }, publicCard))
  for (const card of cards) if (card !== publicCard) cacheExtended(id, card.tier, toEnvelope(published, card))
  for (const tier of removedTiers) cacheExtended(id, tier, emptyEnvelope(seq))
  cacheHosts(changed)
}

/** Makes a removal visible in this isolate at once. */
export const cacheRemoved = (id: string, { seq, removedTiers, changed }: Removed): void => {
  const gone = emptyEnvelope(seq)
  cacheEnvelope(id, gone)
  for (const tier of removedTiers) cacheExtended(id, tier, gone)
  cacheReceipt(id, null)
  cacheHosts(changed)
}

/** Purges the cached public lists, so that the next readers see the last write. */
export const purgeLists = (ctx: Pick<ExecutionContext, 'waitUntil' | 'exports'>): void =>
  ctx.waitUntil(
    ctx.exports
      .Catalog({ props: {} })
      .purge()
      .catch((error: unknown) => log('error', 'purge-failed', { 'exception.message': String(error) })),
  )

const cacheHosts = (changes: readonly HostChange[]): void => {
  for (const { hostname, id, seq } of changes) cacheHost(hostname, { value: id, seq })
}

const emptyEnvelope = (seq: number) => ({ seq, modified: '', representations: {} })

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

import { log } from '../../http/index.ts'
import { publicTier, toAgentEnvelope, toEnvelope } from '../documents.ts'
import type { Registration } from '../prepare.ts'
import type { Registered, Removed } from '../store/index.ts'
import type { HostChange } from '../tables/index.ts'
import { cacheEnvelope, cacheExtended } from './document-cache.ts'
import { cacheHost } from './lookups.ts'
import { cacheReceipt } from './receipts.ts'

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

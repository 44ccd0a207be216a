import { log } from '../../http/index.ts'
import type { Registration } from '../prepare.ts'
import type { Registered, Removed } from '../store/index.ts'
import type { HostChange } from '../tables/index.ts'
import { cacheEnvelope, cacheExtended } from './document-cache.ts'
import { cacheHost } from './lookups.ts'
import { cacheReceipt } from './receipts.ts'

/** Makes a registration visible in this isolate at once, to readers of the card and to callers of the agent. */
export const cacheRegistered = (registration: Registration, registered: Registered): void => {
  const { id, visibility, representations, profile, extended } = registration
  const { publishedSeq: seq, publishedHealth, removedTiers, changed } = registered
  const modified = new Date(registered.modified).toUTCString()
  const source = publishedHealth && { source: publishedHealth.health }
  const isPublic = visibility === 'public'
  const documents = { ...(isPublic && representations), profile }
  cacheEnvelope(id, { seq, modified, representations: documents, ...(isPublic && source) })
  for (const { tier, representations } of extended)
    cacheExtended(id, tier, { seq, modified, representations, ...source })
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

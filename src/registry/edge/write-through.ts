import { log } from '../../http/log.ts'
import type { Registered, Registration, Removed, SourceState } from '../records.ts'
import { cacheEnvelope, cacheExtended, cacheProfile, putHealth } from './cards.ts'

/** Makes a registration visible in this isolate at once: to who reads a card of it, and to who calls the agent. */
export const cacheRegistered = (registration: Registration, registered: Registered): void => {
  const { id, visibility, representations, profile, extended } = registration
  const { told, tiersGone } = registered
  const seq = told?.seq ?? registered.seq
  const modified = new Date(registered.modified).toUTCString()
  const source = told && { source: told.health }
  const shown = visibility === 'public' && { ...source, representations: { ...representations, profile } }
  const written = { seq, modified, representations: { profile }, ...shown }
  cacheEnvelope(id, written)
  cacheProfile(id, written)
  for (const { tier, representations } of extended)
    cacheExtended(id, tier, { seq, modified, representations, ...source })
  forgetTiers(id, seq, tiersGone)
}

/** Makes a removal visible in this isolate at once. */
export const cacheRemoved = (id: string, { seq, tiersGone }: Removed): void => {
  cacheEnvelope(id, gone(seq))
  cacheProfile(id, gone(seq))
  forgetTiers(id, seq, tiersGone)
}

/** Makes what was learned of the source of a card visible in this isolate at once. */
export const cacheChecked = (id: string, { seq, told }: SourceState): void => putHealth(id, seq, told)

const forgetTiers = (id: string, seq: number, tiers: readonly string[]): void => {
  for (const tier of tiers) cacheExtended(id, tier, gone(seq))
}

const gone = (seq: number) => ({ seq, modified: '', representations: {} })

/** Makes the next reader of any public list see what was just written. */
export const purgeLists = (ctx: Pick<ExecutionContext, 'waitUntil' | 'exports'>): void =>
  ctx.waitUntil(
    ctx.exports
      .Catalog({ props: {} })
      .purge()
      .catch((error: unknown) => log('error', 'purge-failed', { error: String(error) })),
  )

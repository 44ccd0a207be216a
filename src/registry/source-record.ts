import type { Drift } from '../card/diff/drift.ts'
import type { Source } from '../card/manifest/source.ts'
import type { CardError, Note } from '../card/model/report.ts'
import type { SourceFailure } from './source-failure.ts'
import type { Validators } from './validators.ts'

/** What is kept of the source of an agent's card. */
export type SourceRecord = {
  source: Source
  /** The document as it was fetched, as JSON text; absent where there never was one. */
  card?: string
  validators?: Validators
  /** When that was last known to be what the source says, in ms since 1970. */
  checked?: number
  /** Why it could not be read the last time. */
  failure?: SourceFailure
  held?: PendingCard
  /** What of the source the card leaves out: told, and not kept. */
  notes?: Note[]
  /** What differs from what was fetched before. It is kept with the revision. */
  drift?: Drift
  /** Who made the newest revision: a registration of the manifest, or a refresh. */
  by: 'manifest' | 'fetch'
}

/**
 * A fetched card that widens access, kept until an owner accepts it. `card` is its JSON text, `drift` what differs from what is
 * served.
 */
export type PendingCard = { etag: string; card: string; validators: Validators; widens: CardError[]; drift: Drift }

/** The right to refresh a card, for a while, and all that it takes. */
export type Leased = {
  outcome: 'leased'
  /** By what the lease is given back. */
  lease: string
  /** The manifest as it was registered, as JSON text, and its entity tag. */
  manifest: string
  manifestEtag: string
  origin: string
  /** The agent's newest revision: the refresh is of that, and of no later one. */
  seq: number
  record: SourceRecord
}

/** Why there is nothing to refresh: not before `due` (ms since 1970), somebody is at it, or there is no agent with a source. */
export type NotLeased = { outcome: 'fresh'; due: number } | { outcome: 'busy' } | { outcome: 'none' }

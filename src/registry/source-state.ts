import type { Source } from '../card/manifest/source.ts'
import type { SourceFailure } from './source-failure.ts'
import type { PublishedHealth } from './source-health.ts'
import type { PendingCard } from './source-record.ts'

/** How the source of an agent's card stands, as its owner is told. Times are in ms since 1970. */
export type SourceState = Pick<Source, 'kind' | 'url' | 'ttl' | 'staleIfError' | 'pin'> & {
  /** When the card was last known to be the source's; absent where there never was one. */
  checked?: number
  /** From when it is asked again by itself. */
  due: number
  failing?: SourceFailure & { since: number }
  held?: Omit<PendingCard, 'card'>
  /** The `seq` of the agent's newest revision. */
  seq: number
  told: PublishedHealth
}

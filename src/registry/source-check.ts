import type { SourceFailure } from './source-failure.ts'
import type { PendingCard } from './source-record.ts'
import type { Validators } from './validators.ts'

/**
 * What came of a refresh that brought no new card to serve. `unchanged`: the card that is served is the source's (one that is
 * held is so no more). `held`: the source has another, which waits for its owner.
 */
export type RefreshResult =
  | { unchanged: true; validators?: Validators }
  | { failure: SourceFailure }
  | { held: PendingCard }

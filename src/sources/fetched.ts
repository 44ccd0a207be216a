import type { Note } from '../card/model/report.ts'
import type { JsonObject } from '../json/json.ts'
import type { SourceFailure } from '../registry/source-failure.ts'
import type { Validators } from '../registry/validators.ts'

/** What came of asking a source for its card. */
export type FetchResult =
  /** `notes`: what of the source the card leaves out. */
  | { card: JsonObject; validators: Validators; notes?: Note[] }
  /** The card that the validators stood for is still the one. */
  | { unchanged: true }
  /** `spent`: this run of the Worker may make no more requests, which says nothing of the source. */
  | { failure: SourceFailure; spent?: true }

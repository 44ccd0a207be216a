import type { Drift } from '../card/drift.ts'
import type { Source } from '../card/source.ts'
import type { SourceFailure, Validators } from '../sources/fetched.ts'
import type { Held } from './held.ts'

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
  held?: Held
  /** What differs from what was fetched before. It is kept with the revision. */
  drift?: Drift
  /** Who made the newest revision: a registration of the manifest, or a refresh. */
  by: 'manifest' | 'fetch'
}

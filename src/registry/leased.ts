import type { SourceRecord } from './source-record.ts'
import type { SourceState } from './source-state.ts'

/** The right to refresh a card, for a while, and all that it takes. */
export type Leased = {
  outcome: 'leased'
  /** The manifest as it was registered, as JSON text, and its entity tag. */
  manifest: string
  manifestEtag: string
  origin: string
  /** The agent's newest revision: the refresh is of that, and of no later one. */
  seq: number
  record: SourceRecord
}

/** Why there is nothing to refresh: it is not due yet, somebody is at it, or there is no agent with a source. */
export type NotLeased = { outcome: 'fresh' | 'busy'; state: SourceState } | { outcome: 'none' }

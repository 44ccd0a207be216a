import type { Drift } from '../card/drift.ts'

/** One revision of an agent as its history shows it; `created` in ms since 1970. */
export type RevisionRow = {
  seq: number
  created: number
  by: 'manifest' | 'fetch' | 'removal'
  /** What differs from what was fetched before, where that has changed. */
  drift?: Drift
}

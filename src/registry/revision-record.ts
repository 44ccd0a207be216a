import type { Drift } from '../card/diff/index.ts'
import type { ChangeClass } from '../card/model/index.ts'

/** One revision in an agent's history; `created` is in ms since 1970. */
export type RevisionRow = {
  seq: number
  created: number
  by: 'manifest' | 'fetch' | 'removal'
  /** `admin`, the id of a token, or `host` for a refresh by the host itself. */
  author: string
  /** The class of what changed for clients. */
  class?: ChangeClass
  /** The differences of the fetched document from the one before. */
  drift?: Drift
}

/**
 * One revision with what was registered and served, as JSON texts: the canonical card and those of the tiers, the base
 * tier first. A removal has neither, and no card is stored while a remote one has never been fetched.
 */
export type StoredRevision = RevisionRow & {
  origin?: string
  manifest?: string
  card?: string
  tiers: { tier: string; card: string }[]
  /** Signatures of this host in the documents of the newest revision, by their digests. */
  signatures?: Readonly<Record<string, string>>
}

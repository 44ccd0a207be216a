import type { SourceRecord } from './source-record.ts'

/**
 * What the edge knows of the source of a card. `checked`: when the card was known to be the source's, in ms since 1970, 0 for
 * never; while the source is well that may be long ago, as not every good word is passed on. `failing`: what a client is told
 * once the card is too old.
 */
export type SourceHealth = {
  checked: number
  /** In seconds. */
  ttl: number
  staleIfError: number
  failing?: 502 | 503 | 504
}

/** What the edge is told of a source, and the number of that: of the newest revision, or a later one. */
export type PublishedHealth = { seq: number; health: SourceHealth }

/** What of a source the edge is to know. */
export const healthOf = ({
  source: { ttl, staleIfError },
  checked = 0,
  failure,
}: Pick<SourceRecord, 'source' | 'checked' | 'failure'>): SourceHealth => ({
  checked,
  ttl,
  staleIfError,
  ...(failure && { failing: failure.status }),
})

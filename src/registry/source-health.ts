/**
 * What the edge knows of the source of a card: `checked`, in ms since 1970, when the card was known to be the source's, 0 for
 * never; and `failing`, what a client is told once the card is too old. While the source is well, `checked` may be of long ago:
 * not every good word is passed on.
 */
export type SourceHealth = {
  checked: number
  /** In seconds. */
  ttl: number
  staleIfError: number
  failing?: 502 | 503 | 504
}

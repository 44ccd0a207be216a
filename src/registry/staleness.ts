/**
 * What the edge knows of the upstream of a remote card. `checked` is when the card was last confirmed, in ms since 1970; 0 for
 * never. Successful checks are not republished, so it may be old while `failing` is unset. `failing` is the status that clients
 * get once the card has expired.
 */
export type SourceHealth = {
  checked: number
  /** In seconds. */
  ttl: number
  staleIfError: number
  failing?: 502 | 503 | 504
}

/** Whether the upstream fails and the card is older than its `ttl`. */
export const isStale = ({ failing, checked, ttl }: SourceHealth): boolean =>
  failing !== undefined && ageInSeconds(checked) > ttl

/** Whether the upstream has failed for so long that the card is no longer served. */
export const isExpired = ({ failing, checked, ttl, staleIfError }: SourceHealth): boolean =>
  failing !== undefined && ageInSeconds(checked) > ttl + staleIfError

/** Returns the header fields that mark a response as stale (RFC 9111 §5.1, RFC 7234 §5.5). */
export const staleHeaders = ({ checked }: SourceHealth): Record<string, string> => ({
  Age: String(ageInSeconds(checked)),
  Warning: '110 - "Response is Stale", 111 - "Revalidation Failed"',
})

const ageInSeconds = (checked: number): number => Math.floor((Date.now() - checked) / 1000)

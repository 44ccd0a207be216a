import type { SourceHealth } from './source-health.ts'

/** Whether a card's source fails, and the card is older than it counts as fresh. Nobody is told how old a card is that is well. */
export const isStale = ({ failing, checked, ttl }: SourceHealth): boolean =>
  failing !== undefined && ageOf(checked) > ttl

/** Whether a card's source has failed for so long that the card counts as gone. */
export const isExpired = ({ failing, checked, ttl, staleIfError }: SourceHealth): boolean =>
  failing !== undefined && ageOf(checked) > ttl + staleIfError

/** What is said of a card that is stale (RFC 9111 §5.1, RFC 7234 §5.5). */
export const staleHeaders = ({ checked }: SourceHealth): Record<string, string> => ({
  Age: String(ageOf(checked)),
  Warning: '110 - "Response is Stale", 111 - "Revalidation Failed"',
})

/** In whole seconds. */
const ageOf = (checked: number): number => Math.floor((Date.now() - checked) / 1000)

/**
 * How long a lease holds: longer than any refresh takes, so that it is taken again only of who died with it. The longest is an MCP
 * server's: 20 s to be asked in, 2 s for the end of each of two sessions, and what it takes to make, keep and publish the card.
 * In ms.
 */
export const leaseMilliseconds = 45_000

/** How long after a failure a source is asked again at first; each time that it fails again, twice as long. In seconds. */
const firstRetry = 60
/** How long at the most, unless its time to live is longer. */
const lastRetry = 3600

/** How much later than said some are asked, so that those that were registered together are not for ever asked together. */
const jitter = 0.1

/** When a source is to be asked again that has failed so many times in a row; in ms since 1970. */
export const nextRefreshAt = (ttl: number, failures: number, now: number): number => {
  const seconds = failures === 0 ? ttl : Math.min(Math.max(ttl, lastRetry), firstRetry * 2 ** (failures - 1))
  return Math.round(now + seconds * 1000 * (1 + jitter * Math.random()))
}

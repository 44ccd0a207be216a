type NetworkFailure = { failed: 'unreachable' } | { failed: 'timeout' }

const all = (failure: NetworkFailure, ...statuses: number[]): [number, NetworkFailure][] =>
  statuses.map(status => [status, failure])

/** What Cloudflare's network answers with a page of its own, where it does not get to a host or waits for it in vain. */
export const CLOUDFLARE_ERRORS: ReadonlyMap<number, NetworkFailure> = new Map([
  ...all({ failed: 'unreachable' }, 520, 521, 523, 525, 526, 530),
  ...all({ failed: 'timeout' }, 522, 524),
])

/** Whether a request failed because fetch, as browsers do, speaks to no host on that port, such as 6000 or 6667. */
export const isBadPort = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port'

/** What to tell of it. */
export const badPortText = (url: string): string =>
  `${new URL(url).port} is a port that neither fetch nor browsers speak to: choose another`

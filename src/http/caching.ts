/** What may be kept by nobody: errors, writes, and whatever was read with a token. */
export const NO_STORE = 'no-store'

/** What was read with a token: not for shared caches, nor for the disk. */
export const privateNoStore = 'private, no-store'

/** The freshness of public responses, as the owner configured it in seconds. */
export const publicCaching = (env: { CACHE_MAX_AGE?: string; CACHE_STALE_WHILE_REVALIDATE?: string }): string =>
  `public, max-age=${seconds(env.CACHE_MAX_AGE, 60)}, stale-while-revalidate=${seconds(env.CACHE_STALE_WHILE_REVALIDATE, 86400)}`

const seconds = (value: string | undefined, otherwise: number): string =>
  value !== undefined && /^\d{1,9}$/.test(value) ? value : String(otherwise)

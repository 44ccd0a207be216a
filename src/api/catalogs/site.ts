import type { CatalogAgent } from '../../registry/tables/index.ts'
import { choice, type QueryValues, text } from '../contract/index.ts'
import type { Site } from '../site.ts'

/**
 * One page of a catalog. `origin` is that of its own links; undefined while this host does not know under which name it
 * is public. It `isOwn` if the owner of the host has decided on it. `next` is the path of the next page.
 */
export type CatalogPage = Omit<Site, 'origin'> & { agents: CatalogAgent[]; origin?: string; next?: string }

/** Returns the site as a query for the cache, whose key has no host name. */
export const toQuery = ({ origin, isOwn, owner }: Site): Record<string, string> => ({
  origin,
  ...(isOwn && { own: 'true' }),
  ...(owner !== undefined && { owner }),
})

/** What `toQuery` writes. */
export const siteQuery = {
  origin: text('The origin of the site.'),
  own: choice('Whether the owner of the host has decided on the origin.', ['true']),
  owner: text('The agent that claims the host name.'),
} as const

/** Returns the site that `toQuery` wrote. */
export const toSite = ({ origin = '', own, owner }: QueryValues<typeof siteQuery>): Site => ({
  ...{ origin, isOwn: own !== undefined },
  ...(owner !== undefined && { owner }),
})

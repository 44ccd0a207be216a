import type { CatalogAgent } from '../../registry/tables/index.ts'
import type { Site } from '../site.ts'

/**
 * One page of a catalog. `origin` is that of its own links; undefined while this host does not know under which name it
 * is public. It `isOwn` if the owner of the host has decided on it. `next` is the path of the next page.
 */
export type CatalogPage = Omit<Site, 'origin'> & { agents: CatalogAgent[]; origin?: string; next?: string }

/** The query parameters that `toQuery` writes. */
export const SITE_PARAMETERS = ['origin', 'own', 'owner'] as const

/** Returns the site as a query for the cache, whose key has no host name. */
export const toQuery = ({ origin, isOwn, owner }: Site): Record<string, string> => ({
  origin,
  ...(isOwn && { own: '' }),
  ...(owner !== undefined && { owner }),
})

/** Returns the site that `toQuery` wrote. */
export const fromQuery = (query: URLSearchParams): Site => {
  const owner = query.get('owner')
  return { origin: query.get('origin') ?? '', isOwn: query.has('own'), ...(owner !== null && { owner }) }
}

import { config } from '../../config.ts'
import { isLocalName, type RequestContext, requestHostname } from '../../http/index.ts'
import { findHostOwner } from '../../registry/edge/index.ts'
import type { CatalogAgent } from '../../registry/tables/index.ts'
import { choice, type QueryValues, text } from '../contract/index.ts'

/**
 * The site that a catalog lists: the host name that the agent `owner` claims, else every public agent. Its links
 * begin with `origin` if that `isOwn`, or if an agent is registered with it; else the client may have made it up.
 */
export type Site = { origin: string; isOwn: boolean; owner?: string }

/**
 * One page of a catalog. `origin` is that of its own links; undefined while this host does not know under which name it
 * is public. It `isOwn` if the owner of the host has decided on it. `next` is the path of the next page.
 */
export type CatalogPage = Omit<Site, 'origin'> & { agents: CatalogAgent[]; origin?: string; next?: string }

/** Returns the site of a request: the host of `PUBLIC_URL`, a host name that an agent claims, or the whole host. */
export const resolveSite = async ({ request, env, ctx }: RequestContext): Promise<Site> => {
  const { origin } = new URL(request.url)
  const hostname = requestHostname(request)
  const { publicOrigin } = config(env)
  const whole = { origin: publicOrigin ?? origin, isOwn: publicOrigin !== undefined }
  if (publicOrigin !== undefined && new URL(publicOrigin).hostname === hostname) return whole
  const owner = await findHostOwner(hostname, env, ctx)
  if (owner === undefined) return whole
  // The port and the scheme are those of the request, which a client could make up, on a development machine only.
  return { origin: isLocalName(hostname) ? origin : `https://${hostname}`, isOwn: true, owner }
}

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

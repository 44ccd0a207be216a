import { config } from '../config.ts'
import { isLocalName, type RequestContext, requestHostname } from '../http/index.ts'
import { findHostOwner } from '../registry/edge/index.ts'

/**
 * The site that a catalog lists: the host name that the agent `owner` claims, else every public agent. Its links
 * begin with `origin` if that `isOwn`, or if an agent is registered with it; else the client may have made it up.
 */
export type Site = { origin: string; isOwn: boolean; owner?: string }

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

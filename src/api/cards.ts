import { authenticate, authenticateForAgent } from '../auth/authenticate.ts'
import { hasPermission, highestTier } from '../auth/permissions.ts'
import type { Authentication } from '../auth/principal.ts'
import { unauthorized } from '../auth/require.ts'
import type { RepresentationName } from '../card/model/constants.ts'
import { agentIdPattern } from '../card/model/constants.ts'
import type { Handler } from '../http/handler.ts'
import { isCardHost, requestHostname } from '../http/headers.ts'
import {
  type CachedDocument,
  getCachedDocument,
  isRemote,
  type PendingDocument,
  type RemoteDocument,
  readDocument,
  readExtended,
  readProfile,
} from '../registry/edge/cards.ts'
import { getCachedHost, resolveHost } from '../registry/edge/lookups.ts'
import { isExpired } from '../registry/records.ts'
import { getRegistry } from '../registry/store/client.ts'
import { revalidate } from '../sources/revalidate.ts'
import { cardResponse, type Hybrid, negotiateRepresentation, publicCardResponse } from './card-response.ts'
import { agentNotFound, noRootAgent, upstreamCardUnavailable } from './errors.ts'

/** A card that comes from elsewhere, while there is one to serve. One that is old is read again behind the reader's back. */
export const cardFromElsewhere = (
  id: string,
  found: RemoteDocument,
  { headers }: Request,
  env: Env,
  ctx: ExecutionContext,
): CachedDocument => {
  if (!isCardHost(headers)) revalidate(id, found.source, env, ctx)
  return stillServed(found)
}

/** The same for who reads many at once, and must not have them all read again. */
const stillServed = (found: RemoteDocument): CachedDocument => {
  const { source } = found
  if (found.body === undefined || isExpired(source)) throw upstreamCardUnavailable(source)
  return found
}

/** `GET /.well-known/agent-card.json` and `agent.json`: the agent that the host name stands for. */
export const hostCard =
  (hybrid: Hybrid): Handler =>
  async (request, env, ctx) => {
    const id = await resolveHost(requestHostname(request), env, ctx)
    // An internal agent's name is not told to who asks for a host.
    const response = id === undefined ? undefined : await cardResponseFor(id, hybrid, request, env, ctx)
    if (response === undefined) throw noRootAgent()
    return response
  }

/** `GET /agents/{id}` and its two well-known paths: the card of one agent. */
export const agentCard =
  (hybrid: Hybrid): Handler =>
  async (request, env, ctx) => {
    const id = request.params.id ?? ''
    if (!agentIdPattern.test(id)) throw agentNotFound(id)
    const response = await cardResponseFor(id, hybrid, request, env, ctx)
    if (response === undefined) throw agentNotFound(id)
    return response
  }

/** `GET /agents/.well-known/…`: what a client asks for that dropped the last segment of its base URL. */
export const isMissingSegment: Handler = () => {
  throw agentNotFound('.well-known')
}

const wellKnown = new RegExp(
  `^https?://([^/:]+)[^/]*(?:/agents/(${agentIdPattern.source.slice(1, -1)}))?/\\.well-known/(agent(?:-card)?\\.json)$`,
)

/**
 * A card that this isolate holds, for the plainest of requests: a well-known path without query. It answers as
 * the routes do, and sooner: finding a route costs more than sending a card. Undefined: ask the router.
 */
export const cachedCard = (request: Request, env: Env): Response | undefined => {
  if (request.method !== 'GET') return undefined
  const { headers } = request
  if (headers.has('Authorization')) return undefined
  const match = wellKnown.exec(request.url)
  if (match === null) return undefined
  const [, hostname = '', named, hybrid] = match
  const id = named ?? getCachedHost(hostname.replace(/\.$/, ''), env)
  if (id === undefined) return undefined
  const name = negotiateRepresentation(headers, {}, hybrid as Hybrid)
  const served = getCachedDocument(id, name)
  return served && !isRemote(served) ? publicCardResponse(served, name, headers, env) : undefined
}

/**
 * What of a reading is not plain from its request. `caller`: who asks, where that is known: credentials that do not hold count
 * each time that they are judged. `isOneOfMany`: it is for a list, which has no card read from its source again.
 */
export type CardRequest = { caller?: Authentication; isOneOfMany?: boolean }

/** A card in the dialect that a request asks for, else the `usual` one of its path; undefined where its sender may see none. */
export const cardResponseFor = async (
  id: string,
  usual: RepresentationName,
  ...asking: [...Parameters<Handler>, reading?: CardRequest]
): Promise<Response | undefined> => {
  const [request, env] = asking
  const name = negotiateRepresentation(request.headers, request.query, usual)
  const served = await cardFor(id, name, ...asking)
  return served ? cardResponse(served, name, request, env) : undefined
}

/**
 * A document of the card that a request's sender gets; null where there is none for it. Of one that comes from elsewhere, and
 * that cannot be had now, it throws what the sender is told.
 */
export const cardFor = async (
  id: string,
  name: RepresentationName,
  ...[request, env, ctx, reading = {}]: [...Parameters<Handler>, reading?: CardRequest]
): Promise<CachedDocument | null> => {
  const own = request.headers.has('Authorization') ? await readersCard(id, name, reading, request, env, ctx) : null
  const held = own ?? getCachedDocument(id, name)
  const found = held === undefined ? await readDocument(id, name, env, ctx) : held
  if (!found || !isRemote(found)) return found
  return reading.isOneOfMany ? stillServed(found) : cardFromElsewhere(id, found, request, env, ctx)
}

/**
 * The card that a request's credentials open, if they do: whoever they say nothing of gets what everyone gets. To who may not
 * read an internal agent, it looks like none, whatever the credentials.
 */
const readersCard = async (
  id: string,
  name: RepresentationName,
  { caller: asker }: CardRequest,
  ...[request, env, ctx]: Parameters<Handler>
): Promise<CachedDocument | PendingDocument | null> => {
  const profile = await readProfile(id, env, ctx)
  if (profile?.visibility === 'public' && profile.tiers.length === 0) return null
  const bearer = asker ?? (await authenticate(request, env, ctx))
  const caller = profile ? await authenticateForAgent(bearer, { id, profile }, { request, env, ctx }) : bearer
  if (profile?.visibility !== 'public' && !caller.authenticated && caller.reason === 'throttled')
    throw unauthorized(caller, request, env)
  if (profile === null || !hasPermission(caller, 'read', id)) return null
  const tier = highestTier(caller, profile)
  const extended = tier === undefined ? null : await readExtended(id, tier, name, env, ctx)
  return extended ?? (profile.visibility === 'internal' ? internalDocument(id, name, env) : null)
}

/** The card of an internal agent: from the Registry itself, so that no edge ever holds it. */
const internalDocument = async (
  id: string,
  name: RepresentationName,
  env: Env,
): Promise<CachedDocument | PendingDocument | null> => {
  const document = await getRegistry(env).document(id, name)
  if (document?.etag === undefined) return document
  const { etag, bytes: body, modified, source } = document
  return { etag, body, modified: new Date(modified).toUTCString(), ...(source && { source }) }
}

import type { Authentication } from '../auth/index.ts'
import {
  authenticate,
  authenticateForAgent,
  countUnrecognized,
  hasPermission,
  highestTier,
  tooManyAttempts,
} from '../auth/start.ts'
import { agentIdPattern, type HybridName, type RepresentationName } from '../card/model/start.ts'
import { type Handler, isCardHost, type RequestContext, requestHostname, startTiming } from '../http/start.ts'
import {
  type CachedDocument,
  findAgentByHost,
  getCachedDocument,
  isRemote,
  type RemoteDocument,
  readDocument,
  readExtended,
  readProfile,
  type UnfetchedDocument,
} from '../registry/edge/start.ts'
import { isExpired } from '../registry/start.ts'
import { getRegistry } from '../registry/store/index.ts'
import { revalidate } from '../sources/start.ts'
import { cardResponse, negotiateRepresentation, publicCardResponse } from './card-response.ts'
import { agentNotFound, noRootAgent, upstreamCardUnavailable } from './errors.ts'

/** `GET /.well-known/agent-card.json` and `agent.json`: the card of the agent that the hostname stands for. */
export const hostCard =
  (hybrid: HybridName): Handler =>
  (request, env, ctx) =>
    withTiming({ request, env, ctx }, async context => {
      const id = await findAgentByHost(requestHostname(request), env, ctx)
      const response = id === undefined ? undefined : await cardResponseFor(id, hybrid, context)
      // Not `agentNotFound`: the name of an internal agent must not be revealed.
      if (response === undefined) throw noRootAgent()
      return response
    })

/** `GET /agents/{id}` and its two well-known paths: the card of one agent. */
export const agentCard =
  (hybrid: HybridName): Handler =>
  (request, env, ctx, { id = '' }) => {
    if (!agentIdPattern.test(id)) throw agentNotFound(id)
    return (
      cachedCardResponse(id, hybrid, request, env) ??
      withTiming({ request, env, ctx }, context => uncachedAgentCard(id, hybrid, context))
    )
  }

/** Answers a request for a card, and reports in `Server-Timing` what took how long if the client prefers that. */
const withTiming = (
  context: RequestContext,
  answer: (context: RequestContext) => Promise<Response>,
): Promise<Response> => {
  const starting = startTiming(context.request)
  return starting
    ? starting.then(async timing => {
        const response = await answer({ ...context, timing })
        timing?.addTo(response)
        return response
      })
    : answer(context)
}

/** Returns a public card that is in memory, without waiting for anything; undefined if it has to be read. */
const cachedCardResponse = (id: string, hybrid: HybridName, request: Request, env: Env): Response | undefined => {
  const { headers } = request
  if (headers.has('Authorization') || headers.has('Prefer')) return undefined
  const name = negotiateRepresentation(request, hybrid)
  const document = getCachedDocument(id, name)
  return document && !isRemote(document) ? publicCardResponse(document, name, headers, env) : undefined
}

const uncachedAgentCard = async (id: string, hybrid: HybridName, context: RequestContext): Promise<Response> => {
  const response = await cardResponseFor(id, hybrid, context)
  if (response === undefined) throw agentNotFound(id)
  return response
}

/** How a card is read. */
export type CardOptions = {
  /** The result of `authenticate`, where that is known: invalid credentials count each time they are checked. */
  caller?: Authentication
  /** The card is one of a list: remote cards are not refreshed. */
  inList?: boolean
}

/**
 * Returns the card of an agent in the representation that a request asks for, else in the default of its path; undefined if
 * there is none that the caller may read.
 */
export const cardResponseFor = async (
  id: string,
  defaultName: RepresentationName,
  context: RequestContext,
  options: CardOptions = {},
): Promise<Response | undefined> => {
  const { request, env } = context
  const name = negotiateRepresentation(request, defaultName)
  const document = await loadCard(id, name, context, options)
  return document ? cardResponse(document, name, request, env) : undefined
}

/** Returns the document of a card for a caller; null if no such card exists. Throws if a remote card has no usable copy. */
export const loadCard = async (
  id: string,
  name: RepresentationName,
  context: RequestContext,
  { caller, inList = false }: CardOptions = {},
): Promise<CachedDocument | null> => {
  const { request, env, ctx, timing } = context
  const restricted = request.headers.has('Authorization') ? await readRestricted(id, name, context, caller) : null
  const cached = restricted ?? getCachedDocument(id, name)
  const document = cached === undefined ? await readDocument(id, name, env, ctx) : cached
  timing?.lap('kv')
  if (!document || !isRemote(document)) return document
  return inList ? assertUsable(document) : serveRemoteCard(id, document, context)
}

/** Returns a remote card while it is usable, and has it refreshed in the background when it is due. */
export const serveRemoteCard = (
  id: string,
  document: RemoteDocument,
  { request, env, ctx }: RequestContext,
): CachedDocument => {
  if (!isCardHost(request.headers)) revalidate(id, document.source, env, ctx)
  return assertUsable(document)
}

const assertUsable = (document: RemoteDocument): CachedDocument => {
  if (document.body === undefined || isExpired(document.source)) throw upstreamCardUnavailable(document.source)
  return document
}

/**
 * Returns the document that only the request's credentials give access to: an extended card, or the card of an internal agent.
 * Null for all other requests, which get the public card.
 */
const readRestricted = async (
  id: string,
  name: RepresentationName,
  { request, env, ctx, timing }: RequestContext,
  known: Authentication | undefined,
): Promise<CachedDocument | UnfetchedDocument | null> => {
  const profile = await readProfile(id, env, ctx)
  timing?.lap('kv')
  if (profile?.visibility === 'public' && profile.tiers.length === 0) return null
  const bearer = known ?? (await authenticate(request, env, ctx))
  const caller = profile ? await authenticateForAgent(bearer, { id, profile }, { request, env, ctx }) : bearer
  timing?.lap('auth')
  if (profile === null || !hasPermission(caller, 'read', id)) {
    if ((await countUnrecognized(caller, request, env)) && profile?.visibility !== 'public') throw tooManyAttempts()
    return null
  }
  const tier = highestTier(caller, profile)
  const extended = tier === undefined ? null : await readExtended({ id, tier, name }, env, ctx)
  return extended ?? (profile.visibility === 'internal' ? readInternal(id, name, env) : null)
}

/** Reads the card of an internal agent from the Registry itself: it is never in the cache of public cards. */
const readInternal = async (
  id: string,
  name: RepresentationName,
  env: Env,
): Promise<CachedDocument | UnfetchedDocument | null> => {
  const document = await getRegistry(env).document(id, name)
  if (document?.etag === undefined) return document
  const { etag, bytes: body, modified, source } = document
  return { etag, body, modified: new Date(modified).toUTCString(), ...(source && { source }) }
}

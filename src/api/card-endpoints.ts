import type { Authentication } from '../auth/index.ts'
import {
  authenticate,
  authenticateForAgent,
  countUnrecognized,
  hasPermission,
  highestTier,
  tooManyAttempts,
} from '../auth/start.ts'
import type { CallProfile } from '../card/index.ts'
import type { HybridName, RepresentationName } from '../card/model/start.ts'
import { agentIdPattern, dialectNames, majorMinor, versions, wireVersions } from '../card/model/start.ts'
import { config } from '../config.ts'
import {
  CORS_HEADERS,
  type Handler,
  isCardHost,
  isNotModified,
  PRIVATE_NO_STORE,
  problem,
  type RequestContext,
  requestHostname,
  startTiming,
} from '../http/start.ts'
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
import { isExpired, isStale, staleHeaders } from '../registry/start.ts'
import { getRegistry } from '../registry/store/index.ts'
import { revalidate } from '../sources/start.ts'
import { agentNotFound, noRootAgent, upstreamCardUnavailable } from './agent-errors.ts'

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
      withTiming({ request, env, ctx }, async context => {
        const response = await cardResponseFor(id, hybrid, context)
        if (response === undefined) throw agentNotFound(id)
        return response
      })
    )
  }

/** Answers a request for a card, and reports in `Server-Timing` what took how long if the client prefers that. */
const withTiming = (context: RequestContext, answer: (context: RequestContext) => Promise<Response>) => {
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

type CardOptions = {
  /** The result of `authenticate`, where that is known: invalid credentials count each time they are checked. */
  caller?: Authentication
  /** The card is one of a list: remote cards are not refreshed. */
  inList?: boolean
}

/** Returns the card of an agent in the negotiated representation, or 304; undefined if the caller may read none. */
export const cardResponseFor = async (
  id: string,
  defaultName: RepresentationName,
  context: RequestContext,
  options: CardOptions = {},
): Promise<Response | undefined> => {
  const { request, env } = context
  const name = negotiateRepresentation(request, defaultName)
  const document = await loadCard(id, name, context, options)
  if (!document) return undefined
  const response = publicCardResponse(document, name, request.headers, env)
  // The response to a request with a token is not for shared caches.
  if (request.headers.has('Authorization')) response.headers.set('Cache-Control', PRIVATE_NO_STORE)
  const { source } = document
  if (source && isStale(source))
    for (const [field, value] of Object.entries(staleHeaders(source))) response.headers.set(field, value)
  return response
}

/** Returns the document of a card for a caller, or null without one. Throws if a remote card has no usable copy. */
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
export const serveRemoteCard = (id: string, document: RemoteDocument, { request, env, ctx }: RequestContext) => {
  if (!isCardHost(request.headers)) revalidate(id, document.source, env, ctx)
  return assertUsable(document)
}

const assertUsable = (document: RemoteDocument): CachedDocument => {
  if (document.body === undefined || isExpired(document.source)) throw upstreamCardUnavailable(document.source)
  return document
}

/** Returns the extended card, or that of an internal agent, that credentials give access to; null for none. */
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
  return readCardOf({ id, profile, caller }, name, env, ctx)
}

/** An agent, and a caller that its card identifies. */
type ReadAgent = { id: string; profile: CallProfile; caller: Authentication }

/** Loads the card of an agent for a caller that may call it. Throws if a remote card has no usable copy. */
export const loadCardFor = async (agent: ReadAgent, name: RepresentationName, context: RequestContext) => {
  const { id, caller } = agent
  const { env, ctx } = context
  const restricted = hasPermission(caller, 'read', id) ? await readCardOf(agent, name, env, ctx) : null
  const document = restricted ?? (await readDocument(id, name, env, ctx))
  if (!document) throw agentNotFound(id)
  return isRemote(document) ? serveRemoteCard(id, document, context) : document
}

/** Returns the extended card of a caller with read access, or the card of an internal agent; null for any other. */
const readCardOf = async (
  { id, profile, caller }: ReadAgent,
  name: RepresentationName,
  env: Env,
  ctx: ExecutionContext,
): ReturnType<typeof readRestricted> => {
  const tier = highestTier(caller, profile)
  const extended = tier === undefined ? null : await readExtended({ id, tier, name }, env, ctx)
  return extended ?? (profile.visibility === 'internal' ? readInternal(id, name, env) : null)
}

/** Reads the card of an internal agent from the Registry itself: it is never in the cache of public cards. */
const readInternal = async (id: string, name: RepresentationName, env: Env): ReturnType<typeof readRestricted> => {
  const document = await getRegistry(env).document(id, name)
  if (document?.etag === undefined) return document
  const { etag, bytes: body, modified, source } = document
  return { etag, body, modified: new Date(modified).toUTCString(), ...(source && { source }) }
}

const publicCardResponse = (document: CachedDocument, name: RepresentationName, headers: Headers, env: Env) => {
  const { body, etag, modified } = document
  const isModified = !isNotModified(headers, document)
  const kept = isModified ? okInits : notModifiedInits
  const content = isModified ? body : null
  const init = kept.get(document)
  if (init) return new Response(content, init)
  const response = new Response(
    content,
    isModified ? { headers: okHeaders(name, env) } : { status: 304, headers: validatedHeaders(env) },
  )
  response.headers.set('ETag', etag)
  if (isModified) response.headers.set('Last-Modified', modified)
  if (document === lastDocument) keepInit(kept, document, response)
  lastDocument = document
  return response
}

/**
 * What documents that were requested twice in a row are sent with: the runtime clones a Headers object in half the time
 * that it takes to change one. Kept small: long-lived runtime objects slow down every garbage collection.
 */
const okInits = new Map<CachedDocument, ResponseInit>()
const notModifiedInits = new Map<CachedDocument, ResponseInit>()
const MAX_KEPT_INITS = 32
let lastDocument: CachedDocument | undefined

const keepInit = (kept: typeof okInits, document: CachedDocument, { status, headers }: Response): void => {
  if (kept.size >= MAX_KEPT_INITS) kept.clear()
  kept.set(document, { status, headers: new Headers(headers) })
}

const okHeadersByName = new Map<RepresentationName, Headers>()

const okHeaders = (name: RepresentationName, env: Env): Headers => {
  const known = okHeadersByName.get(name)
  if (known) return known
  const headers = new Headers({ ...CORS_HEADERS, ...validatedHeaders(env), 'Content-Type': 'application/json' })
  // Relative to each of the paths that serve it.
  if (name === 'agent.json') headers.set('Link', '<./agent-card.json>; rel="canonical"')
  if (name in versions) headers.set('A2A-Version', name)
  okHeadersByName.set(name, headers)
  return headers
}

/** The headers by which a client updates its copy; a 304 has only these and the entity tag (RFC 9110 §15.4.5). */
const validatedHeaders = (env: Env) => ({
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': config(env).publicCacheControl,
  Vary: 'A2A-Version, Authorization',
})

/** The representation that clients of each version of A2A read. */
const cardOfVersion = new Map<string, RepresentationName>(wireVersions.map(name => [name, versions[name].card]))

/** Returns the representation that a GET requests by `?dialect=`, else by its A2A version, else that of its path. */
const negotiateRepresentation = ({ headers, url }: Request, defaultName: RepresentationName): RepresentationName => {
  const query = url.includes('?') ? new URL(url).searchParams : undefined
  const dialect = query?.get('dialect') ?? undefined
  if (dialect === 'hybrid') return defaultName === 'agent.json' ? defaultName : 'agent-card.json'
  if (dialect !== undefined) {
    const requested = dialectNames.find(name => name === dialect)
    if (requested !== undefined) return requested
    const supported = ['hybrid', ...dialectNames].join(', ')
    throw problem('unknown-dialect', `Unknown dialect "${dialect.slice(0, 40)}". Supported: ${supported}.`)
  }
  const version = headers.get('A2A-Version') || query?.get('A2A-Version')
  return version ? (cardOfVersion.get(majorMinor(version)) ?? defaultName) : defaultName
}

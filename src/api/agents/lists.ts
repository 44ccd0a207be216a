import {
  ANONYMOUS,
  type Authentication,
  assertWriter,
  coveredAgents,
  type Principal,
  requireAnyAgent,
  requirePrincipal,
} from '../../auth/index.ts'
import { agentIdPattern, cardUrl } from '../../card/model/index.ts'
import { checkRateLimit } from '../../gateway/gate/index.ts'
import { type Handler, problem, type RequestContext, tooManyRequests } from '../../http/index.ts'
import { MAX_PAGE_SIZE } from '../../limits.ts'
import { getRegistry } from '../../registry/store/index.ts'
import type { ListedAgent, ListQuery, SearchHit } from '../../registry/tables/index.ts'
import { type PageQuery, paginate, parsePageQuery, rejectUnknownQuery } from '../parse-request.ts'
import { privateJson } from '../private-responses.ts'
import { cacheableResponse, respondFromCache } from '../shared-cache.ts'
import { encodeCursor, isSearch, type ParsedSearch, parseSearch, SEARCH_PARAMETERS } from './search-query.ts'

/**
 * `GET /agents`: a page of the agents that the caller may read, or those of them that match a search. With `?set=`, of
 * the agents of that set that the caller may read or write; with `?writable=true`, of those that it may write; with
 * `?id=`, the registered ones of the named agents, all of which the caller may write.
 */
export const listAgents: Handler = (request, env, ctx) => {
  const url = new URL(request.url)
  const { searchParams } = url
  const context = { request, env, ctx }
  if (searchParams.has('id')) return listNamed(url, context)
  return searchParams.has('set') || searchParams.has('writable')
    ? listCovered(url, context)
    : listResponse('/agents', true, context)
}

/** Lists only agents that the token of the caller covers. */
const listCovered = async (url: URL, context: RequestContext): Promise<Response> => {
  const { request, env } = context
  const read = await parseList('/agents', url)
  const set = url.searchParams.get('set') ?? undefined
  if (set !== undefined && !agentIdPattern.test(set))
    throw problem('bad-set', 'set must be 1 to 63 lower-case letters, digits and hyphens.')
  const isWriterList = url.searchParams.has('writable')
  if (isWriterList && url.searchParams.get('writable') !== 'true') throw problem('bad-query', 'writable must be true.')
  const caller = await (isWriterList ? requireAnyAgent(context, 'write') : requirePrincipal(context))
  await countList(caller, request, env)
  const writable = coveredAgents(caller, ['write'])
  const covered = isWriterList ? writable : coveredAgents(caller, ['read', 'write'])
  const visible = { ...(set !== undefined && { set }), covered, writable, onlyCovered: true }
  return privateListResponse(await read(env, visible))
}

/** Throws for an agent that the caller must not write: a list without it would mean that it is not registered. */
const listNamed = async (url: URL, context: RequestContext): Promise<Response> => {
  rejectUnknownQuery(url, ['id'])
  const ids = [...new Set(url.searchParams.getAll('id'))]
  if (ids.length > MAX_PAGE_SIZE)
    throw problem('bad-query', `id must name at most ${MAX_PAGE_SIZE} agents, and not ${ids.length}.`)
  const writer = await requireAnyAgent(context, 'write')
  for (const id of ids) assertWriter(writer, id)
  const page = await readPage({ after: '', limit: ids.length, ids, covered: ids, writable: ids }, context.env)
  return privateListResponse(LIST_FORMATS['/agents'](page, true))
}

/** Reads a page of a list; for a caller with a token if there are globs of the agents that it covers. */
type ReadList = (env: Env, visible?: Pick<ListQuery, 'covered' | 'set' | 'writable' | 'onlyCovered'>) => Promise<object>

/** Returns what reads the page that a query asks for. Throws for an invalid query. */
const parseList = async (path: ListPath, url: URL): Promise<ReadList> => {
  if (path === '/agents' && isSearch(url.searchParams)) return readSearch(await parseSearch(url))
  const others = path === '/agents' ? ['id', 'set', 'writable', ...SEARCH_PARAMETERS] : []
  const query = parsePageQuery(url, agentIdPattern, others)
  return async (env, visible) =>
    LIST_FORMATS[path](await readPage({ ...query, covered: [], ...visible }, env), visible !== undefined)
}

const readSearch =
  ({ query, digest }: ParsedSearch): ReadList =>
  async (env, visible) => {
    const found = await getRegistry(env).search({ ...query, covered: [], ...visible })
    const { agents, isLast, rest, after, facets, isApproximate } = found
    const cursor = query.matches === undefined ? String(after) : encodeCursor(digest, rest)
    return {
      agents: agents.map(hit => ({ ...formatHit(hit), ...(visible && formatHosting(hit)) })),
      ...(!isLast && { cursor }),
      ...(facets && { facets, ...(isApproximate && { approximate: true }) }),
    }
  }

/** A page of agents; there are more after `cursor`. */
type AgentPage = { agents: ListedAgent[]; cursor?: string }

/** Every list of agents, by its path: how it writes a page, with the hosting of agents for a caller with a token. */
export const LIST_FORMATS = {
  '/agents': ({ agents, ...rest }, isPrivate) => ({
    agents: agents.map(agent => ({ ...formatAgent(agent), ...(isPrivate && formatHosting(agent)) })),
    ...rest,
  }),

  '/.well-known/a2a/agents': ({ agents, ...rest }) => ({
    protocolVersion: '0.3.0',
    agents: agents.map(({ name, description, version, shaman }) => ({ name, description, version, ...shaman })),
    ...rest,
  }),

  // Older versions of SuperX identify an agent by `id`, newer ones by `name`; its clients send back what they got.
  '/rpc': ({ agents, ...rest }) => ({
    agents: agents.map(({ id, origin, description, version, url, protocol }) => ({
      ...{ id, name: id, protocol, description, version, url },
      agentCard: { url: cardUrl({ origin, id }) },
    })),
    ...rest,
  }),
} as const satisfies Record<string, (page: AgentPage, isPrivate: boolean) => object>

type ListPath = keyof typeof LIST_FORMATS

/** Checks whether a path is that of a list of agents. */
export const isListPath = (path: string): path is ListPath => Object.hasOwn(LIST_FORMATS, path)

const formatAgent = ({ id, origin, name, description, version, url }: ListedAgent) => ({
  ...{ id, name, description, version, card: cardUrl({ origin, id }), url },
})

const formatHosting = ({ visibility, set, manifestEtag: etag }: ListedAgent) => ({
  ...{ visibility, ...(set !== undefined && { set }), ...(etag !== undefined && { etag }) },
})

/** An agent in the response to a search. */
export type FoundAgent = ReturnType<typeof formatHit>

const formatHit = (hit: SearchHit) => {
  const { skillIds: skills, tags, provider, capabilities, protocolVersions, signed, score } = hit
  return {
    ...formatAgent(hit),
    ...{ skills, tags, capabilities, protocolVersions, signed },
    ...(provider !== '' && { provider }),
    ...(score !== undefined && { score }),
  }
}

/** Returns a page of a list: for everybody if it `isPublic`, and for callers with the scope `read`. */
export const listResponse = async (path: ListPath, isPublic: boolean, context: RequestContext): Promise<Response> => {
  const { request, env } = context
  const url = new URL(request.url)
  const read = await parseList(path, url)
  if (isPublic && !request.headers.has('Authorization')) {
    await countList(ANONYMOUS, request, env)
    return respondFromCache(path, url.searchParams, context)
  }
  const reader = await requireAnyAgent(context, 'read')
  await countList(reader, request, env)
  return privateListResponse(await read(env, { covered: coveredAgents(reader, ['read']) }))
}

const privateListResponse = (list: object): Response => privateJson(list, 200, { Vary: 'Authorization' })

/** Counts a list as a call: a page that is not cached is read from the one Registry. Throws past the limit. */
export const countList = async (caller: Authentication, request: Request, env: Env): Promise<void> => {
  if (await checkRateLimit(caller, request, env)) throw tooManyRequests('Too many lists of agents requested.')
}

/** Renders a page of a list as everybody gets it. Throws for an invalid query. */
export const renderList = async (url: URL, env: Env): Promise<Response> => {
  if (!isListPath(url.pathname)) throw new Error(`There is no list at ${url.pathname}`)
  const read = await parseList(url.pathname, url)
  return cacheableResponse({ body: JSON.stringify(await read(env)), type: 'application/json' }, env)
}

/** Returns a page for everybody, or for a reader. */
export const listVisibleAgents = (query: PageQuery, env: Env, reader?: Principal): Promise<AgentPage> =>
  readPage({ ...query, covered: reader ? coveredAgents(reader, ['read']) : [] }, env)

const readPage = async (query: ListQuery, env: Env): Promise<AgentPage> => {
  const { limit } = query
  const found = await getRegistry(env).list({ ...query, limit: limit + 1 })
  const { page, ...rest } = paginate(found, limit, 'id')
  return { agents: page, ...rest }
}

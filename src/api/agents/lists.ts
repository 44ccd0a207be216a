import { ANONYMOUS, type Authentication, assertWriter, coveredAgents, unauthorized } from '../../auth/index.ts'
import { agentIdPattern } from '../../card/model/index.ts'
import { jsonResponse, PRIVATE_NO_STORE, type RequestContext } from '../../http/index.ts'
import type { ListedAgent } from '../../registry/shared.ts'
import { getRegistry } from '../../registry/store/index.ts'
import type { ListQuery } from '../../registry/tables/index.ts'
import { endpoint, json, pageQuery, paginate, parseQuery, type QueryValues } from '../contract/index.ts'
import { AgentList, toFoundAgent, toHosting, toListedAgent, toShamanAgent, toSuperxAgent } from '../schemas/index.ts'
import { cacheableResponse, respondFromCache } from '../shared-cache.ts'
import { encodeCursor, type ListValues, listQuery, type Search, toSearch } from './search-query.ts'

/** `GET /agents`: a page of the agents that the caller may read, or of those that its query selects. */
export const listAgents = endpoint(
  {
    tag: 'cards',
    summary: 'List or search the agents',
    description:
      'Without a token, the public agents; with one, also the internal agents that it may read. ' +
      'All parameters of a search must match. With `q` or `name`, the best agents are first. ' +
      'Lists for callers with a token have no entity tag.',
    access: 'reader',
    query: listQuery,
    responses: { 200: json('A page of agents.', AgentList, { headers: ['Link'] }) },
    validated: true,
    raw: true,
    problems: ['bad-agent-id'],
    limits: ['CALL_LIMIT'],
  },
  async ({ query, caller, ...context }) => {
    if (query.id.length > 0) return privateList(await readNamed(query, caller, context))
    const search = await toSearch(query)
    return respondWithList('/agents', caller, context, () =>
      readAgents(query, search, context.env, visibleTo(caller, query)),
    )
  },
)

/** Returns the agents that a list shows its caller. A list of a set or of writable agents has only what it covers. */
const visibleTo = (caller: Authentication, { set, writable: isWriterList }: ListValues): Visible => {
  if (set === undefined && isWriterList === undefined) return visibleToReader(caller)
  const writable = coveredAgents(caller, ['write'])
  const covered = isWriterList ? writable : coveredAgents(caller, ['read', 'write'])
  return { ...(set !== undefined && { set }), covered, writable, onlyCovered: true }
}

const visibleToReader = (reader: Authentication): Visible => ({ covered: coveredAgents(reader, ['read']) })

/** Throws for an agent that the caller must not write: a list without it would mean that it is not registered. */
const readNamed = async ({ id }: ListValues, caller: Authentication, { request, env }: RequestContext) => {
  if (!caller.authenticated) throw unauthorized(caller)
  parseQuery(new URL(request.url), { id: listQuery.id })
  const ids = [...new Set(id)]
  for (const id of ids) assertWriter(caller, id)
  return readPage({ cursor: '', limit: ids.length }, toHostedAgent, env, { ids, covered: ids, writable: ids })
}

/** The part of a query that depends on the caller. */
type Visible = Omit<ListQuery, 'after' | 'limit'>

/** Reads a page of agents, or of a `search`: as everybody gets it, or with what is `visible` to one with a token. */
const readAgents = async (query: ListValues, search: Search | undefined, env: Env, visible?: Visible) => {
  if (!search) return readPage(query, visible ? toHostedAgent : toListedAgent, env, visible)
  const found = await getRegistry(env).search({ ...search.query, covered: [], ...visible })
  const { agents, isLast, rest, after, facets, isApproximate } = found
  const cursor = search.query.matches === undefined ? String(after) : encodeCursor(search.digest, rest)
  return {
    agents: agents.map(hit => ({ ...toFoundAgent(hit), ...(visible && toHosting(hit)) })),
    ...(!isLast && { cursor }),
    ...(facets && { facets, ...(isApproximate && { approximate: true }) }),
  }
}

const toHostedAgent = (agent: ListedAgent) => ({ ...toListedAgent(agent), ...toHosting(agent) })

const readPage = async <Listed>(
  { cursor: after, limit }: PageValues,
  format: (agent: ListedAgent) => Listed,
  env: Env,
  visible: Visible = { covered: [] },
) => {
  const found = await getRegistry(env).list({ after, limit: limit + 1, ...visible })
  const { page, ...rest } = paginate(found, limit, 'id')
  return { agents: page.map(format), ...rest }
}

/** The query of a plain list of agents. */
export const agentPage = pageQuery(agentIdPattern)
type PageValues = QueryValues<typeof agentPage>

/** Reads a page of Shaman's list, with the agents that the reader may read. */
export const readShamanList = async (query: PageValues, env: Env, reader: Authentication = ANONYMOUS) => ({
  protocolVersion: '0.3.0',
  ...(await readPage(query, toShamanAgent, env, visibleToReader(reader))),
})

/** Reads a page of SuperX's list. */
export const readSuperxList = async (query: PageValues, env: Env, reader: Authentication = ANONYMOUS) =>
  readPage(query, toSuperxAgent, env, visibleToReader(reader))

const publicLists = {
  '/agents': async (url: URL, env: Env) => {
    const query = parseQuery(url, listQuery)
    return readAgents(query, await toSearch(query), env)
  },
  '/.well-known/a2a/agents': (url: URL, env: Env) => readShamanList(parseQuery(url, agentPage), env),
  '/rpc': (url: URL, env: Env) => readSuperxList(parseQuery(url, agentPage), env),
} as const satisfies Record<string, (url: URL, env: Env) => Promise<object>>

/** Renders a page of a list as everybody gets it; undefined for another path. Throws for an invalid query. */
export const renderList = async (url: URL, env: Env): Promise<Response | undefined> => {
  const [, read] = Object.entries(publicLists).find(([path]) => path === url.pathname) ?? []
  return read && cacheableResponse({ body: JSON.stringify(await read(url, env)), type: 'application/json' }, env)
}

/** Returns a page of a list: from Workers Cache, or for a caller with a token what `read` returns. */
export const respondWithList = async (
  path: keyof typeof publicLists,
  caller: Authentication,
  context: RequestContext,
  read: () => Promise<object>,
): Promise<Response> =>
  caller.authenticated
    ? privateList(await read())
    : respondFromCache(path, new URL(context.request.url).searchParams, context)

const privateList = (list: object): Response =>
  jsonResponse(list, 200, { 'Cache-Control': PRIVATE_NO_STORE, Vary: 'Authorization' })

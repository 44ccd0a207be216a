import { hasPermission } from '../auth/permissions.ts'
import { ANONYMOUS, type Authentication, type Principal } from '../auth/principal.ts'
import { requireAnyAgent } from '../auth/require.ts'
import { agentIdPattern } from '../card/model/constants.ts'
import { checkRateLimit } from '../gateway/access.ts'
import { matchesIfNoneMatch, strongEtag } from '../http/conditional.ts'
import { tooManyRequests } from '../http/errors.ts'
import type { Handler } from '../http/handler.ts'
import { PRIVATE_NO_STORE, publicCacheControl } from '../http/headers.ts'
import { jsonResponse } from '../http/responses.ts'
import type { Listed } from '../registry/store/agents.ts'
import { getRegistry } from '../registry/store/client.ts'
import { type PageQuery, paginate, parsePageQuery } from './pagination.ts'

/** A page of agents; there are more after `cursor`. */
type AgentPage = { agents: Listed[]; cursor?: string }

/**
 * A page for everybody, or for a reader. Where its token is not for all agents (no id is `*`), the internal ones among them are
 * those that the public list has not: then a page may show fewer than were asked for, and there are more while it has a cursor.
 */
export const listVisibleAgents = async (
  { after, limit }: PageQuery,
  env: Env,
  reader?: Principal,
): Promise<AgentPage> => {
  const [all, open] = await Promise.all([
    getRegistry(env).list(after, limit + 1, reader !== undefined),
    reader && !hasPermission(reader, 'read', '*') ? getRegistry(env).list(after, limit + 1, false) : undefined,
  ])
  const { shown, ...more } = paginate(all, limit)
  const isPublic = open && new Set(open.map(({ id }) => id))
  return {
    agents: isPublic
      ? shown.filter(({ id }) => isPublic.has(id) || (reader && hasPermission(reader, 'read', id)))
      : shown,
    ...more,
  }
}

/** What a page of agents is in the words of each endpoint that lists them, by its path. */
export const LIST_FORMATS = {
  '/agents': ({ agents, ...more }) => ({
    agents: agents.map(({ id, origin, name, description, version, url }) => ({
      id,
      name,
      description,
      version,
      card: cardUrl(origin, id),
      url,
    })),
    ...more,
  }),

  '/.well-known/a2a/agents': ({ agents, ...more }) => ({
    protocolVersion: '0.3.0',
    agents: agents.map(({ name, description, version, url, shaman }) => ({
      name,
      description,
      version,
      ...(shaman ?? { url, preferredTransport: 'JSONRPC' }),
    })),
    ...more,
  }),

  // SuperX's own lists name an agent by `id` or by `name`, as they are older or newer; its clients send back what they were told.
  '/rpc': ({ agents, ...more }) => ({
    agents: agents.map(({ id, origin, description, version, url, protocol = 'a2a' }) => ({
      id,
      name: id,
      protocol,
      description,
      version,
      url,
      agentCard: { url: cardUrl(origin, id) },
    })),
    ...more,
  }),
} as const satisfies Record<string, (page: AgentPage) => object>

/** Where the lists of agents are. */
type ListPath = keyof typeof LIST_FORMATS

/** Whether a list of agents is at a path. */
const isListPath = (path: string): path is ListPath => Object.hasOwn(LIST_FORMATS, path)

const cardUrl = (origin: Listed['origin'], id: string): string => `${origin}/agents/${id}/.well-known/agent-card.json`

/** A page of a public list as Workers Cache keeps it, under a tag; throws for a URL that `pageQuery` does not take. */
export const catalogPage = async (url: URL, tag: string, env: Env): Promise<Response> => {
  if (!isListPath(url.pathname)) throw new Error(`There is no list at ${url.pathname}`)
  const list = JSON.stringify(
    LIST_FORMATS[url.pathname](await listVisibleAgents(parsePageQuery(url, agentIdPattern), env)),
  )
  return jsonResponse(list, 200, {
    'Cache-Control': publicCacheControl(env),
    // For Cloudflare's own cache, which would go on showing an old list while it asks for a new one.
    'Cloudflare-CDN-Cache-Control': 'max-age=60',
    'Cache-Tag': tag,
    ETag: await strongEtag(new TextEncoder().encode(list)),
    Vary: 'Authorization',
  })
}

/** `GET /agents`: a page of the agents here, of the internal ones those that the reader's token is for. */
export const listAgents: Handler = (...asking) => listResponse('/agents', true, ...asking)

/** A page of a list, for everybody where it is `open`, and for a reader with a token. */
export const listResponse = async (
  path: ListPath,
  open: boolean,
  ...[request, env, ctx]: Parameters<Handler>
): Promise<Response> => {
  const url = new URL(request.url)
  const query = parsePageQuery(url, agentIdPattern)
  if (open && !request.headers.has('Authorization')) {
    await count(ANONYMOUS, request, env)
    const list = await publicList(path, url.searchParams, ctx)
    return matchesIfNoneMatch(request.headers.get('If-None-Match'), list.headers.get('ETag') ?? '')
      ? new Response(null, { status: 304, headers: list.headers })
      : list
  }
  const reader = await requireAnyAgent({ request, env, ctx }, 'read')
  await count(reader, request, env)
  return jsonResponse(LIST_FORMATS[path](await listVisibleAgents(query, env, reader)), 200, {
    'Cache-Control': PRIVATE_NO_STORE,
    Vary: 'Authorization',
  })
}

/** A list counts as a call: a page that the cache has not is asked of the one Registry. */
const count = async (caller: Authentication, request: Request, env: Env): Promise<void> => {
  if (await checkRateLimit(caller, request, env)) throw tooManyRequests('Lists are asked for too often.')
}

/** A page of a list as everybody gets it: from the cache, where it is there. The query must be one that `pageQuery` takes. */
export const publicList = (path: ListPath, query: URLSearchParams, ctx: ExecutionContext): Promise<Response> =>
  // The name of the host is no part of what is asked, nor of the cache's key.
  cachedLists(ctx).fetch(new Request(`https://catalog${path}?${query}`))

const cachedLists = (ctx: ExecutionContext) => ctx.exports.Catalog({ props: {} })

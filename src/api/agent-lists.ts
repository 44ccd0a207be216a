import { ANONYMOUS, type Authentication } from '../auth/principal.ts'
import { requireAnyAgent } from '../auth/require.ts'
import { checkRateLimit } from '../gateway/access.ts'
import { privateNoStore } from '../http/caching.ts'
import { matchesIfNoneMatch } from '../http/etag.ts'
import type { Handler } from '../http/handler.ts'
import { jsonResponse } from '../http/json-response.ts'
import { tooManyRequests } from '../http/too-many.ts'
import { agentId } from '../limits.ts'
import { listVisibleAgents } from './agent-page.ts'
import { LIST_FORMATS, type ListPath } from './lists.ts'
import { parsePageQuery } from './pagination.ts'

/** `GET /agents`: a page of the agents here, of the internal ones those that the reader's token is for. */
export const listAgents: Handler = (...asking) => listResponse('/agents', true, ...asking)

/** A page of a list, for everybody where it is `open`, and for a reader with a token. */
export const listResponse = async (
  path: ListPath,
  open: boolean,
  ...[request, env, ctx]: Parameters<Handler>
): Promise<Response> => {
  const url = new URL(request.url)
  const query = parsePageQuery(url, agentId)
  if (open && !request.headers.has('Authorization')) {
    await count(ANONYMOUS, request, env)
    const list = await publicList(path, url.searchParams, ctx)
    return matchesIfNoneMatch(request.headers.get('If-None-Match'), list.headers.get('ETag') ?? '')
      ? new Response(null, { status: 304, headers: list.headers })
      : list
  }
  const reader = await requireAnyAgent(request, 'read', env, ctx)
  await count(reader, request, env)
  return jsonResponse(LIST_FORMATS[path](await listVisibleAgents(query, env, reader)), 200, {
    'Cache-Control': privateNoStore,
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

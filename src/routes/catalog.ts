import { WorkerEntrypoint } from 'cloudflare:workers'
import { requireAdmin } from '../auth/admin-token.ts'
import { agentId, limits } from '../card/limits.ts'
import { privateNoStore, publicCaching } from '../http/caching.ts'
import { noneMatch, strongEtag } from '../http/etag.ts'
import { jsonResponse } from '../http/json-response.ts'
import { log } from '../http/log.ts'
import { HttpError } from '../http/problem.ts'
import type { Listed } from '../registry/registry.ts'
import { truth } from '../registry/truth.ts'
import type { Handler } from './handler.ts'

/** The tag by which every cached list is purged. */
const listTag = 'agents'

/** `GET /agents`: a page of the agents here, internal ones only for a reader with a token. */
export const listAgents: Handler = async (request, env, ctx) => {
  const url = new URL(request.url)
  const query = pageQuery(url.searchParams)
  if (!request.headers.has('Authorization')) {
    const list = await cachedLists(ctx).fetch(new Request(url))
    return noneMatch(request.headers.get('If-None-Match'), list.headers.get('ETag') ?? '')
      ? new Response(null, { status: 304, headers: list.headers })
      : list
  }
  await requireAdmin(request, env)
  return jsonResponse(await page(query, env, true), 200, {
    'Cache-Control': privateNoStore,
    Vary: 'Authorization',
  })
}

/** Public lists, behind Workers Cache: the only entrypoint that it keeps. What it answers depends on the URL alone. */
export class Catalog extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    const query = pageQuery(new URL(request.url).searchParams)
    const list = JSON.stringify(await page(query, this.env, false))
    return jsonResponse(list, 200, {
      'Cache-Control': publicCaching(this.env),
      // For Cloudflare's own cache, which would go on showing an old list while it asks for a new one.
      'Cloudflare-CDN-Cache-Control': 'max-age=60',
      'Cache-Tag': listTag,
      ETag: await strongEtag(new TextEncoder().encode(list)),
      Vary: 'Authorization',
    })
  }

  /** Drops every cached list. A purge reaches only the cache of the entrypoint that asks for it. */
  async forget(): Promise<void> {
    await this.ctx.cache?.purge({ tags: [listTag] })
  }
}

/** Makes the next reader of any public list see what was just written. */
export const forgetLists = (ctx: ExecutionContext): void =>
  ctx.waitUntil(
    cachedLists(ctx)
      .forget()
      .catch((error: unknown) => log('error', 'purge-failed', { tag: listTag, error: String(error) })),
  )

const cachedLists = (ctx: ExecutionContext) => ctx.exports.Catalog({ props: {} })

const page = async ({ after, limit }: PageQuery, env: Env, internal: boolean) => {
  const agents = await truth(env).list(after, limit + 1, internal)
  const shown = agents.slice(0, limit)
  const last = agents.length > limit ? shown.at(-1) : undefined
  return { agents: shown.map(listed), ...(last && { cursor: last.id }) }
}

const listed = ({ id, origin, name, description, version, url }: Listed) => ({
  id,
  name,
  description,
  version,
  card: `${origin}/agents/${id}/.well-known/agent-card.json`,
  url,
})

type PageQuery = { after: string; limit: number }

const pageQuery = (query: URLSearchParams): PageQuery => {
  for (const name of query.keys())
    if (name !== 'limit' && name !== 'cursor')
      throw new HttpError(400, 'unknown-query', `GET /agents takes limit and cursor, not "${name.slice(0, 40)}".`)
  const limit = query.get('limit') ?? String(limits.page)
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > limits.page)
    throw new HttpError(400, 'bad-limit', `limit is a number from 1 to ${limits.page}.`)
  const after = query.get('cursor') ?? ''
  if (after !== '' && !agentId.test(after))
    throw new HttpError(400, 'bad-cursor', 'cursor is what the page before answered as its cursor.')
  return { after, limit: Number(limit) }
}

import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Bearer } from '../auth/caller.ts'
import { may } from '../auth/may.ts'
import { requireAnyAgent } from '../auth/require.ts'
import { agentId } from '../card/limits.ts'
import { privateNoStore, publicCaching } from '../http/caching.ts'
import { noneMatch, strongEtag } from '../http/etag.ts'
import { jsonResponse } from '../http/json-response.ts'
import type { Listed } from '../registry/registry.ts'
import { truth } from '../registry/truth.ts'
import type { Handler } from './handler.ts'
import { type PageQuery, pageOf, pageQuery } from './page-query.ts'

/** The tag by which every cached list is purged. */
const listTag = 'agents'

/** `GET /agents`: a page of the agents here, of the internal ones those that the reader's token is for. */
export const listAgents: Handler = async (request, env, ctx) => {
  const url = new URL(request.url)
  const query = pageQuery(url, agentId)
  if (!request.headers.has('Authorization')) {
    const list = await cachedLists(ctx).fetch(new Request(url))
    return noneMatch(request.headers.get('If-None-Match'), list.headers.get('ETag') ?? '')
      ? new Response(null, { status: 304, headers: list.headers })
      : list
  }
  const reader = await requireAnyAgent(request, 'read', env, ctx)
  return jsonResponse(await page(query, env, reader), 200, {
    'Cache-Control': privateNoStore,
    Vary: 'Authorization',
  })
}

/** Public lists, behind Workers Cache: the only entrypoint that it keeps. What it answers depends on the URL alone. */
export class Catalog extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    const query = pageQuery(new URL(request.url), agentId)
    const list = JSON.stringify(await page(query, this.env))
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

const cachedLists = (ctx: ExecutionContext) => ctx.exports.Catalog({ props: {} })

/**
 * A page for everybody, or for a reader. Where its token is not for all agents (no id is `*`), the internal ones among them are
 * those that the public list has not: then a page may show fewer than were asked for, and there are more while it has a cursor.
 */
const page = async ({ after, limit }: PageQuery, env: Env, reader?: Bearer) => {
  const [all, open] = await Promise.all([
    truth(env).list(after, limit + 1, reader !== undefined),
    reader && !may(reader, 'read', '*') ? truth(env).list(after, limit + 1, false) : undefined,
  ])
  const { shown, ...more } = pageOf(all, limit)
  const isPublic = open && new Set(open.map(({ id }) => id))
  const visible = isPublic ? shown.filter(({ id }) => isPublic.has(id) || (reader && may(reader, 'read', id))) : shown
  return { agents: visible.map(listed), ...more }
}

const listed = ({ id, origin, name, description, version, url }: Listed) => ({
  id,
  name,
  description,
  version,
  card: `${origin}/agents/${id}/.well-known/agent-card.json`,
  url,
})

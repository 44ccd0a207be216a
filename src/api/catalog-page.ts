import { publicCaching } from '../http/caching.ts'
import { strongEtag } from '../http/etag.ts'
import { jsonResponse } from '../http/json-response.ts'
import { agentId } from '../limits.ts'
import { listVisibleAgents } from './agent-page.ts'
import { isListPath, LIST_FORMATS } from './lists.ts'
import { parsePageQuery } from './pagination.ts'

/** A page of a public list as Workers Cache keeps it, under a tag; throws for a URL that `pageQuery` does not take. */
export const catalogPage = async (url: URL, tag: string, env: Env): Promise<Response> => {
  if (!isListPath(url.pathname)) throw new Error(`There is no list at ${url.pathname}`)
  const list = JSON.stringify(LIST_FORMATS[url.pathname](await listVisibleAgents(parsePageQuery(url, agentId), env)))
  return jsonResponse(list, 200, {
    'Cache-Control': publicCaching(env),
    // For Cloudflare's own cache, which would go on showing an old list while it asks for a new one.
    'Cloudflare-CDN-Cache-Control': 'max-age=60',
    'Cache-Tag': tag,
    ETag: await strongEtag(new TextEncoder().encode(list)),
    Vary: 'Authorization',
  })
}

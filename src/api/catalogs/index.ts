import { ANONYMOUS } from '../../auth/principal.ts'
import { matchesIfNoneMatch } from '../../http/conditional.ts'
import type { Handler } from '../../http/handler.ts'
import { PRIVATE_NO_STORE } from '../../http/headers.ts'
import { countList } from '../agents/lists.ts'
import { parseCatalogQuery } from './documents.ts'
import { resolveSite, toQuery } from './site.ts'

export { getEntry, postSearch } from './search.ts'

/**
 * `GET /.well-known/ai-catalog.json`, `ard.json`, `api-catalog`, `/llms.txt` and `/robots.txt`: the public agents of the host name,
 * for directories, crawlers and language models. The same for callers with a token.
 */
export const getCatalog: Handler = async (request, env, ctx) => {
  const { pathname, searchParams } = parseRequestUrl(request)
  await countList(ANONYMOUS, request, env)
  const site = await resolveSite({ request, env, ctx })
  const query = new URLSearchParams({ ...Object.fromEntries(searchParams), ...toQuery(site) })
  const response = await ctx.exports.Catalog({ props: {} }).fetch(new Request(`https://catalog${pathname}?${query}`))
  const headers = new Headers(response.headers)
  if (request.headers.has('Authorization')) headers.set('Cache-Control', PRIVATE_NO_STORE)
  if (!response.ok || !matchesIfNoneMatch(request.headers.get('If-None-Match'), headers.get('ETag') ?? ''))
    return new Response(response.body, { status: response.status, headers })
  headers.delete('Content-Type')
  return new Response(null, { status: 304, headers })
}

/** Returns the URL of a request for a catalog. Throws for an invalid query, before anything is counted or read. */
const parseRequestUrl = (request: Request): URL => {
  const url = new URL(request.url)
  // The router ignores slashes at the end.
  url.pathname = url.pathname.replace(/(?<!\/)\/+$/, '')
  parseCatalogQuery(url)
  return url
}

import { ANONYMOUS } from '../../auth/index.ts'
import type { Handler } from '../../http/index.ts'
import { countList } from '../agents/index.ts'
import { respondFromCache } from '../shared-cache.ts'
import { resolveSite } from '../site.ts'
import { checkCatalogQuery } from './catalog-documents.ts'
import { toQuery } from './site.ts'

export { getEntry, listEntries, postSearch } from './ard-api.ts'

/**
 * `GET /.well-known/ai-catalog.json`, `ard.json`, `api-catalog`, `/llms.txt`, `/sitemap.xml` and `/robots.txt`: the
 * public agents of the host name, for directories, crawlers and language models. The same for callers with a token.
 */
export const getCatalog: Handler = async (request, env, ctx) => {
  const { pathname, searchParams } = parseRequestUrl(request)
  const context = { request, env, ctx }
  await countList(ANONYMOUS, request, env)
  const site = toQuery(await resolveSite(context))
  return respondFromCache(pathname, new URLSearchParams({ ...Object.fromEntries(searchParams), ...site }), context)
}

/** Returns the URL of a request for a catalog. Throws for an invalid query, before anything is counted or read. */
const parseRequestUrl = (request: Request): URL => {
  const url = new URL(request.url)
  // The router ignores slashes at the end.
  url.pathname = url.pathname.replace(/(?<!\/)\/+$/, '')
  checkCatalogQuery(url)
  return url
}

import type { RequestContext } from '../../http/index.ts'
import { type Content, endpoint, withContent } from '../contract/index.ts'
import { AiCatalog, ArdManifest, LinkSet } from '../schemas/index.ts'
import { respondFromCache } from '../shared-cache.ts'
import { resolveSite } from '../site.ts'
import { catalogQuery, sitemapQuery, toQuery } from './catalog-documents.ts'

export { getArdEntry, listArdEntries, search, searchArd } from './ard-api.ts'
export { HOST_SERVER, mcpServerName, toLine } from './entries.ts'
export { getHostMcpServerCard, getMcpServerCard } from './mcp-server-cards.ts'

/** Returns the public agents of the host name in one form. The same for callers with a token. */
const getCatalog = async (context: RequestContext): Promise<Response> => {
  const { pathname, searchParams } = new URL(context.request.url)
  const query = new URLSearchParams({ ...Object.fromEntries(searchParams), ...toQuery(await resolveSite(context)) })
  // The router ignores slashes at the end.
  return respondFromCache(pathname.replace(/(?<!\/)\/+$/, ''), query, context)
}

const shared = { tag: 'catalogs', access: 'public', validated: true, raw: true, limits: ['CALL_LIMIT'] } as const

const catalog = (summary: string, content: Content) =>
  endpoint(
    {
      ...{ ...shared, summary, query: catalogQuery },
      responses: { 200: withContent('The public agents of the host name.', content, ['Link']) },
    },
    getCatalog,
  )

const plainText: Content = { 'text/plain': { text: { type: 'string' } } }

/** `GET /.well-known/ai-catalog.json`: the AI Catalog of the host name. */
export const getAiCatalog = catalog('Get the AI Catalog', { 'application/ai-catalog+json': AiCatalog })

/** `GET /.well-known/ard.json`: the ARD manifest of the host name. */
export const getArdManifest = catalog('Get the ARD manifest', { 'application/json': ArdManifest })

/** `GET /.well-known/api-catalog`: the API catalog of the host name. */
export const getApiCatalog = catalog('Get the API catalog (RFC 9727)', { 'application/linkset+json': LinkSet })

/** `GET /llms.txt`: the agents of the host name in Markdown. */
export const getLlmsText = catalog('Get the list of agents for language models', plainText)

/** `GET /robots.txt`: the rules for crawlers, and where the catalogs are. */
export const getRobotsText = catalog('Get the rules for crawlers', plainText)

/** `GET /sitemap.xml`: the pages of the agents of the host name. */
export const getSitemap = endpoint(
  {
    ...{ ...shared, summary: 'Get the sitemap of the pages of agents', query: sitemapQuery },
    responses: {
      200: withContent('A sitemap or an index.', { 'application/xml': { text: { type: 'string' } } }, ['Link']),
    },
    problems: ['not-found'],
  },
  getCatalog,
)

import { agentIdPattern } from '../../card/model/constants.ts'
import { strongEtag } from '../../http/conditional.ts'
import { CORS_HEADERS, publicCacheControl } from '../../http/headers.ts'
import { MAX_CATALOG_ENTRIES } from '../../limits.ts'
import { getRegistry } from '../../registry/store/client.ts'
import { CATALOG_DOCUMENTS, CATALOG_LINKS } from '../agents/lists.ts'
import { paginate, parsePageQuery } from '../pagination.ts'
import {
  AI_CATALOG_TYPE,
  AI_REGISTRY_TYPE,
  agentEntry,
  type CatalogEntry,
  cardUrl,
  entry,
  registryUrl,
} from './entries.ts'
import { type CatalogPage, fromQuery } from './site.ts'
import { renderLlmsText, renderRobotsText } from './texts.ts'

type Document = { type: string; render: (page: CatalogPage, path: string) => string }

const documents: Record<string, Document> = {
  '/.well-known/ai-catalog.json': {
    type: CATALOG_DOCUMENTS['/.well-known/ai-catalog.json'].type,
    render: page => JSON.stringify({ specVersion: '1.0', ...renderEntries(page) }),
  },
  // ARD 0.91 needs `entries` only; readers of 0.9 need the version and the host.
  '/.well-known/ard.json': {
    type: CATALOG_DOCUMENTS['/.well-known/ard.json'].type,
    render: page => JSON.stringify({ specVersion: '1.0', ...renderEntries(page) }),
  },
  '/.well-known/api-catalog': {
    type: CATALOG_DOCUMENTS['/.well-known/api-catalog'].type,
    render: page => JSON.stringify(renderLinkSet(page)),
  },
  '/llms.txt': { type: 'text/plain; charset=utf-8', render: renderLlmsText },
  '/robots.txt': { type: 'text/plain; charset=utf-8', render: renderRobotsText },
}

/** Renders a catalog as everybody gets it, with the headers by which Workers Cache keeps it. The query must be valid. */
export const renderCatalog = async (url: URL, cacheTag: string, env: Env): Promise<Response> => {
  const document = documents[url.pathname]
  if (!document) throw new Error(`There is no catalog at ${url.pathname}`)
  const page = await readPage(url, env)
  const body = document.render(page, url.pathname)
  return new Response(body, {
    headers: {
      ...CORS_HEADERS,
      'Content-Type': document.type,
      'Cache-Control': publicCacheControl(env),
      // Workers Cache ignores stale-while-revalidate with this header: it must not show an old catalog.
      'Cloudflare-CDN-Cache-Control': 'max-age=60',
      'Cache-Tag': cacheTag,
      ETag: await strongEtag(new TextEncoder().encode(body)),
      Link: page.next ? `${CATALOG_LINKS}, <${page.next}>; rel="next"` : CATALOG_LINKS,
      Vary: 'Authorization',
    },
  })
}

/** Parses the query of a catalog. */
export const parseCatalogQuery = (url: URL, others: readonly string[] = []) =>
  parsePageQuery(url, agentIdPattern, others, MAX_CATALOG_ENTRIES)

const readPage = async (url: URL, env: Env): Promise<CatalogPage> => {
  const { after, limit } = parseCatalogQuery(url, ['origin', 'own', 'owner'])
  const site = fromQuery(url.searchParams)
  const { origin, isOwn } = site
  const { owner } = site
  const query = { after, limit: limit + 1, origin, ...(owner !== undefined && { owner }) }
  const { agents, isKnownOrigin } = await getRegistry(env).catalog(query)
  const { page, cursor } = paginate(agents, limit)
  return {
    agents: page,
    site,
    ...((isOwn || isKnownOrigin) && { origin }),
    ...(cursor !== undefined && { next: nextPath(url, cursor) }),
  }
}

const nextPath = ({ pathname, searchParams }: URL, cursor: string): string => {
  const limit = searchParams.get('limit')
  return `${pathname}?${new URLSearchParams({ ...(limit !== null && { limit }), cursor })}`
}

const renderEntries = ({ agents, origin, site, next }: CatalogPage) => ({
  host: describeHost(origin),
  entries: [
    ...agents.map(agentEntry),
    // The catalog of one agent's host name is no place to search the whole host.
    ...(origin !== undefined && site.owner === undefined ? [searchEntry(origin)] : []),
    ...(origin !== undefined && next !== undefined ? [nextEntry(origin, next)] : []),
  ],
})

const describeHost = (origin: string | undefined) => {
  const hostname = origin === undefined ? undefined : new URL(origin).hostname
  return { displayName: hostname ?? 'Calling Card', ...(hostname !== undefined && { identifier: hostname }) }
}

const searchEntry = (origin: string): CatalogEntry => ({
  ...entry(origin, 'registry:search', {
    displayName: 'Agent search',
    type: AI_REGISTRY_TYPE,
    url: registryUrl(origin),
  }),
  description: 'Finds agents of this host by what they can do.',
})

const nextEntry = (origin: string, next: string): CatalogEntry => {
  const cursor = new URL(next, origin).searchParams.get('cursor') ?? ''
  const type = AI_CATALOG_TYPE
  return entry(origin, `catalog:after-${cursor}`, { displayName: 'More agents', type, url: `${origin}${next}` })
}

/** Returns the links of the APIs of this host and of its agents (RFC 9727, in the form of RFC 9264 §4.2). */
const renderLinkSet = ({ agents, origin = '', next }: CatalogPage) => {
  const endpoints = Map.groupBy(agents, ({ url, origin, id }) => url || `${origin}/agents/${id}`)
  const catalog = {
    anchor: `${origin}/.well-known/api-catalog`,
    ...(endpoints.size > 0 && { item: [...endpoints.keys()].map(href => ({ href })) }),
    ...(next !== undefined && { 'api-catalog': [{ href: `${origin}${next}` }] }),
  }
  const apis = [...endpoints].map(([anchor, agents]) => {
    const documentation = agents.flatMap(({ documentationUrl }) => documentationUrl ?? [])
    return {
      anchor,
      'service-desc': agents.map(agent => ({ href: cardUrl(agent), type: 'application/json', title: agent.name })),
      ...(documentation.length > 0 && { 'service-doc': documentation.map(href => ({ href })) }),
    }
  })
  return { linkset: [catalog, ...apis] }
}

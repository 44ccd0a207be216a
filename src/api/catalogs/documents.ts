import { agentIdPattern, cardUrl } from '../../card/model/index.ts'
import { MAX_CATALOG_ENTRIES } from '../../limits.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { paginate, parsePageQuery } from '../pagination.ts'
import { CATALOG_DOCUMENTS, cacheableResponse, OPENAPI_PATH } from '../shared-cache.ts'
import { AI_CATALOG_TYPE, AI_REGISTRY_TYPE, agentEntry, type CatalogEntry, entry, registryUrl } from './entries.ts'
import { type CatalogPage, fromQuery, SITE_PARAMETERS } from './site.ts'
import { parseSitemapQuery, renderSitemap, SITEMAP_PATH } from './sitemap.ts'
import { renderLlmsText, renderRobotsText } from './texts.ts'
import { type RenderedCatalog, signCatalog } from './trust.ts'

/** A document that `isPaged` lists agents. */
type Document = {
  type: string
  render: (page: CatalogPage, env: Env) => string | Promise<RenderedCatalog>
  isPaged: boolean
}

const TEXT_TYPE = 'text/plain; charset=utf-8'

/** A client can make up the name of a host, and nothing is signed that names it. */
const renderAiCatalog = (page: CatalogPage, env: Env) => {
  const { entries, ...manifest } = renderManifest(page)
  const catalog = { ...manifest, entries: entries.map(withoutArdTerms) }
  return page.isOwn && page.origin !== undefined ? signCatalog(catalog, page.origin, env) : JSON.stringify(catalog)
}

const documents: Record<string, Document> = {
  '/.well-known/ai-catalog.json': {
    type: CATALOG_DOCUMENTS['/.well-known/ai-catalog.json'].type,
    render: renderAiCatalog,
    isPaged: true,
  },
  '/.well-known/ard.json': {
    type: CATALOG_DOCUMENTS['/.well-known/ard.json'].type,
    render: page => JSON.stringify(renderManifest(page)),
    isPaged: true,
  },
  '/.well-known/api-catalog': {
    type: CATALOG_DOCUMENTS['/.well-known/api-catalog'].type,
    render: page => JSON.stringify(renderLinkSet(page)),
    isPaged: true,
  },
  '/llms.txt': { type: TEXT_TYPE, render: renderLlmsText, isPaged: true },
  '/robots.txt': { type: TEXT_TYPE, render: renderRobotsText, isPaged: false },
}

/** Renders a catalog as everybody gets it. The query must be valid. */
export const renderCatalog = async (url: URL, env: Env): Promise<Response> => {
  if (url.pathname === SITEMAP_PATH) return renderSitemap(url, env)
  const document = documents[url.pathname]
  if (!document) throw new Error(`There is no catalog at ${url.pathname}`)
  const page = await readPage(url, document.isPaged, env)
  const rendered = await document.render(page, env)
  const { type } = document
  return cacheableResponse({ ...(typeof rendered === 'string' ? { body: rendered } : rendered), type }, env, page.next)
}

/** Throws for an invalid query of a catalog, before anything is counted or read. */
export const checkCatalogQuery = (url: URL): void => {
  if (url.pathname === SITEMAP_PATH) parseSitemapQuery(url)
  else parseCatalogQuery(url)
}

/** Parses the query of a catalog. */
const parseCatalogQuery = (url: URL, others: readonly string[] = []) =>
  parsePageQuery(url, agentIdPattern, others, MAX_CATALOG_ENTRIES)

const readPage = async (url: URL, isPaged: boolean, env: Env): Promise<CatalogPage> => {
  const { after, limit: pageSize } = parseCatalogQuery(url, SITE_PARAMETERS)
  const { origin, isOwn, owner } = fromQuery(url.searchParams)
  const ofOwner = owner !== undefined && { owner }
  const limit = isPaged ? pageSize : 0
  const { agents, isKnownOrigin } = await getRegistry(env).catalog({ after, limit: limit + 1, origin, ...ofOwner })
  const { page, cursor } = paginate(agents, limit)
  return {
    agents: page,
    isOwn,
    ...ofOwner,
    ...((isOwn || isKnownOrigin) && { origin }),
    ...(cursor !== undefined && { next: nextPath(url, cursor) }),
  }
}

const nextPath = ({ pathname, searchParams }: URL, cursor: string): string => {
  const limit = searchParams.get('limit')
  return `${pathname}?${new URLSearchParams({ ...(limit !== null && { limit }), cursor })}`
}

/** The schema of AI Catalog is closed. */
const withoutArdTerms = ({ capabilities: _, representativeQueries: __, ...entry }: CatalogEntry) => entry

/**
 * An ARD manifest has the form of an AI Catalog: ARD 0.91 requires `entries` only, and readers of 0.9 the version and
 * the host.
 */
const renderManifest = ({ agents, origin, owner, next }: CatalogPage) => ({
  specVersion: '1.0',
  host: describeHost(origin),
  entries: [
    ...agents.map(agentEntry),
    // The catalog of one agent's host name is no place to search the whole host.
    ...(origin !== undefined && owner === undefined ? [searchEntry(origin)] : []),
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
const renderLinkSet = ({ agents, origin = '', owner, next }: CatalogPage) => {
  const endpoints = Map.groupBy(agents, ({ url, origin, id }) => url || `${origin}/agents/${id}`)
  // The catalog of one agent's host name has that agent only.
  const own = owner === undefined ? [ownApi(origin)] : []
  const items = [...own.map(({ anchor }) => anchor), ...endpoints.keys()]
  const catalog = {
    anchor: `${origin}/.well-known/api-catalog`,
    ...(items.length > 0 && { item: items.map(href => ({ href })) }),
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
  return { linkset: [catalog, ...own, ...apis] }
}

/** Returns the links of the API of this host (RFC 8631). */
const ownApi = (origin: string) => ({
  anchor: `${origin}/`,
  'service-desc': [{ href: `${origin}${OPENAPI_PATH}`, type: 'application/json', title: 'OpenAPI' }],
  status: [{ href: `${origin}/health`, type: 'application/json' }],
})

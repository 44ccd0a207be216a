import { agentIdPattern, cardUrl } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { problem, sha256Hex } from '../../http/index.ts'
import { canonicalJson, type JsonObject } from '../../json/index.ts'
import { MAX_CATALOG_ENTRIES, MAX_SITEMAP_URLS } from '../../limits.ts'
import { getRegistry } from '../../registry/store/index.ts'
import type { CatalogAgent } from '../../registry/tables/index.ts'
import { findSigningKeys, signDetached } from '../../signing/index.ts'
import { flag, integer, pageQuery, paginate, parseQuery, text } from '../contract/index.ts'
import { toTime } from '../schemas/index.ts'
import { CATALOG_DOCUMENTS, cacheableResponse, OPENAPI_PATH } from '../shared-cache.ts'
import type { Site } from '../site.ts'
import { didOf, entriesOf, entry, HOST_SERVER, mcpEntry, registryUrl, toLine } from './entries.ts'

/**
 * One page of a catalog. `origin` is that of its own links; undefined while this host does not know under which name it
 * is public. It `isOwn` if the owner of the host has decided on it. `next` is the path of the next page; with
 * `offersMcp`, agents are MCP servers, too.
 */
type CatalogPage = Omit<Site, 'origin'> & {
  agents: CatalogAgent[]
  origin?: string
  next?: string
  offersMcp: boolean
}

/** The catalogs by their paths, apart from the sitemap: how each is written. */
const documents: Record<string, (page: CatalogPage, env: Env) => string | Promise<Rendered>> = {
  '/.well-known/ai-catalog.json': (page, env) => renderAiCatalog(page, env),
  '/.well-known/ard.json': page => JSON.stringify(renderManifest(page)),
  '/.well-known/api-catalog': page => JSON.stringify(renderLinkSet(page)),
  '/llms.txt': page => renderLlmsText(page),
  '/robots.txt': page => renderRobotsText(page),
}

/** Renders a catalog as everybody gets it. The query must be valid. */
export const renderCatalog = async (url: URL, env: Env): Promise<Response> => {
  const { pathname } = url
  if (pathname === SITEMAP_PATH) return renderSitemap(url, env)
  const render = documents[pathname]
  if (!render) throw new Error(`There is no catalog at ${pathname}`)
  const page = await readPage(url, env)
  const rendered = await render(page, env)
  const [, { type } = { type: 'text/plain; charset=utf-8' }] =
    Object.entries(CATALOG_DOCUMENTS).find(([path]) => path === pathname) ?? []
  return cacheableResponse({ ...(typeof rendered === 'string' ? { body: rendered } : rendered), type }, env, page.next)
}

/** A client can make up the name of a host, and nothing is signed that names it. */
const renderAiCatalog = (page: CatalogPage, env: Env) => {
  const { entries, ...manifest } = renderManifest(page)
  // The schema of AI Catalog is closed.
  const withoutArdTerms = entries.map(({ capabilities: _, representativeQueries: __, ...entry }) => entry)
  const catalog = { ...manifest, entries: withoutArdTerms }
  return page.isOwn && page.origin !== undefined ? signCatalog(catalog, page.origin, env) : JSON.stringify(catalog)
}

/** The query of a catalog. */
export const catalogQuery = pageQuery(agentIdPattern, MAX_CATALOG_ENTRIES)

/** The site in the query for the cache, whose key has no host name. */
const siteQuery = {
  origin: text('The origin of the site.'),
  isOwn: flag('Whether the owner of the host has decided on it.', false),
  owner: text('The agent that claims the host name.'),
} as const

/** Returns the site as that query. */
export const toQuery = ({ origin, isOwn, owner }: Site): Record<string, string> => ({
  ...{ origin, isOwn: String(isOwn) },
  ...(owner !== undefined && { owner }),
})

const readPage = async (url: URL, env: Env): Promise<CatalogPage> => {
  const query = parseQuery(url, { ...catalogQuery, ...siteQuery })
  const { limit: pageSize, cursor: after, origin = '', isOwn, owner } = query
  const ofOwner = owner !== undefined && { owner }
  const limit = url.pathname === '/robots.txt' ? 0 : pageSize
  const { agents, isKnownOrigin } = await getRegistry(env).catalog({ after, limit: limit + 1, origin, ...ofOwner })
  const { page, cursor } = paginate(agents, limit, 'id')
  const sentLimit = url.searchParams.has('limit') && { limit: String(pageSize) }
  return {
    agents: page,
    isOwn,
    offersMcp: config(env).offersMcp,
    ...ofOwner,
    ...((isOwn || isKnownOrigin) && { origin }),
    ...(cursor !== undefined && { next: `${url.pathname}?${new URLSearchParams({ ...sentLimit, cursor })}` }),
  }
}

/** An ARD manifest has the form of an AI Catalog. ARD 0.91 requires `entries` only, readers of 0.9 the others. */
const renderManifest = ({ agents, origin, owner, next, offersMcp }: CatalogPage) => {
  const entries = entriesOf(agents, offersMcp)
  if (origin === undefined) return { specVersion: '1.0', host: { displayName: 'Calling Card' }, entries }
  const { hostname } = new URL(origin)
  // The catalog of one agent's host name is no place to search the whole host.
  if (owner === undefined) {
    const search = { displayName: 'Agent search', type: 'application/ai-registry+json', url: registryUrl(origin) }
    const description = 'Finds agents of this host by what they can do.'
    entries.push(entry(origin, 'registry:search', { ...search, description }))
    const host = { displayName: `Agents of ${hostname}`, url: `${origin}/mcp` }
    if (offersMcp) entries.push(mcpEntry(origin, HOST_SERVER, host))
  }
  if (next !== undefined) {
    const cursor = new URL(next, origin).searchParams.get('cursor') ?? ''
    const { type } = CATALOG_DOCUMENTS['/.well-known/ai-catalog.json']
    const more = { displayName: 'More agents', type, url: `${origin}${next}` }
    entries.push(entry(origin, `catalog:after-${cursor}`, more))
  }
  return { specVersion: '1.0', host: { displayName: hostname, identifier: hostname }, entries }
}

/** Returns the links of the APIs of this host and of its agents (RFC 9727, in the form of RFC 9264 §4.2). */
const renderLinkSet = ({ agents, origin = '', owner, next }: CatalogPage) => {
  const endpoints = Map.groupBy(agents, ({ url, origin, id }) => url || `${origin}/agents/${id}`)
  // The catalog of one agent's host name has that agent only.
  const openApi = { href: `${origin}${OPENAPI_PATH}`, type: 'application/json', title: 'OpenAPI' }
  const status = { href: `${origin}/health`, type: 'application/json' }
  // RFC 8631.
  const own = owner === undefined ? [{ anchor: `${origin}/`, 'service-desc': [openApi], status: [status] }] : []
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

const MAX_LINE_LENGTH = 300

/** Returns the list of agents for language models (llmstxt.org): Markdown with a link to each card. */
const renderLlmsText = ({ agents, origin, owner, next, offersMcp }: CatalogPage): string => {
  const base = origin ?? ''
  const items = agents.map(agent => {
    const [name, description] = [agent.name, agent.description].map(text => escapeText(toLine(text, MAX_LINE_LENGTH)))
    return `- [${name}](${cardUrl(agent)})${description && `: ${description}`}`
  })
  const sections = [
    `# ${origin === undefined ? 'Agents' : `Agents of ${new URL(origin).host}`}`,
    '> A2A agents and what they do. ' +
      'Each link is the Agent Card of an agent: its skills, its address, and how to call it.',
    ...(offersMcp && origin !== undefined && owner === undefined ? [mcpNote(origin)] : []),
    ...(items.length > 0 ? [`## Agents\n\n${items.join('\n')}`] : []),
    [
      '## Optional\n',
      ...(next === undefined ? [] : [`- [More agents](${base}${next}): the next page of this list`]),
      `- [All agents](${base}/agents): as JSON, with search`,
      `- [AI Catalog](${base}/.well-known/ai-catalog.json): the same agents for programs`,
    ].join('\n'),
  ]
  return `${sections.join('\n\n')}\n`
}

const mcpNote = (origin: string): string =>
  `MCP clients find and call all of these agents at ${origin}/mcp, and each of them at /agents/{id}/mcp.`

/** Returns the rules for crawlers (RFC 9309), with the absolute URLs of the ARD manifest and of the sitemap. */
const renderRobotsText = ({ origin = '' }: CatalogPage): string =>
  `User-agent: *\nAllow: /\n\nAgentmap: ${origin}/.well-known/ard.json\n` +
  (origin === '' ? '' : `Sitemap: ${origin}${SITEMAP_PATH}\n`)

/** Escapes what Markdown or HTML would take for a link, an image, code or a tag. */
const escapeText = (text: string): string => text.replace(/[\\`*_[\]<>]/g, '\\$&')

/** The text of a catalog, and its entity tag where that is not the digest of its bytes. */
type Rendered = { body: string; etag?: string }

/** The type of the signature, so that it is never taken for that of a card, which the same key makes. */
const SIGNATURE_TYPE = 'ai-catalog+jws'

/**
 * Signs an AI Catalog as its host, if it has a key: a detached JWS (RFC 7515, appendix F) over its canonical form (RFC
 * 8785), whose key is named by the DID of the host. `origin` must be one that the owner of the host has decided on.
 */
const signCatalog = async (catalog: JsonObject & { host: JsonObject }, origin: string, env: Env): Promise<Rendered> => {
  const did = didOf(origin)
  const keys = did === undefined ? undefined : await findSigningKeys(env)
  if (!keys) return { body: JSON.stringify(catalog) }
  const { kid } = keys.current
  // The catalog is attributed to the operator that signs it.
  const attributed = { ...catalog, host: { ...catalog.host, identifier: did } }
  const signature = await signDetached(attributed, { typ: SIGNATURE_TYPE, kid: `${did}#${kid}` }, keys.current)
  return {
    body: JSON.stringify({ ...attributed, signature }),
    // Each signature has other bytes and the same meaning: the tag is weak (RFC 9110 §8.8.1).
    etag: `W/"${await sha256Hex(`${kid}.${canonicalJson(attributed)}`)}"`,
  }
}

const SITEMAP_PATH = '/sitemap.xml'

/** Sitemaps in one index (sitemaps.org). */
const MAX_SITEMAPS = 50_000

/** The query of the sitemap. */
export const sitemapQuery = {
  page: integer('The page of a sitemap that is too large for one document. Without it, that is an index of pages.', {
    max: MAX_SITEMAPS,
    problem: 'bad-page',
  }),
} as const

/** Renders the sitemap of a site, which may name no URL of another host. Above `size` agents, it is an index. */
export const renderSitemap = async (url: URL, env: Env, size = MAX_SITEMAP_URLS): Promise<Response> => {
  const { page, origin = '', isOwn, owner } = parseQuery(url, { ...sitemapQuery, ...siteQuery })
  const found = await getRegistry(env).sitemap({ origin, page, size })
  const base = escapeXml(origin)
  if ('pages' in found) {
    const pages = Array.from({ length: Math.min(found.pages, MAX_SITEMAPS) }, (_, index) => index + 1)
    const locations = pages.map(page => `<sitemap><loc>${base}${SITEMAP_PATH}?page=${page}</loc></sitemap>`)
    return xmlResponse('sitemapindex', locations, env)
  }
  const { agents } = found
  if (page !== undefined && agents.length === 0)
    throw problem('not-found', `The sitemap has no page ${page}. GET ${SITEMAP_PATH} lists its pages.`)
  // The name of a request may be made up, and a name that stands for one agent has no page of the whole host.
  const hasCatalog = (page ?? 1) === 1 && owner === undefined && (isOwn || agents.length > 0)
  const pages = agents.map(
    ({ id, modified }) => `<url><loc>${base}/agents/${id}</loc><lastmod>${toTime(modified)}</lastmod></url>`,
  )
  return xmlResponse('urlset', [...(hasCatalog ? [`<url><loc>${base}/</loc></url>`] : []), ...pages], env)
}

const xmlResponse = (name: string, entries: readonly string[], env: Env): Promise<Response> => {
  const start = `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
  const body = [start, ...entries, `</${name}>\n`].join('\n')
  return cacheableResponse({ body, type: 'application/xml; charset=utf-8' }, env)
}
const escapes: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/** Escapes what XML reserves: the name of a host can have an ampersand. */
const escapeXml = (text: string): string => text.replace(/[&<>"']/g, character => `&${escapes[character]};`)

import { HttpError } from '../../http/index.ts'
import { MAX_SITEMAP_URLS } from '../../limits.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { rejectUnknownQuery } from '../parse-request.ts'
import { cacheableResponse } from '../shared-cache.ts'
import { fromQuery, SITE_PARAMETERS } from './site.ts'

/** The path of the sitemap. */
export const SITEMAP_PATH = '/sitemap.xml'

/** Sitemaps in one index (sitemaps.org). */
const MAX_SITEMAPS = 50_000

/** Parses the query of a sitemap: the page of one that is too large for one document. */
export const parseSitemapQuery = (url: URL, others: readonly string[] = []): number | undefined => {
  rejectUnknownQuery(url, [...others, 'page'])
  const page = url.searchParams.get('page')
  if (page === null) return undefined
  if (!/^[1-9]\d{0,4}$/.test(page) || Number(page) > MAX_SITEMAPS)
    throw new HttpError(400, 'bad-page', `page must be a number from 1 to ${MAX_SITEMAPS}.`)
  return Number(page)
}

/**
 * Renders the sitemap of a site: the page of the catalog, and those of the public agents whose URLs begin with its
 * origin, because a sitemap may name no URL of another host. Above `size` agents, it is an index of sitemaps.
 */
export const renderSitemap = async (url: URL, env: Env, size = MAX_SITEMAP_URLS): Promise<Response> => {
  const page = parseSitemapQuery(url, SITE_PARAMETERS)
  const { origin, isOwn, owner } = fromQuery(url.searchParams)
  const found = await getRegistry(env).sitemap({ origin, page, size })
  if ('pages' in found) return xmlResponse(writeIndex(origin, found.pages), env)
  const { agents } = found
  if (page !== undefined && agents.length === 0)
    throw new HttpError(404, 'not-found', `The sitemap has no page ${page}. GET ${SITEMAP_PATH} lists its pages.`)
  // The name of a request may be made up, and a name that stands for one agent has no page of the whole host.
  const hasCatalog = (page ?? 1) === 1 && owner === undefined && (isOwn || agents.length > 0)
  return xmlResponse(writeSitemap(origin, agents, hasCatalog), env)
}

const xmlResponse = (text: string, env: Env): Promise<Response> =>
  cacheableResponse({ body: text, type: 'application/xml; charset=utf-8' }, env)

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9'

type Listed = { id: string; modified: number }

const writeSitemap = (origin: string, agents: readonly Listed[], hasCatalog: boolean): string =>
  writeDocument('urlset', [
    ...(hasCatalog ? [`<url><loc>${escapeXml(origin)}/</loc></url>`] : []),
    ...agents.map(({ id, modified }) => {
      const time = new Date(modified).toISOString()
      return `<url><loc>${escapeXml(`${origin}/agents/${id}`)}</loc><lastmod>${time}</lastmod></url>`
    }),
  ])

const writeIndex = (origin: string, pages: number): string =>
  writeDocument(
    'sitemapindex',
    Array.from({ length: Math.min(pages, MAX_SITEMAPS) }, (_, index) => {
      const location = `${origin}${SITEMAP_PATH}?page=${index + 1}`
      return `<sitemap><loc>${escapeXml(location)}</loc></sitemap>`
    }),
  )

const writeDocument = (name: string, entries: readonly string[]): string =>
  ['<?xml version="1.0" encoding="UTF-8"?>', `<${name} xmlns="${NAMESPACE}">`, ...entries, `</${name}>\n`].join('\n')

const escapes: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/** Escapes what XML reserves: the name of a host can have an ampersand. */
const escapeXml = (text: string): string => text.replace(/[&<>"']/g, character => `&${escapes[character]};`)

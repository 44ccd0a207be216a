import { HttpError } from '../../http/errors.ts'
import { MAX_SITEMAP_URLS } from '../../limits.ts'
import type { SitemapPage } from '../../registry/records.ts'
import { getRegistry } from '../../registry/store/client.ts'
import { rejectUnknownQuery } from '../pagination.ts'
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
 * Renders the sitemap of a site: the page of the catalog and those of the public agents whose URLs begin with its origin. Of more agents
 * than one document may have, it is an index of sitemaps. A sitemap may name no URL of another host.
 */
export const renderSitemap = async (url: URL, env: Env, size = MAX_SITEMAP_URLS): Promise<Response> => {
  const page = parseSitemapQuery(url, SITE_PARAMETERS)
  const { origin, isOwn, owner } = fromQuery(url.searchParams)
  const found = await getRegistry(env).sitemap({ origin, page: page ?? 1, size })
  if (page !== undefined && found.agents.length === 0)
    throw new HttpError(404, 'not-found', `The sitemap has no page ${page}. GET ${SITEMAP_PATH} lists its pages.`)
  // The name of a request may be made up, and that of one agent has no page of the whole host.
  const hasCatalog = owner === undefined && (isOwn || found.count > 0) && (page ?? 1) === 1
  const text =
    page === undefined && found.count > size
      ? writeIndex(origin, Math.ceil(found.count / size))
      : writeSitemap(origin, found, hasCatalog)
  return cacheableResponse(text, 'application/xml; charset=utf-8', env)
}

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9'

const writeSitemap = (origin: string, { agents }: SitemapPage, hasCatalog: boolean): string =>
  writeDocument('urlset', [
    ...(hasCatalog ? [`<url><loc>${escapeXml(origin)}/</loc></url>`] : []),
    ...agents.map(
      ({ id, modified }) =>
        `<url><loc>${escapeXml(`${origin}/agents/${id}`)}</loc><lastmod>${new Date(modified).toISOString()}</lastmod></url>`,
    ),
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
  `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="${NAMESPACE}">\n${entries.map(entry => `${entry}\n`).join('')}</${name}>\n`

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** The name of a host can have an ampersand. */
const escapeXml = (text: string): string => text.replace(/[&<>"']/g, character => escapes[character] ?? '')

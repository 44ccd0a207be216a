import { html } from 'hono/html'
import { CATALOG_DOCUMENTS } from '../../api/index.ts'
import { clientKey, countRequest } from '../../auth/index.ts'
import { CORS_HEADERS, matchesIfNoneMatch, NO_STORE, PRIVATE_NO_STORE, strongEtag } from '../../http/index.ts'
import { assetPath } from './assets.ts'

/** Escaped HTML. */
export type Html = ReturnType<typeof html>

/** A page of this host. */
export type Page = {
  title: string
  /** What search engines and link previews show of it; the default describes this host. */
  description?: string
  /** The section in the navigation that the page belongs to. */
  section?: 'agents' | 'lint' | 'manage'
  /** Further elements of the head. */
  head?: Html
  main: Html
  /** The module of src/pages/browser that the page runs. */
  script?: string
  /** Origins besides this host's that the page may call. */
  connectTo?: readonly string[]
}

const sections = [
  ['agents', '/agents', 'Agents'],
  ['lint', '/lint', 'Check a card'],
  ['manage', '/manage', 'Manage'],
] as const

const documentLinks = [
  ...Object.keys(CATALOG_DOCUMENTS).map(path => [path, path.slice(path.lastIndexOf('/') + 1)] as const),
  ['/llms.txt', 'llms.txt'],
  ['/sitemap.xml', 'sitemap.xml'],
  ['/openapi.json', 'OpenAPI'],
  ['/schema/manifest.json', 'Manifest schema'],
] as const

const renderPage = ({ title, description, section, head, main, script }: Page): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description ?? 'Agents of this host, and their A2A Agent Cards.'}">
<link rel="stylesheet" href="${assetPath('site.css')}">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${Object.entries(CATALOG_DOCUMENTS).map(([path, { rel, type }]) => html`<link rel="${rel}" href="${path}" type="${type}">\n`)}
<link rel="service-desc" href="/openapi.json" type="application/json">
${script === undefined ? '' : html`<script type="module" src="${assetPath(script)}"></script>`}
${head ?? ''}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="site-header">
<nav aria-label="Main">
<a class="brand" href="/">Calling Card</a>
<ul>${sections.map(([name, path, label]) => html`<li><a href="${path}"${name === section ? html` aria-current="page"` : ''}>${label}</a></li>`)}</ul>
</nav>
</header>
<main id="main" tabindex="-1">
${main}
</main>
<footer class="site-footer">
<nav aria-label="Documents for machines"><ul>${documentLinks.map(([path, label]) => html`<li><a href="${path}">${label}</a></li>`)}</ul></nav>
</footer>
</body>
</html>
`

/** Counts a page or a picture for the address of its client. Throws past the limit. */
export const countPage = (request: Request, { PAGE_LIMIT }: Env): Promise<void> =>
  countRequest(PAGE_LIMIT, clientKey(request), 'Too many pages and pictures requested from your address.')

/** How a page is answered. Without `cacheControl`, no cache stores it. */
type PageOptions = { status?: number; cacheControl?: string; headers?: Record<string, string> }

/** Returns the response with a page, or 304 if the browser has it. A response to a request with a token is for no shared cache. */
export const pageResponse = async (
  page: Page,
  { headers: requestHeaders }: Request,
  { status = 200, cacheControl = NO_STORE, headers = {} }: PageOptions = {},
): Promise<Response> => {
  const body = String(await renderPage(page))
  // No client asks again with the tag of an error.
  const etag = status === 200 ? await strongEtag(new TextEncoder().encode(body)) : undefined
  const common = {
    ...CORS_HEADERS,
    'Cache-Control': requestHeaders.has('Authorization') ? PRIVATE_NO_STORE : cacheControl,
    ...(etag !== undefined && { ETag: etag }),
    Vary: 'Accept, Authorization',
    ...headers,
  }
  if (etag !== undefined && matchesIfNoneMatch(requestHeaders.get('If-None-Match'), etag))
    return new Response(null, { status: 304, headers: common })
  return new Response(body, {
    status,
    headers: { ...common, ...securityHeaders(page.connectTo), 'Content-Type': 'text/html; charset=utf-8' },
  })
}

/** Only files of this host run or style a page, nothing may embed it, and it calls nothing but this host and `connectTo`. */
const securityHeaders = (connectTo: readonly string[] = []): Record<string, string> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    ["connect-src 'self'", ...connectTo].join(' '),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'strict-origin-when-cross-origin',
})

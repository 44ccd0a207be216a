import { html } from 'hono/html'
import { CATALOG_DOCUMENTS } from '../../api/index.ts'
import {
  CORS_HEADERS,
  type HttpError,
  matchesIfNoneMatch,
  NO_STORE,
  PRIVATE_NO_STORE,
  statusOf,
  strongEtag,
} from '../../http/index.ts'

/** The paths of static assets by their names in the source. tools/build.ts defines it; a test has none. */
declare const ASSET_PATHS: Readonly<Record<string, string>>

/** Returns the path of a style sheet or script that a page loads, such as `site.css` or `manage.js`. */
export const assetPath = (name: string): string => ASSET_PATHS[name] ?? `/assets/${name}`

/** Escaped HTML. */
export type Html = ReturnType<typeof html>

/** A page of this host. */
export type Page = {
  title: string
  /** The description for search engines and link previews; the default describes this host. */
  description?: string
  section?: keyof typeof sections
  head?: Html
  main: Html
  /** The module of src/pages/browser that the page runs. */
  script?: string
  /** Origins besides this host's that the page may call. */
  connectTo?: readonly string[]
}

const sections = { agents: 'Agents', lint: 'Check a card', manage: 'Manage' } as const

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
${Object.entries(CATALOG_DOCUMENTS).map(
  ([path, { rel, type }]) => html`<link rel="${rel}" href="${path}" type="${type}">`,
)}
<link rel="service-desc" href="/openapi.json" type="application/json">
${script !== undefined && html`<script type="module" src="${assetPath(script)}"></script>`}
${head}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="site-header">
<nav aria-label="Main">
<a class="brand" href="/">Calling Card</a>
<ul>${Object.entries(sections).map(([name, label]) => {
  const current = name === section && html` aria-current="page"`
  return html`<li><a href="/${name}"${current}>${label}</a></li>`
})}</ul>
</nav>
</header>
<main id="main" tabindex="-1">
${main}
</main>
<footer class="site-footer">
<nav aria-label="Documents for machines"><ul>${documentLinks.map(
  ([path, label]) => html`<li><a href="${path}">${label}</a></li>`,
)}</ul></nav>
</footer>
</body>
</html>
`

type ResponseOptions = { status?: number; cacheControl?: string; headers?: Record<string, string> }

/** Returns the response with a page, or 304 if the browser has it. */
export const pageResponse = async (page: Page, request: Request, { headers, ...options }: ResponseOptions = {}) =>
  textResponse(String(await renderPage(page)), request, {
    ...options,
    headers: { Vary: 'Accept, Authorization', ...headers },
    content: { ...securityHeaders(page.connectTo), 'Content-Type': 'text/html; charset=utf-8' },
  })

/** Returns a text, or 304 if the client has it, without `content`. No shared cache stores one for a token. */
export const textResponse = async (
  text: string,
  { headers: requestHeaders }: Request,
  { status = 200, cacheControl = NO_STORE, headers, content }: ResponseOptions & { content: Record<string, string> },
): Promise<Response> => {
  // No client asks again with the tag of an error.
  const etag = status === 200 ? await strongEtag(new TextEncoder().encode(text)) : undefined
  const common = {
    ...CORS_HEADERS,
    'Cache-Control': requestHeaders.has('Authorization') ? PRIVATE_NO_STORE : cacheControl,
    ...(etag !== undefined && { ETag: etag }),
    ...headers,
  }
  if (etag !== undefined && matchesIfNoneMatch(requestHeaders.get('If-None-Match'), etag))
    return new Response(null, { status: 304, headers: common })
  return new Response(text, { status, headers: { ...common, ...content } })
}

/** Lets only files of this host run or style a page, nothing embed it, and it call only this host and `connectTo`. */
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

const errorTitles: Readonly<Record<number, string>> = {
  400: 'This address is not valid',
  404: 'There is nothing here',
  429: 'Too many requests',
}

/** Returns an error as a page, with links to other pages. */
export const errorPage = (error: HttpError, request: Request): Promise<Response> => {
  const { message, headers } = error
  const status = statusOf(error)
  const title = errorTitles[status] ?? 'This page is not available right now'
  const main = html`<section class="error-page">
<h1>${title}</h1>
<p dir="auto">${message}</p>
<ul>
<li><a href="/agents">Find an agent of this host</a></li>
<li><a href="/lint">Check a card before you publish it</a></li>
<li><a href="/openapi.json">Read the description of the API</a></li>
</ul>
</section>`
  return pageResponse({ title, main }, request, { status, headers })
}

import type { Child } from 'hono/jsx'
import { CATALOG_DOCUMENTS } from '../../api/index.ts'
import type { HttpError } from '../../http/index.ts'
import { CORS_HEADERS, matchesIfNoneMatch, NO_STORE, PRIVATE_NO_STORE, statusOf, strongEtag } from '../../http/index.ts'
import { Links } from '../components/index.ts'

/** The paths of static assets by their names in the source. tools/build.ts defines it; a test has none. */
declare const ASSET_PATHS: Readonly<Record<string, string>>

/** Returns the path of a style sheet or script that a page loads, such as `site.css` or `manage.js`. */
export const assetPath = (name: string): string => ASSET_PATHS[name] ?? `/assets/${name}`

/** A page of this host. */
export type Page = {
  title: string
  /** The description for search engines and link previews; the default describes this host. */
  description?: string
  section?: keyof typeof sections
  head?: Child
  main: Child
  /** The module of src/pages/browser that the page runs. */
  script?: string
  /** Origins besides this host's that the page may call. */
  connectTo?: readonly string[]
}

const sections = { agents: 'Agents', lint: 'Check a card', manage: 'Manage' } as const
const sectionLinks = Object.entries(sections).map(([name, label]) => [`/${name}`, label] as const)

const documentLinks = [
  ...Object.keys(CATALOG_DOCUMENTS).map(path => [path, path.slice(path.lastIndexOf('/') + 1)] as const),
  ['/llms.txt', 'llms.txt'],
  ['/sitemap.xml', 'sitemap.xml'],
  ['/openapi.json', 'OpenAPI'],
  ['/schema/manifest.json', 'Manifest schema'],
] as const

const DESCRIPTION = 'Agents of this host, and their A2A Agent Cards.'

const Document = ({ title, description = DESCRIPTION, section, head, main, script }: Page) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>{title}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="description" content={description} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content="Calling Card" />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta name="twitter:card" content="summary" />
      <link rel="stylesheet" href={assetPath('site.css')} />
      <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
      {Object.entries(CATALOG_DOCUMENTS).map(([path, { rel, type }]) => (
        <link rel={rel} href={path} type={type} />
      ))}
      <link rel="service-desc" href="/openapi.json" type="application/json" />
      {script !== undefined && <script type="module" src={assetPath(script)} />}
      {head}
    </head>
    <body>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="site-header">
        <nav aria-label="Main">
          <a class="brand" href="/">
            Calling Card
          </a>
          <Links links={sectionLinks} current={`/${section}`} />
        </nav>
      </header>
      <main id="main" tabindex={-1}>
        {main}
      </main>
      <footer class="site-footer">
        <nav aria-label="Documents for programs">
          For programs:
          <Links links={documentLinks} />
        </nav>
      </footer>
    </body>
  </html>
)

type ResponseOptions = { status?: number; cacheControl?: string; headers?: Record<string, string> }

/** Returns the response with a page, or 304 if the browser has it. */
export const pageResponse = async (page: Page, request: Request, { headers, ...options }: ResponseOptions = {}) =>
  textResponse(`<!doctype html>${await (<Document {...page} />)}`, request, {
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
    "img-src 'self' data:",
    'media-src data:',
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

const errorLinks = [
  ['/agents', 'See all agents of this host'],
  ['/lint', 'Check a card before you publish it'],
  ['/openapi.json', 'Read the description of the API'],
] as const

/** Returns an error as a page, with links to other pages. */
export const errorPage = (error: HttpError, request: Request): Promise<Response> => {
  const { message, headers } = error
  const status = statusOf(error)
  const title = errorTitles[status] ?? 'This page is not available right now'
  const main = (
    <section class="error-page">
      <h1>{title}</h1>
      <p dir="auto">{message}</p>
      <form action="/agents">
        <SearchRow label="Find an agent" />
      </form>
      <Links links={errorLinks} />
    </section>
  )
  return pageResponse({ title, main }, request, { status, headers })
}

/** The field for the words of a search, and its button. */
export const SearchRow = ({ label, words }: { label: string; words?: string | null }) => (
  <search class="search-row">
    <label class="visually-hidden" for="q">
      {label}
    </label>
    <input
      id="q"
      name="q"
      type="search"
      value={words ?? ''}
      maxlength={200}
      placeholder="Search by name, skill, tag …"
      autocomplete="off"
    />
    <button type="submit" class="primary">
      Search
    </button>
  </search>
)

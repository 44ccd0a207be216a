import { config } from '../config.ts'
import { CORS_HEADERS, matchesIfNoneMatch, PRIVATE_NO_STORE, type RequestContext, strongEtag } from '../http/index.ts'

/** The catalogs of this host by their paths: the link relation of each (RFC 8288), and its media type. */
export const CATALOG_DOCUMENTS = {
  '/.well-known/ai-catalog.json': { rel: 'ai-catalog', type: 'application/ai-catalog+json' },
  '/.well-known/ard.json': { rel: 'ard', type: 'application/json' },
  '/.well-known/api-catalog': {
    rel: 'api-catalog',
    type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  },
} as const

/** The path of the OpenAPI document. */
export const OPENAPI_PATH = '/openapi.json'

/** The `Link` to all catalogs. Relative, so that it holds for every host name. The last one is of RFC 8631. */
export const CATALOG_LINKS = [
  ...Object.entries(CATALOG_DOCUMENTS).map(
    ([path, { rel, type }]) => `<${path}>; rel="${rel}"; type="${type.replace(/;.*/, '')}"`,
  ),
  `<${OPENAPI_PATH}>; rel="service-desc"; type="application/json"`,
].join(', ')

/**
 * Returns a list or catalog for everybody, with links to the catalogs of this host and the headers by which Workers
 * Cache stores it. Its entity tag is the digest of its bytes by default. `next` is the path of its next page.
 */
export const cacheableResponse = async (
  { body, type, etag }: { body: string; type: string; etag?: string },
  env: Env,
  next?: string,
): Promise<Response> =>
  new Response(body, {
    headers: {
      ...CORS_HEADERS,
      'Content-Type': type,
      'Cache-Control': config(env).publicCacheControl,
      // Workers Cache ignores stale-while-revalidate with this header: it must not show an old list.
      'Cloudflare-CDN-Cache-Control': 'max-age=60',
      ETag: etag ?? (await strongEtag(new TextEncoder().encode(body))),
      Link: next === undefined ? CATALOG_LINKS : `${CATALOG_LINKS}, <${next}>; rel="next"`,
      Vary: 'Authorization',
    },
  })

/** Returns a list or catalog as everybody gets it, from Workers Cache if it is there. The query must be valid. */
export const fetchCacheable = (path: string, query: URLSearchParams, ctx: ExecutionContext): Promise<Response> =>
  // The host name is constant: all that a response depends on is in the query, and the key of the cache has it.
  ctx.exports.Catalog({ props: {} }).fetch(new Request(`https://catalog${path}?${query}`))

/** Answers a GET with a list or catalog as everybody gets it. With credentials, no cache stores the response. */
export const respondFromCache = async (path: string, query: URLSearchParams, { request, ctx }: RequestContext) => {
  const { ok, status, headers: cached, body } = await fetchCacheable(path, query, ctx)
  const headers = new Headers(cached)
  if (request.headers.has('Authorization')) headers.set('Cache-Control', PRIVATE_NO_STORE)
  if (!ok || !matchesIfNoneMatch(request.headers.get('If-None-Match'), headers.get('ETag') ?? ''))
    return new Response(body, { status, headers })
  headers.delete('Content-Type')
  return new Response(null, { status: 304, headers })
}

import { matchesIfNoneMatch, strongEtag } from './conditional.ts'
import { CORS_HEADERS, PRIVATE_NO_STORE } from './headers.ts'

/**
 * Returns the response to a GET of a JSON document, or of its text: 304 if the client has it already. Caches may keep it as `headers` say, unless the
 * request has credentials.
 */
export const respondWithDocument = async (
  document: unknown,
  requestHeaders: Headers,
  headers: Record<'Cache-Control' | 'Content-Type', string>,
): Promise<Response> => {
  const body = typeof document === 'string' ? document : JSON.stringify(document)
  const etag = await strongEtag(new TextEncoder().encode(body))
  const { 'Content-Type': contentType, 'Cache-Control': shared } = headers
  const caching = requestHeaders.has('Authorization') ? PRIVATE_NO_STORE : shared
  const common = { ...CORS_HEADERS, 'Cache-Control': caching, ETag: etag }
  return matchesIfNoneMatch(requestHeaders.get('If-None-Match'), etag)
    ? new Response(null, { status: 304, headers: common })
    : new Response(body, { headers: { ...common, 'Content-Type': contentType } })
}

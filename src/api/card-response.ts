import { dialectNames, majorMinor, type RepresentationName } from '../card/model/start.ts'
import { config } from '../config.ts'
import { CORS_HEADERS, HttpError, isNotModified, PRIVATE_NO_STORE } from '../http/start.ts'
import type { CachedDocument } from '../registry/edge/index.ts'
import { isStale, staleHeaders } from '../registry/start.ts'

/** Returns the response with a card, or 304. The response to a request with a token is not for shared caches. */
export const cardResponse = (
  document: CachedDocument,
  name: RepresentationName,
  { headers: requestHeaders }: Request,
  env: Env,
): Response => {
  const response = publicCardResponse(document, name, requestHeaders, env)
  const { headers } = response
  if (requestHeaders.has('Authorization')) headers.set('Cache-Control', PRIVATE_NO_STORE)
  const { source } = document
  if (source && isStale(source))
    for (const [field, value] of Object.entries(staleHeaders(source))) headers.set(field, value)
  return response
}

/** Returns the same for a request without a token and a card that is not remote. */
export const publicCardResponse = (
  document: CachedDocument,
  name: RepresentationName,
  requestHeaders: Headers,
  env: Env,
): Response =>
  isNotModified(requestHeaders, document)
    ? new Response(null, notModifiedInit(document.etag, env))
    : okResponse(document, name, env)

const okResponse = ({ body, etag, modified }: CachedDocument, name: RepresentationName, env: Env): Response => {
  const response = new Response(body, okInit(name, env))
  response.headers.set('ETag', etag)
  response.headers.set('Last-Modified', modified)
  return response
}

/** The runtime clones a Headers object in half the time that it takes to read a plain one. */
type PrebuiltInit = { status?: number; headers: Headers }

const okInits = new Map<RepresentationName, PrebuiltInit>()

const okInit = (name: RepresentationName, env: Env): PrebuiltInit => {
  const known = okInits.get(name)
  if (known) return known
  const headers = new Headers({ ...CORS_HEADERS, ...validatedHeaders(env), 'Content-Type': 'application/json' })
  // Relative to each of the paths that serve it.
  if (name === 'agent.json') headers.set('Link', '<./agent-card.json>; rel="canonical"')
  if (name === '1.0' || name === '0.3') headers.set('A2A-Version', name)
  okInits.set(name, { headers })
  return { headers }
}

/** Prebuilt 304 headers for the hottest entity tags. Kept small: long-lived runtime objects slow down every GC. */
const notModifiedInits = new Map<string, PrebuiltInit>()
const MAX_NOT_MODIFIED_INITS = 32

const notModifiedInit = (etag: string, env: Env): PrebuiltInit => {
  const known = notModifiedInits.get(etag)
  if (known) return known
  if (notModifiedInits.size >= MAX_NOT_MODIFIED_INITS) notModifiedInits.clear()
  const init = { status: 304, headers: new Headers({ ...validatedHeaders(env), ETag: etag }) }
  notModifiedInits.set(etag, init)
  return init
}

/** The headers that a client updates its stored response with; a 304 has only these and the entity tag (RFC 9110 §15.4.5). */
const validatedHeaders = (env: Env) => ({
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': config(env).publicCacheControl,
  Vary: 'A2A-Version, Authorization',
})

/** The versions of A2A that have a representation of their own. */
const versions = new Map<string, RepresentationName>([
  ['1.0', '1.0'],
  ['0.3', '0.3'],
])
const dialects = new Map<string, RepresentationName>(dialectNames.map(name => [name, name]))

/**
 * Returns the representation that a GET requests: by `?dialect=`, else by the A2A version in header or query, else the default of
 * its path.
 */
export const negotiateRepresentation = (
  { headers, url }: Request,
  defaultName: RepresentationName,
): RepresentationName => {
  const query = url.includes('?') ? new URL(url).searchParams : undefined
  const dialect = query?.get('dialect') ?? undefined
  if (dialect === 'hybrid') return defaultName === 'agent.json' ? defaultName : 'agent-card.json'
  if (dialect !== undefined) {
    const requested = dialects.get(dialect)
    if (requested !== undefined) return requested
    throw new HttpError(
      400,
      'unknown-dialect',
      `Unknown dialect "${dialect.slice(0, 40)}". Supported: ${['hybrid', ...dialectNames].join(', ')}.`,
    )
  }
  const version = headers.get('A2A-Version') || query?.get('A2A-Version')
  return version ? (versions.get(majorMinor(version)) ?? defaultName) : defaultName
}

import { majorMinor } from '../card/model/calls.ts'
import { dialectNames, type RepresentationName } from '../card/model/constants.ts'
import { matchesIfNoneMatch } from '../http/conditional.ts'
import { HttpError } from '../http/errors.ts'
import { CORS_HEADERS, PRIVATE_NO_STORE, publicCacheControl } from '../http/headers.ts'
import type { CachedDocument } from '../registry/edge/cards.ts'
import { isStale, staleHeaders } from '../registry/records.ts'

/** The two well-known paths, each with its hybrid. */
export type Hybrid = 'agent-card.json' | 'agent.json'

/** A card as any client gets it, or 304 where the client has it. What was asked with a token is for nobody else. */
export const cardResponse = (
  served: CachedDocument,
  name: RepresentationName,
  request: Request,
  env: Env,
): Response => {
  const response = publicCardResponse(served, name, request.headers, env)
  const { headers } = response
  if (request.headers.has('Authorization')) headers.set('Cache-Control', PRIVATE_NO_STORE)
  const { source } = served
  if (source && isStale(source))
    for (const [field, value] of Object.entries(staleHeaders(source))) headers.set(field, value)
  return response
}

/** A card as it was asked for without a token. */
export const publicCardResponse = (
  served: CachedDocument,
  name: RepresentationName,
  asked: Headers,
  env: Env,
): Response => {
  const { etag, modified } = served
  if (matchesIfNoneMatch(asked.get('If-None-Match'), etag)) return new Response(null, notModified(etag, env))
  const response = new Response(served.body, common(name, env))
  const { headers } = response
  headers.set('ETag', etag)
  headers.set('Last-Modified', modified)
  return response
}

/** Headers as the runtime itself has them: it copies them in half the time that it takes to read an object. */
type Ready = { status?: number; headers: Headers }

/** What the cards of a representation all say. */
const commons = new Map<RepresentationName, Ready>()

const common = (name: RepresentationName, env: Env): Ready => {
  const known = commons.get(name)
  if (known) return known
  const headers = new Headers({ ...CORS_HEADERS, ...updated(env), 'Content-Type': 'application/json' })
  // Relative to either of the paths that serve it.
  if (name === 'agent.json') headers.set('Link', '<./agent-card.json>; rel="canonical"')
  if (name === '1.0' || name === '0.3') headers.set('A2A-Version', name)
  commons.set(name, { headers })
  return { headers }
}

/** What is said of the documents that are asked for most. Of few: objects of the runtime that live long slow every collection. */
const notModifieds = new Map<string, Ready>()
const most = 32

const notModified = (etag: string, env: Env): Ready => {
  const known = notModifieds.get(etag)
  if (known) return known
  if (notModifieds.size >= most) notModifieds.clear()
  const made = { status: 304, headers: new Headers({ ...updated(env), ETag: etag }) }
  notModifieds.set(etag, made)
  return made
}

/** What a client updates its copy by; a 304 has that and its entity tag, and no more (RFC 9110 §15.4.5). */
const updated = (env: Env) => ({
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': publicCacheControl(env),
  Vary: 'A2A-Version, Authorization',
})

/** The versions of A2A that have a representation of their own. */
const versions = new Map<string, RepresentationName>([
  ['1.0', '1.0'],
  ['0.3', '0.3'],
])
const dialects = new Map<string, RepresentationName>(dialectNames.map(name => [name, name]))

/** The document that a GET asks for: `?dialect=`, else the A2A version of header or query, else the `usual` one of its path. */
export const negotiateRepresentation = (
  headers: Headers,
  query: Record<string, string | string[] | undefined>,
  usual: RepresentationName,
): RepresentationName => {
  const { dialect } = query
  if (dialect === 'hybrid') return usual === 'agent.json' ? usual : 'agent-card.json'
  if (dialect !== undefined) {
    const chosen = dialects.get(String(dialect))
    if (chosen !== undefined) return chosen
    throw new HttpError(
      400,
      'unknown-dialect',
      `This host has no dialect "${String(dialect).slice(0, 40)}". It writes ${['hybrid', ...dialectNames].join(', ')}.`,
    )
  }
  const version = headers.get('A2A-Version') || query['A2A-Version']
  return typeof version === 'string' ? (versions.get(majorMinor(version)) ?? usual) : usual
}

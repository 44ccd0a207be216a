import type { RepresentationName } from '../card/representations.ts'
import { privateNoStore, publicCaching } from '../http/caching.ts'
import { cors } from '../http/cors.ts'
import { noneMatch } from '../http/etag.ts'
import type { Served } from '../registry/edge.ts'

/** The two well-known paths, each with its hybrid. */
export type Hybrid = 'agent-card.json' | 'agent.json'

/** A card as any client gets it, or 304 where the client has it. What was asked with a token is for nobody else. */
export const cardResponse = (served: Served, name: RepresentationName, request: Request, env: Env): Response => {
  const response = publicCard(served, name, request.headers, env)
  if (request.headers.has('Authorization')) response.headers.set('Cache-Control', privateNoStore)
  return response
}

/** A card as it was asked for without a token. */
export const publicCard = (served: Served, name: RepresentationName, asked: Headers, env: Env): Response => {
  const { ok, notModified } = common(name, env)
  const isHeld = noneMatch(asked.get('If-None-Match'), served.etag)
  const response = isHeld ? new Response(null, notModified) : new Response(served.body, ok)
  const { headers } = response
  headers.set('ETag', served.etag)
  if (!isHeld) headers.set('Last-Modified', served.modified)
  return response
}

/** Status and headers of the two responses. */
type Inits = { ok: ResponseInit; notModified: ResponseInit }

/**
 * What the cards of a representation all say, as the runtime itself has it: it copies that in half the time that it takes to
 * read an object.
 */
const commons = new Map<RepresentationName, Inits>()

const common = (name: RepresentationName, env: Env): Inits => {
  const known = commons.get(name)
  if (known) return known
  // A 304 has what a client updates its copy by, and no more (RFC 9110 §15.4.5).
  const updated = {
    'Access-Control-Allow-Origin': '*',
    'Cache-Control': publicCaching(env),
    Vary: 'A2A-Version, Authorization',
  }
  const headers = new Headers({ ...cors, ...updated, 'Content-Type': 'application/json' })
  // Relative to either of the paths that serve it.
  if (name === 'agent.json') headers.set('Link', '<./agent-card.json>; rel="canonical"')
  if (name === '1.0' || name === '0.3') headers.set('A2A-Version', name)
  const inits = { ok: { headers }, notModified: { status: 304, headers: new Headers(updated) } }
  commons.set(name, inits)
  return inits
}

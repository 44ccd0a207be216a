import type { RepresentationName } from '../card/representations.ts'
import { privateNoStore, publicCaching } from '../http/caching.ts'
import { cors } from '../http/cors.ts'
import { noneMatch } from '../http/etag.ts'
import type { Served } from '../registry/edge.ts'

/** The two well-known paths, each with its hybrid. */
export type Hybrid = 'agent-card.json' | 'agent.json'

/** A card as any client gets it, or 304 where the client has it. What was asked with a token is for nobody else. */
export const cardResponse = (served: Served, name: RepresentationName, request: Request, env: Env): Response => {
  const { ok, notModified } = request.headers.has('Authorization')
    ? initsFor(served, name, privateNoStore)
    : publicInits(served, name, env)
  return noneMatch(request.headers.get('If-None-Match'), served.etag)
    ? new Response(null, notModified)
    : new Response(served.body, ok)
}

/** Status and headers of the two responses. */
type Inits = { ok: ResponseInit; notModified: ResponseInit }

/** Made with the first response and kept as long as the card: the runtime copies headers sooner than it reads an object. */
const kept = new WeakMap<Served, Inits>()

const publicInits = (served: Served, name: RepresentationName, env: Env): Inits => {
  let inits = kept.get(served)
  if (!inits) {
    inits = initsFor(served, name, publicCaching(env))
    kept.set(served, inits)
  }
  return inits
}

const initsFor = ({ etag, modified }: Served, name: RepresentationName, caching: string): Inits => {
  const common = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': caching, Vary: 'A2A-Version', ETag: etag }
  const ok = new Headers({ ...cors, ...common, 'Content-Type': 'application/json', 'Last-Modified': modified })
  // Relative to either of the paths that serve it.
  if (name === 'agent.json') ok.set('Link', '<./agent-card.json>; rel="canonical"')
  if (name === '1.0' || name === '0.3') ok.set('A2A-Version', name)
  // A 304 has what a client updates its copy by, and no more (RFC 9110 §15.4.5).
  return { ok: { headers: ok }, notModified: { status: 304, headers: new Headers(common) } }
}

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

/** With every so many reads of a card its headers are kept, and of so many cards. */
const readsToKeep = 256
const most = 32

/**
 * The headers of the most popular cards, as the runtime itself has them: it copies those in half the time that it takes to
 * read an object. Of few cards only: objects of the runtime that live long make every garbage collection longer.
 */
const kept = new WeakMap<Served, Inits>()
const keepers: Served[] = []
let oldest = 0

const publicInits = (served: Served, name: RepresentationName, env: Env): Inits => {
  const known = kept.get(served)
  if (known) return known
  const inits = initsFor(served, name, publicCaching(env))
  if (++served.reads % readsToKeep === 0) {
    const replaced = keepers[oldest]
    if (replaced) kept.delete(replaced)
    keepers[oldest] = served
    oldest = (oldest + 1) % most
    kept.set(served, { ok: asRuntimeHas(inits.ok), notModified: asRuntimeHas(inits.notModified) })
  }
  return inits
}

const asRuntimeHas = ({ headers, ...init }: ResponseInit): ResponseInit => ({ ...init, headers: new Headers(headers) })

const initsFor = ({ etag, modified }: Served, name: RepresentationName, caching: string): Inits => {
  const common = {
    'Access-Control-Allow-Origin': '*',
    'Cache-Control': caching,
    Vary: 'A2A-Version, Authorization',
    ETag: etag,
  }
  const headers: Record<string, string> = {
    ...cors,
    ...common,
    'Content-Type': 'application/json',
    'Last-Modified': modified,
  }
  // Relative to either of the paths that serve it.
  if (name === 'agent.json') headers.Link = '<./agent-card.json>; rel="canonical"'
  if (name === '1.0' || name === '0.3') headers['A2A-Version'] = name
  // A 304 has what a client updates its copy by, and no more (RFC 9110 §15.4.5).
  return { ok: { headers }, notModified: { status: 304, headers: common } }
}

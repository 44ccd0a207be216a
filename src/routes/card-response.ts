import type { RepresentationName } from '../card/representations.ts'
import { privateNoStore, publicCaching } from '../http/caching.ts'
import { cors } from '../http/cors.ts'
import { noneMatch } from '../http/etag.ts'
import type { Served } from '../registry/edge.ts'

/** The two well-known paths, each with its hybrid. */
export type Hybrid = 'agent-card.json' | 'agent.json'

/** A card, or 304 where the client has it. `base`: what the well-known path of the same agent begins with. */
export const cardResponse = (
  { etag, modified, body }: Served,
  name: RepresentationName,
  base: string,
  request: Request,
  env: Env,
): Response => {
  const caching = request.headers.has('Authorization') ? privateNoStore : publicCaching(env)
  if (noneMatch(request.headers.get('If-None-Match'), etag))
    // What a client updates its copy by, and no more (RFC 9110 §15.4.5).
    return new Response(null, { status: 304, headers: { ...unchanged, 'Cache-Control': caching, ETag: etag } })
  const headers: Record<string, string> = {
    ...cors,
    'Content-Type': 'application/json',
    'Cache-Control': caching,
    Vary: 'A2A-Version',
    ETag: etag,
    'Last-Modified': modified,
  }
  if (name === 'agent.json') headers.Link = `<${base}/.well-known/agent-card.json>; rel="canonical"`
  if (name === '1.0' || name === '0.3') headers['A2A-Version'] = name
  return new Response(body, { headers })
}

const unchanged = {
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
  Vary: 'A2A-Version',
} as const

import { bearsAdminToken } from '../auth/admin-token.ts'
import { agentId } from '../card/limits.ts'
import type { RepresentationName } from '../card/representations.ts'
import { privateNoStore, publicCaching } from '../http/caching.ts'
import { cors } from '../http/cors.ts'
import { noneMatch } from '../http/etag.ts'
import { chooseRepresentation } from '../http/representation-choice.ts'
import { heldDocument, readDocument, type Served } from '../registry/edge.ts'
import { agentOfHost } from '../registry/hosts.ts'
import { truth } from '../registry/truth.ts'
import { agentNotFound, noRootAgent } from './agent-errors.ts'
import type { Handler } from './handler.ts'

type Hybrid = 'agent-card.json' | 'agent.json'

/** `GET /.well-known/agent-card.json` and `agent.json`: the agent that the host name stands for. */
export const hostCard =
  (hybrid: Hybrid): Handler =>
  async (request, env, ctx) => {
    const id = await agentOfHost(new URL(request.url).hostname, env)
    if (id === undefined) throw noRootAgent()
    return sendCard(id, hybrid, '/.well-known/agent-card.json', request, env, ctx)
  }

/** `GET /agents/{id}` and its two well-known paths: the card of one agent. */
export const agentCard =
  (hybrid: Hybrid): Handler =>
  async (request, env, ctx) => {
    const id = request.params.id ?? ''
    if (!agentId.test(id)) throw agentNotFound(id)
    return sendCard(id, hybrid, `/agents/${id}/.well-known/agent-card.json`, request, env, ctx)
  }

/** `GET /agents/.well-known/…`: what a client asks for that dropped the last segment of its base URL. */
export const droppedSegment: Handler = () => {
  throw agentNotFound('.well-known')
}

const sendCard = async (
  id: string,
  hybrid: Hybrid,
  canonical: string,
  ...[request, env, ctx]: Parameters<Handler>
): Promise<Response> => {
  const name = chooseRepresentation(request, request.query, hybrid)
  const withToken = request.headers.has('Authorization')
  const held = heldDocument(id, name)
  const found = held === undefined ? await readDocument(id, name, env, ctx) : held
  const served = found ?? (withToken ? await internalDocument(id, name, request, env) : null)
  if (!served) throw agentNotFound(id)
  const headers: Record<string, string> = {
    ...cors,
    'Content-Type': 'application/json',
    'Cache-Control': withToken ? privateNoStore : publicCaching(env),
    Vary: 'A2A-Version',
    ETag: served.etag,
    'Last-Modified': served.modified,
  }
  if (name === 'agent.json') headers.Link = `<${canonical}>; rel="canonical"`
  if (name === '1.0' || name === '0.3') headers['A2A-Version'] = name
  if (noneMatch(request.headers.get('If-None-Match'), served.etag)) return new Response(null, { status: 304, headers })
  return new Response(served.bytes, { headers })
}

/** The card of an internal agent, for a reader with a token: from the Registry itself, so that no edge ever holds it. */
const internalDocument = async (
  id: string,
  name: RepresentationName,
  request: Request,
  env: Env,
): Promise<Served | null> => {
  if (!(await bearsAdminToken(request, env))) return null
  const document = await truth(env).document(id, name)
  return document && { ...document, modified: new Date(document.modified).toUTCString() }
}

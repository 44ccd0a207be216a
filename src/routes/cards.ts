import { bearsAdminToken } from '../auth/admin-token.ts'
import { agentId } from '../card/limits.ts'
import type { RepresentationName } from '../card/representations.ts'
import { chooseRepresentation } from '../http/representation-choice.ts'
import { heldDocument, readDocument, type Served } from '../registry/edge.ts'
import { agentOfHost, heldAgentOfHost } from '../registry/hosts.ts'
import { truth } from '../registry/truth.ts'
import { agentNotFound, noRootAgent } from './agent-errors.ts'
import { cardResponse, type Hybrid } from './card-response.ts'
import type { Handler } from './handler.ts'

/** `GET /.well-known/agent-card.json` and `agent.json`: the agent that the host name stands for. */
export const hostCard =
  (hybrid: Hybrid): Handler =>
  async (request, env, ctx) => {
    const id = await agentOfHost(new URL(request.url).hostname, env)
    if (id === undefined) throw noRootAgent()
    return sendCard(id, hybrid, request, env, ctx)
  }

/** `GET /agents/{id}` and its two well-known paths: the card of one agent. */
export const agentCard =
  (hybrid: Hybrid): Handler =>
  async (request, env, ctx) => {
    const id = request.params.id ?? ''
    if (!agentId.test(id)) throw agentNotFound(id)
    return sendCard(id, hybrid, request, env, ctx)
  }

/** `GET /agents/.well-known/…`: what a client asks for that dropped the last segment of its base URL. */
export const droppedSegment: Handler = () => {
  throw agentNotFound('.well-known')
}

const wellKnown =
  /^https?:\/\/([^/:]+)[^/]*(?:\/agents\/([a-z0-9][a-z0-9-]{0,62}))?\/\.well-known\/(agent(?:-card)?\.json)$/

/**
 * A card that this isolate holds, for the plainest of requests: a well-known path without query or token. It answers as
 * the routes do, and sooner: finding a route costs more than sending a card. Undefined: ask the router.
 */
export const heldCard = (request: Request, env: Env): Response | undefined => {
  if (request.method !== 'GET') return undefined
  const match = wellKnown.exec(request.url)
  if (match === null || request.headers.has('Authorization')) return undefined
  const [, hostname = '', named, hybrid] = match
  const id = named ?? heldAgentOfHost(hostname, env)
  if (id === undefined) return undefined
  const name = chooseRepresentation(request, {}, hybrid as Hybrid)
  const served = heldDocument(id, name)
  return served ? cardResponse(served, name, request, env) : undefined
}

const sendCard = async (id: string, hybrid: Hybrid, ...[request, env, ctx]: Parameters<Handler>): Promise<Response> => {
  const name = chooseRepresentation(request, request.query, hybrid)
  const held = heldDocument(id, name)
  const found = held === undefined ? await readDocument(id, name, env, ctx) : held
  const served = found ?? (await internalDocument(id, name, request, env))
  if (!served) throw agentNotFound(id)
  return cardResponse(served, name, request, env)
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
  return document && { etag: document.etag, body: document.bytes, modified: new Date(document.modified).toUTCString() }
}

import { type IRequest, Router } from 'itty-router'
import { agentCard, cachedCard, hostCard, isMissingSegment } from './api/cards.ts'
import { agentCall, hostCall, namedCall, plainCall } from './gateway/index.ts'
import { HttpError, internalError, problemResponse } from './http/errors.ts'
import { type Asking, type Handler, lazy } from './http/handler.ts'
import { preflightResponse } from './http/headers.ts'
import { log } from './http/log.ts'

/** A path that is known, asked in another way than it takes. */
const otherMethod = (method: string, allowed: readonly string[]): HttpError =>
  new HttpError(405, 'method-not-allowed', `This path takes ${allowed.join(', ')}, not ${method}.`, {
    headers: { Allow: allowed.join(', ') },
  })

// Reads of cards and calls are what a start is for; owners, directories and people are few.
const agents = () => import('./api/agents.ts')
const lint = () => import('./api/lint.ts')
const listing = () => import('./api/agent-lists.ts')
const rest = () => import('./gateway/rest-binding.ts')
const superx = () => import('./api/compat/superx.ts')
const shaman = () => import('./api/compat/shaman.ts')
const sources = () => import('./api/sources.ts')
const tokens = () => import('./api/tokens.ts')

/** Every endpoint of this host. HEAD goes with GET; OPTIONS, 405 and 404 follow from the table. */
export const routes: readonly (readonly [method: 'GET' | 'PUT' | 'DELETE' | 'POST', path: string, handler: Handler])[] =
  [
    // What is asked most comes first. The plainest requests for cards and calls do not come here at all: see `answer`.
    ['POST', '/agents/:id/a2a', agentCall],
    ['POST', '/agents/:id', agentCall],
    ['POST', '/a2a', hostCall],
    ['POST', '/a2a/v1', namedCall],
    ['GET', '/agents/:id/.well-known/agent-card.json', agentCard('agent-card.json')],
    ['GET', '/agents/:id/.well-known/agent.json', agentCard('agent.json')],
    ['GET', '/.well-known/agent-card.json', hostCard('agent-card.json')],
    ['GET', '/.well-known/agent.json', hostCard('agent.json')],
    ['GET', '/agents/:id', agentCard('agent-card.json')],
    ['GET', '/agents/:id/a2a/:operation+', lazy(rest, 'restCall')],
    ['POST', '/agents/:id/a2a/:operation+', lazy(rest, 'restCall')],
    ['DELETE', '/agents/:id/a2a/:operation+', lazy(rest, 'restCall')],
    ['PUT', '/agents/:id', lazy(agents, 'putAgent')],
    ['DELETE', '/agents/:id', lazy(agents, 'deleteAgent')],
    ['GET', '/agents/:id/manifest', lazy(agents, 'getManifest')],
    ['GET', '/agents/:id/revisions', lazy(sources, 'getRevisions')],
    ['GET', '/agents/:id/source', lazy(sources, 'getSource')],
    ['POST', '/agents/:id/refresh', lazy(sources, 'postRefresh')],
    ['GET', '/agents/.well-known/:file', isMissingSegment],
    ['GET', '/agents', lazy(listing, 'listAgents')],
    ['GET', '/.well-known/a2a/agents', lazy(shaman, 'listForShaman')],
    ['GET', '/a2a/v1/agents/:name', lazy(shaman, 'namedCard')],
    ['POST', '/rpc', lazy(superx, 'handleSuperxRpc')],
    ['POST', '/tokens', lazy(tokens, 'postToken')],
    ['GET', '/tokens', lazy(tokens, 'listTokens')],
    ['DELETE', '/tokens/:id', lazy(tokens, 'deleteToken')],
    ['POST', '/lint', lazy(lint, 'postLint')],
  ]

const notFound: Handler = () => {
  throw new HttpError(
    404,
    'not-found',
    'There is nothing here. GET /agents lists the agents; their cards are at /agents/{id}/.well-known/agent-card.json.',
  )
}

const methodNotAllowed =
  (allowed: readonly string[]): Handler =>
  request => {
    if (request.method === 'OPTIONS') return preflightResponse(allowed)
    throw otherMethod(request.method, allowed)
  }

const answerError = (error: unknown): Response => {
  if (error instanceof HttpError) return problemResponse(error)
  log('error', 'unexpected', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return internalError()
}

const allowedOn = (path: string): string[] => [
  ...routes
    .filter(([, other]) => other === path)
    .flatMap(([method]) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
  'OPTIONS',
]

/** Finds the endpoint of a request, and turns errors into responses. */
const router = Router<IRequest, [Env, ExecutionContext]>({ catch: answerError })
for (const [method, path, handler] of routes) {
  router[method.toLowerCase() as 'get'](path, handler as never)
  if (method === 'GET') router.head?.(path, handler as never)
}
for (const path of new Set(routes.map(([, path]) => path))) router.all(path, methodNotAllowed(allowedOn(path)) as never)
router.all('*', notFound as never)

/** The host: what is asked by the million is answered before a route is looked for. */
export const answer = (...asking: Asking): Response | Promise<Response> => {
  const [request, env] = asking
  return cachedCard(request, env) ?? plainCall(...asking)?.catch(answerError) ?? router.fetch(...asking)
}

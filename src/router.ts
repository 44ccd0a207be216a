import { type IRequest, Router } from 'itty-router'
import { preflight } from './http/cors.ts'
import { log } from './http/log.ts'
import { blank500, HttpError, problem } from './http/problem.ts'
import { deleteAgent, getManifest, putAgent } from './routes/agents.ts'
import { agentCall, hostCall, namedCall, restAgentCall } from './routes/calls.ts'
import { agentCard, droppedSegment, hostCard } from './routes/cards.ts'
import { listAgents } from './routes/catalog.ts'
import type { Handler } from './routes/handler.ts'
import { agentLink } from './routes/links.ts'
import { postLint } from './routes/lint.ts'
import { otherMethod } from './routes/other-method.ts'
import { rpc } from './routes/rpc.ts'
import { listForShaman, namedCard } from './routes/shaman-door.ts'
import { getRevisions, getSource, postRefresh } from './routes/sources.ts'
import { deleteToken, listTokens, postToken } from './routes/tokens.ts'

/** Every endpoint of this host. HEAD goes with GET; OPTIONS, 405 and 404 follow from the table. */
export const routes: readonly (readonly [method: 'GET' | 'PUT' | 'DELETE' | 'POST', path: string, handler: Handler])[] =
  [
    // What is asked most comes first: looking at each line costs a call more than the gate does.
    ['POST', '/agents/:id/a2a', agentCall],
    ['POST', '/agents/:id', agentCall],
    ['POST', '/a2a', hostCall],
    ['POST', '/a2a/v1', namedCall],
    ['GET', '/agents/:id/.well-known/agent-card.json', agentCard('agent-card.json')],
    ['GET', '/agents/:id/.well-known/agent.json', agentCard('agent.json')],
    ['GET', '/.well-known/agent-card.json', hostCard('agent-card.json')],
    ['GET', '/.well-known/agent.json', hostCard('agent.json')],
    ['GET', '/agents/:id', agentCard('agent-card.json')],
    ['GET', '/agents/:id/a2a/:operation+', restAgentCall],
    ['POST', '/agents/:id/a2a/:operation+', restAgentCall],
    ['DELETE', '/agents/:id/a2a/:operation+', restAgentCall],
    ['PUT', '/agents/:id', putAgent],
    ['DELETE', '/agents/:id', deleteAgent],
    ['GET', '/agents/:id/manifest', getManifest],
    ['GET', '/agents/:id/documentation', agentLink('documentation')],
    ['GET', '/agents/:id/icon', agentLink('icon')],
    ['GET', '/agents/:id/revisions', getRevisions],
    ['GET', '/agents/:id/source', getSource],
    ['POST', '/agents/:id/refresh', postRefresh],
    ['GET', '/agents/.well-known/:file', droppedSegment],
    ['GET', '/agents', listAgents],
    ['GET', '/.well-known/a2a/agents', listForShaman],
    ['GET', '/a2a/v1/agents/:name', namedCard],
    ['POST', '/rpc', rpc],
    ['POST', '/tokens', postToken],
    ['GET', '/tokens', listTokens],
    ['DELETE', '/tokens/:id', deleteToken],
    ['POST', '/lint', postLint],
  ]

const notFound: Handler = () => {
  throw new HttpError(
    404,
    'not-found',
    'There is nothing here. GET /agents lists the agents; their cards are at /agents/{id}/.well-known/agent-card.json.',
  )
}

const anyOtherMethod =
  (allowed: readonly string[]): Handler =>
  request => {
    if (request.method === 'OPTIONS') return preflight(allowed)
    throw otherMethod(request.method, allowed)
  }

const answerError = (error: unknown): Response => {
  if (error instanceof HttpError) return problem(error)
  log('error', 'unexpected', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return blank500()
}

const allowedOn = (path: string): string[] => [
  ...routes
    .filter(([, other]) => other === path)
    .flatMap(([method]) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
  'OPTIONS',
]

/** The host: finds the endpoint of a request, and turns errors into responses. */
export const router = Router<IRequest, [Env, ExecutionContext]>({ catch: answerError })
for (const [method, path, handler] of routes) {
  router[method.toLowerCase() as 'get'](path, handler as never)
  if (method === 'GET') router.head?.(path, handler as never)
}
for (const path of new Set(routes.map(([, path]) => path))) router.all(path, anyOtherMethod(allowedOn(path)) as never)
router.all('*', notFound as never)

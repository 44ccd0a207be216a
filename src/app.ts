import { type IRequest, Router } from 'itty-router'
import type { RouteName } from './api/openapi/index.ts'
import { agentCard, hostCard } from './api/start.ts'
import { config } from './config.ts'
import { agentCall, hostCall, namedCall } from './gateway/start.ts'
import { type Handler, lazy, type PathParams, parseUrl, prefersHtml, preflightResponse, problem } from './http/start.ts'

// Reads of cards and calls are what every isolate serves; everything else is loaded on first use.
const admin = () => import('./api/admin/index.ts')
const agents = () => import('./api/agents/registration.ts')
const catalogs = () => import('./api/catalogs/index.ts')
const batch = () => import('./api/agents/batch.ts')
const conformance = () => import('./api/agents/conformance.ts')
const events = () => import('./api/events/index.ts')
const health = () => import('./api/health.ts')
const images = () => import('./pages/images/index.ts')
const validation = () => import('./api/card-validation.ts')
const lists = () => import('./api/agents/lists.ts')
const openApi = () => import('./api/openapi/index.ts')
const rest = () => import('./gateway/rest-binding.ts')
const shaman = () => import('./api/compat/shaman.ts')
const keySet = () => import('./signing/key-set.ts')
const pages = () => import('./pages/index.ts')
const revisions = () => import('./api/agents/revision-history.ts')
const sources = () => import('./api/agents/remote-cards.ts')
const superx = () => import('./api/compat/superx.ts')
const unserved = () => import('./unserved.ts')

/** Answers with a page for people who ask with a browser, and with the document for every other client. */
const pageOr =
  (page: 'getCatalogPage' | 'getCardPage' | 'getNotFoundPage', document: Handler): Handler =>
  async (...args) => {
    if (prefersHtml(args[0])) return (await pages())[page](...args)
    const response = await document(...args)
    response.headers.append('Vary', 'Accept')
    return response
  }

const notFound = lazy(unserved, 'notFound')

/** A route that GET /openapi.json describes: any other does not compile. */
type Route = {
  [Name in RouteName]: Name extends `${infer Method} ${infer Path}`
    ? readonly [method: Method, path: Path, handler: Handler]
    : never
}[RouteName]

/** The most frequent routes, which are matched before all others. A path has at most one parameter. */
const frequentRoutes: readonly Route[] = [
  ['POST', '/agents/:id/a2a', agentCall],
  ['POST', '/agents/:id', agentCall],
  ['POST', '/a2a', hostCall],
  ['GET', '/agents/:id/.well-known/agent-card.json', agentCard('agent-card.json')],
  ['GET', '/agents/:id/.well-known/agent.json', agentCard('agent.json')],
  ['GET', '/.well-known/agent-card.json', hostCard('agent-card.json')],
  ['GET', '/.well-known/agent.json', hostCard('agent.json')],
]

/** Every endpoint of this host. HEAD goes with GET; OPTIONS, 404 and 405 follow from the table. */
export const routes: readonly Route[] = [
  ...frequentRoutes,
  ['POST', '/a2a/v1', namedCall],
  ['GET', '/agents/:id', pageOr('getCardPage', agentCard('agent-card.json'))],
  ['GET', '/agents/:id/a2a/:operation+', lazy(rest, 'restCall')],
  ['POST', '/agents/:id/a2a/:operation+', lazy(rest, 'restCall')],
  ['DELETE', '/agents/:id/a2a/:operation+', lazy(rest, 'restCall')],
  ['PUT', '/agents/:id', lazy(agents, 'putAgent')],
  ['DELETE', '/agents/:id', lazy(agents, 'deleteAgent')],
  ['DELETE', '/agents/:id/tasks', lazy(agents, 'deleteTasks')],
  ['GET', '/agents/:id/manifest', lazy(agents, 'getManifest')],
  ['GET', '/agents/:id/revisions', lazy(revisions, 'getRevisions')],
  ['GET', '/agents/:id/revisions/:seq', lazy(revisions, 'getRevision')],
  ['GET', '/agents/:id/revisions/:seq/diff', lazy(revisions, 'getDiff')],
  ['POST', '/agents/:id/rollback', lazy(revisions, 'postRollback')],
  ['GET', '/agents/:id/source', lazy(sources, 'getSource')],
  ['GET', '/agents/:id/observed', lazy(conformance, 'getObserved')],
  ['POST', '/agents/:id/check', lazy(conformance, 'postCheck')],
  ['GET', '/agents/:id/receipt', lazy(conformance, 'getReceipt')],
  ['POST', '/agents/:id/refresh', lazy(sources, 'postRefresh')],
  ['GET', '/agents/:id/events', lazy(events, 'getEvents')],
  ['GET', '/agents/:id/card.svg', lazy(images, 'getCardImage')],
  ['GET', '/agents/:id/badge.svg', lazy(images, 'getBadge')],
  ['GET', '/events', lazy(events, 'getEvents')],
  ['GET', '/agents/.well-known/:file', lazy(unserved, 'missingAgentId')],
  ['GET', '/', pageOr('getCatalogPage', notFound)],
  ['GET', '/agents', pageOr('getCatalogPage', lazy(lists, 'listAgents'))],
  ['POST', '/agents:batch', lazy(batch, 'postBatch')],
  ['GET', '/.well-known/a2a/agents', lazy(shaman, 'listForShaman')],
  ['GET', '/.well-known/jwks.json', lazy(keySet, 'getKeySet')],
  ['GET', '/.well-known/did.json', lazy(catalogs, 'getDidDocument')],
  ['GET', '/.well-known/ai-catalog.json', lazy(catalogs, 'getCatalog')],
  ['GET', '/.well-known/ard.json', lazy(catalogs, 'getCatalog')],
  ['GET', '/.well-known/api-catalog', lazy(catalogs, 'getCatalog')],
  ['POST', '/search', lazy(catalogs, 'postSearch')],
  ['POST', '/ard/search', lazy(catalogs, 'postSearch')],
  ['GET', '/ard/agents', lazy(catalogs, 'listEntries')],
  ['GET', '/ard/agents/:identifier', lazy(catalogs, 'getEntry')],
  ['GET', '/llms.txt', lazy(catalogs, 'getCatalog')],
  ['GET', '/robots.txt', lazy(catalogs, 'getCatalog')],
  ['GET', '/sitemap.xml', lazy(catalogs, 'getCatalog')],
  ['GET', '/a2a/v1/agents/:name', lazy(shaman, 'namedCard')],
  ['POST', '/rpc', lazy(superx, 'handleSuperxRpc')],
  ['POST', '/tokens', lazy(admin, 'postToken')],
  ['GET', '/tokens', lazy(admin, 'listTokens')],
  ['GET', '/tokens/self', lazy(admin, 'getOwnToken')],
  ['DELETE', '/tokens/:id', lazy(admin, 'deleteToken')],
  ['GET', '/audit', lazy(admin, 'getAudit')],
  ['GET', '/keys', lazy(admin, 'getKeys')],
  ['GET', '/export', lazy(admin, 'getExport')],
  ['POST', '/import', lazy(admin, 'postImport')],
  ['GET', '/lint', lazy(pages, 'getLintPage')],
  ['POST', '/lint', lazy(validation, 'postLint')],
  ['POST', '/verify', lazy(validation, 'postVerify')],
  ['GET', '/manage', lazy(pages, 'getManagePage')],
  ['GET', '/openapi.json', lazy(openApi, 'getOpenApi')],
  ['GET', '/schema/manifest.json', lazy(openApi, 'getManifestSchema')],
  ['GET', '/health', lazy(health, 'getHealth')],
]

/** Answers OPTIONS, and every method that a path does not support. */
const otherMethods =
  (path: string): Handler =>
  request => {
    const methods = routes.flatMap(([method, other]) => (other === path ? [method] : []))
    const allowed = [...methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS']
    if (request.method === 'OPTIONS') return preflightResponse(allowed)
    return unserved().then(({ rejectMethod }) => rejectMethod(request, allowed))
  }

type RoutedRequest = Request & Pick<IRequest, 'params'>

const routed = (handler: Handler) => (request: RoutedRequest, env: Env, ctx: ExecutionContext) =>
  handler(request, env, ctx, request.params)

const router = Router<RoutedRequest, [Env, ExecutionContext]>()
/** The router takes every colon for the beginning of a parameter; one after a word is that of a custom method. */
const toPattern = (path: string): string => path.replace(/(?<=[a-z]):/, '[:]')

for (const [method, path, handler] of routes) {
  router[method.toLowerCase() as 'get'](toPattern(path), routed(handler))
  if (method === 'GET') router.head?.(toPattern(path), routed(handler))
}
for (const path of new Set(routes.map(([, path]) => path))) router.all(toPattern(path), routed(otherMethods(path)))
router.all('*', routed(pageOr('getNotFoundPage', notFound)))

/**
 * The frequent routes as expressions for whole URLs without a query. The router parses each URL and tries all routes in
 * turn, which takes longer than to serve a card from memory. The runtime does not normalize the URL of a request, so
 * any character that no agent's id has is left to the router: `/agents/../a2a` is `/a2a`.
 */
const frequentPatterns = frequentRoutes.map(([method, path, handler]) => {
  const parameter = /:(\w+)/.exec(path)?.[1] ?? ''
  const pattern = path.replaceAll('.', '\\.').replace(`:${parameter}`, '([a-z0-9-]+)')
  return { method, handler, parameter, pattern: new RegExp(`^https?://[^/?#\\\\]+${pattern}$`) }
})

const matchFrequent = ({ method, url }: Request): { handler: Handler; params: PathParams } | undefined => {
  for (const { method: supported, handler, parameter, pattern } of frequentPatterns) {
    const match = supported === method ? pattern.exec(url) : null
    if (match) return { handler, params: { [parameter]: match[1] } }
  }
  return undefined
}

/** Answers a request whose handler failed. Only then is its URL checked: the runtime builds it from any Host header. */
const respondToError = async (error: unknown, request: Request): Promise<Response> => {
  // Loaded with the first error.
  const { toErrorResponse } = await import('./http/error-response.ts')
  const cause = parseUrl(request.url) ? error : problem('invalid-url', 'The request has no valid URL.')
  return withTransportSecurity(toErrorResponse(cause), request)
}

/** Makes browsers use https for a year if this request did (A2A 1.0 §13.4), for this name only, without subdomains. */
const withTransportSecurity = (response: Response, { url }: Request): Response => {
  if (url.startsWith('https:')) response.headers.set('Strict-Transport-Security', 'max-age=31536000')
  return response
}

type RequestHandler = (request: Request, env: Env, ctx: ExecutionContext) => Response | Promise<Response>

/** Handles every request to this host. Synchronous for a card that is in memory. */
export const handleRequest: RequestHandler = (request, env, ctx) =>
  config(env).localOrigins ? respondLocally(request, env, ctx) : respond(request, env, ctx)

/** Handles a request to a host in local mode, whatever its endpoint. */
const respondLocally: RequestHandler = async (request, env, ctx) => {
  const { refuseForeignPage } = await import('./auth/local-mode.ts')
  return refuseForeignPage(request, env) ?? respond(request, env, ctx)
}

const respond: RequestHandler = (request, env, ctx) => {
  const match = matchFrequent(request)
  try {
    const response = match
      ? match.handler(request, env, ctx, match.params)
      : (router.fetch(request, env, ctx) as Promise<Response>)
    return response instanceof Response
      ? withTransportSecurity(response, request)
      : response.then(
          response => withTransportSecurity(response, request),
          error => respondToError(error, request),
        )
  } catch (error) {
    return respondToError(error, request)
  }
}

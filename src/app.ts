import { type IRequest, Router } from 'itty-router'
import { eager, lazy, loadOnce, type Route, type RouteHandler, route } from './api/contract/start.ts'
import { agentCard, hostCard } from './api/start.ts'
import { config } from './config.ts'
import { type Handler, type PathParams, parseUrl, prefersHtml, preflightResponse, problem } from './http/start.ts'

// Reads of cards and calls are what every isolate serves; everything else is loaded on first use.
const admission = () => import('./api/agents/admit.ts')
const admin = () => import('./api/admin/index.ts')
const agents = () => import('./api/agents/registration.ts')
const batch = () => import('./api/agents/batch.ts')
const calls = () => import('./api/call-descriptions.ts')
const cards = () => import('./api/card-descriptions.ts')
const catalogs = () => import('./api/catalogs/index.ts')
const conformance = () => import('./api/agents/conformance.ts')
const documents = () => import('./api/openapi/index.ts').then(({ createDocuments }) => createDocuments(routes))
const gateway = () => import('./gateway/index.ts')
const events = () => import('./api/events/index.ts')
const health = () => import('./api/health.ts')
const images = () => import('./pages/images/index.ts')
const keys = () => import('./api/published-keys.ts')
const mcp = () => import('./mcp/server/index.ts').then(({ createMcpEndpoints }) => createMcpEndpoints(respond))
const lists = () => import('./api/agents/lists.ts')
const pages = () => import('./pages/index.ts')
const revisions = () => import('./api/agents/revision-history.ts')
const shaman = () => import('./api/compat/shaman.ts')
const sources = () => import('./api/agents/remote-cards.ts')
const superx = () => import('./api/compat/superx.ts')
const unserved = () => import('./unserved.ts')
const validation = () => import('./api/card-validation.ts')

type PageName = 'getCatalogPage' | 'getCardPage' | 'getNotFoundPage'

/** Answers with a page for people who ask with a browser, and with the document for every other client. */
const pageOr =
  (page: PageName, document: Handler): Handler =>
  async (...args) => {
    if (prefersHtml(args[0])) return (await pages())[page](...args)
    const response = await document(...args)
    response.headers.append('Vary', 'Accept')
    return response
  }

/** Returns an endpoint that has a page for people, too. */
const withPage = <Params extends string>(
  page: PageName,
  { handler, describe }: RouteHandler<Params>,
): RouteHandler<Params> => ({
  handler: pageOr(page, handler),
  describe: async () => ({ ...(await describe()), page: true }),
})

const notFound = loadOnce(unserved, 'notFound')

const agentCall = loadOnce(gateway, 'agentCall')
const restCall = loadOnce(gateway, 'restCall')

/** The most frequent routes, which are matched before all others. A path has at most one parameter before its rest. */
const frequentRoutes: readonly Route[] = [
  route('POST', '/agents/:id/a2a', eager(agentCall, calls, 'callAgent')),
  route('POST', '/agents/:id', eager(agentCall, calls, 'callAgentAtCard')),
  route('GET', '/agents/:id/a2a/:operation+', eager(restCall, calls, 'read')),
  route('POST', '/agents/:id/a2a/:operation+', eager(restCall, calls, 'send')),
  route('POST', '/a2a', eager(loadOnce(gateway, 'hostCall'), calls, 'callHost')),
  route(
    'GET',
    '/agents/:id/.well-known/agent-card.json',
    eager(agentCard('agent-card.json'), cards, 'getWellKnownAgentCard'),
  ),
  route('GET', '/agents/:id/.well-known/agent.json', eager(agentCard('agent.json'), cards, 'getAgentJson')),
  route('GET', '/.well-known/agent-card.json', eager(hostCard('agent-card.json'), cards, 'getHostCard')),
  route('GET', '/.well-known/agent.json', eager(hostCard('agent.json'), cards, 'getHostAgentJson')),
]

/** Every endpoint of this host. HEAD goes with GET; OPTIONS, 404 and 405 follow from the table. */
export const routes: readonly Route[] = [
  ...frequentRoutes,
  route('POST', '/a2a/v1', eager(loadOnce(gateway, 'namedCall'), calls, 'callNamedAgent')),
  route('GET', '/agents/:id', withPage('getCardPage', eager(agentCard('agent-card.json'), cards, 'getAgentCard'))),
  route('POST', '/agents/:id/mcp', lazy(mcp, 'callAgentMcp')),
  route('POST', '/mcp', lazy(mcp, 'callHostMcp')),
  route('GET', '/.well-known/oauth-protected-resource/agents/:id/mcp', lazy(mcp, 'getResourceMetadata')),
  route('DELETE', '/agents/:id/a2a/:operation+', eager(restCall, calls, 'remove')),
  route('PUT', '/agents/:id', lazy(agents, 'putAgent')),
  route('DELETE', '/agents/:id', lazy(agents, 'deleteAgent')),
  route('DELETE', '/agents/:id/tasks', lazy(agents, 'deleteTasks')),
  route('GET', '/agents/:id/manifest', lazy(agents, 'getManifest')),
  route('GET', '/agents/:id/revisions', lazy(revisions, 'listRevisions')),
  route('GET', '/agents/:id/revisions/:seq', lazy(revisions, 'getRevision')),
  route('GET', '/agents/:id/revisions/:seq/diff', lazy(revisions, 'diffRevisions')),
  route('POST', '/agents/:id/rollback', lazy(revisions, 'rollBack')),
  route('GET', '/agents/:id/source', lazy(sources, 'getSource')),
  route('GET', '/agents/:id/observed', lazy(conformance, 'getObserved')),
  route('POST', '/agents/:id/check', lazy(conformance, 'checkAgent')),
  route('POST', '/agents/:id/admit', lazy(admission, 'admitCall')),
  route('GET', '/agents/:id/receipt', lazy(conformance, 'getReceipt')),
  route('POST', '/agents/:id/refresh', lazy(sources, 'refresh')),
  route('GET', '/agents/:id/events', lazy(events, 'getAgentEvents')),
  route('GET', '/agents/:id/card.svg', lazy(images, 'getCardImage')),
  route('GET', '/agents/:id/badge.svg', lazy(images, 'getBadge')),
  route('GET', '/events', lazy(events, 'getEvents')),
  route('GET', '/agents/.well-known/:file', lazy(unserved, 'getCardWithoutAgent')),
  route('GET', '/', eager(pageOr('getCatalogPage', notFound), pages, 'getCatalogPage')),
  route('GET', '/agents', withPage('getCatalogPage', lazy(lists, 'listAgents'))),
  route('POST', '/agents:batch', lazy(batch, 'registerBatch')),
  route('GET', '/.well-known/a2a/agents', lazy(shaman, 'listForShaman')),
  route('GET', '/.well-known/jwks.json', lazy(keys, 'getKeySet')),
  route('GET', '/.well-known/did.json', lazy(keys, 'getDidDocument')),
  route('GET', '/.well-known/ai-catalog.json', lazy(catalogs, 'getAiCatalog')),
  route('GET', '/.well-known/ard.json', lazy(catalogs, 'getArdManifest')),
  route('GET', '/.well-known/api-catalog', lazy(catalogs, 'getApiCatalog')),
  route('POST', '/search', lazy(catalogs, 'search')),
  route('POST', '/ard/search', lazy(catalogs, 'searchArd')),
  route('GET', '/ard/agents', lazy(catalogs, 'listArdEntries')),
  route('GET', '/ard/agents/:identifier', lazy(catalogs, 'getArdEntry')),
  route('GET', '/agents/:id/mcp/server-card', lazy(catalogs, 'getMcpServerCard')),
  route('GET', '/mcp/server-card', lazy(catalogs, 'getHostMcpServerCard')),
  route('GET', '/llms.txt', lazy(catalogs, 'getLlmsText')),
  route('GET', '/robots.txt', lazy(catalogs, 'getRobotsText')),
  route('GET', '/sitemap.xml', lazy(catalogs, 'getSitemap')),
  route('GET', '/a2a/v1/agents/:name', lazy(shaman, 'getNamedCard')),
  route('POST', '/rpc', lazy(superx, 'callSuperx')),
  route('POST', '/tokens', lazy(admin, 'issueToken')),
  route('GET', '/tokens', lazy(admin, 'listTokens')),
  route('GET', '/tokens/self', lazy(admin, 'getOwnToken')),
  route('DELETE', '/tokens/:id', lazy(admin, 'revokeToken')),
  route('GET', '/audit', lazy(admin, 'getAudit')),
  route('GET', '/keys', lazy(admin, 'getKeys')),
  route('GET', '/export', lazy(admin, 'exportHost')),
  route('POST', '/import', lazy(admin, 'importHost')),
  route('GET', '/lint', lazy(pages, 'getLintPage')),
  route('POST', '/lint', lazy(validation, 'lint')),
  route('POST', '/verify', lazy(validation, 'verifyCard')),
  route('GET', '/manage', lazy(pages, 'getManagePage')),
  route('GET', '/openapi.json', lazy(documents, 'getOpenApi')),
  route('GET', '/schema/manifest.json', lazy(documents, 'getManifestSchema')),
  route('GET', '/health', lazy(health, 'getHealth')),
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

for (const [method, path, { handler }] of routes) {
  router[method.toLowerCase() as 'get'](toPattern(path), routed(handler))
  if (method === 'GET') router.head?.(toPattern(path), routed(handler))
}
for (const path of new Set(routes.map(([, path]) => path))) router.all(toPattern(path), routed(otherMethods(path)))
router.all('*', routed(pageOr('getNotFoundPage', notFound)))

/**
 * The frequent routes as expressions for whole URLs without a query. The router parses each URL and tries all routes in
 * turn, which takes longer than to serve a card from memory. The runtime does not normalize the URL of a request, so
 * any character that no agent's id and no operation has is left to the router: `/agents/../a2a` is `/a2a`.
 */
const frequentPatterns = frequentRoutes.map(([method, path, { handler }]) => {
  const pattern = path.replaceAll('.', '\\.').replace('/:operation+', '/[\\w/:-]+').replace(':id', '([a-z0-9-]+)')
  return { method, handler, pattern: new RegExp(`^https?://[^/?#\\\\]+${pattern}$`) }
})

const matchFrequent = (method: string, url: string): { handler: Handler; params: PathParams } | undefined => {
  for (const { method: supported, handler, pattern } of frequentPatterns) {
    const match = supported === method ? pattern.exec(url) : null
    if (match) return { handler, params: { id: match[1] } }
  }
  return undefined
}

/** Answers a request whose handler failed. Only then is its URL checked: the runtime builds it from any Host header. */
const respondToError = async (error: unknown, request: Request): Promise<Response> => {
  // Loaded with the first error.
  const { toErrorResponse } = await import('./http/error-response.ts')
  const cause = parseUrl(request.url) ? error : problem('invalid-url', 'The request has no valid URL.')
  return withTransportSecurity(toErrorResponse(cause), request.url)
}

/** Makes browsers use https for a year if this request did (A2A 1.0 §13.4), for this name only, without subdomains. */
const withTransportSecurity = (response: Response, url: string): Response => {
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
  const { method, url } = request
  const match = matchFrequent(method, url)
  try {
    const response = match
      ? match.handler(request, env, ctx, match.params)
      : (router.fetch(request, env, ctx) as Promise<Response>)
    return response instanceof Response
      ? withTransportSecurity(response, url)
      : response.then(
          response => withTransportSecurity(response, url),
          error => respondToError(error, request),
        )
  } catch (error) {
    return respondToError(error, request)
  }
}

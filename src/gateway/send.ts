import { type CallError, nameBlocking, operations, type Refusal } from '../a2a/index.ts'
import { createTokenFinder } from '../auth/index.ts'
import { fetchService, fetchUnblocked } from '../http/index.ts'
import type { Exchange, Permitted, Sendable } from './gate/index.ts'
import type { ResponseOptions } from './responses/index.ts'
import { isEventStream, ResponseCheck, readUpstreamResponse, relayStream, unreachable } from './responses/index.ts'
import { type Endpoint, misconfigured, sentType, type UpstreamRoute, upstreamHeaders } from './upstream/index.ts'

/** The request to an agent, and its way. */
type UpstreamRequest = {
  url: string
  init: RequestInit & { method: string; redirect: 'manual' }
  route: UpstreamRoute
}

/** Sends a permitted call to its agent: to its address, to the Worker that the manifest names, or to an MCP server. */
export const send = async (permitted: Sendable, exchange: Exchange): Promise<Response | CallError> => {
  const { call: form, gate } = permitted
  const isOwned = gate.profile.tasks === 'owner' && form.operation !== 'extendedCard'
  const refused = isOwned ? await claimTasks(permitted, exchange) : undefined
  if (refused) return refused
  const preparing = prepareRequest(permitted, exchange)
  const request = preparing instanceof Promise ? await preparing : preparing
  if ('kind' in request) return request
  const check = new ResponseCheck(exchange, permitted)
  const { timeoutSeconds, credentials } = request.route
  const idleSeconds = gate.config.streamIdleTimeoutSeconds
  const options = { form, check, translate: permitted.translate, hasSecret: 'secret' in credentials, idleSeconds }
  const responding = requestAgent(request, options)
  const response = (await withTimeout(responding, timeoutSeconds)) ?? { kind: 'timeout', seconds: timeoutSeconds }
  exchange.timing?.lap('upstream')
  check.end(response)
  if ('status' in response && response.status !== undefined) exchange.upstreamStatus = response.status
  return response
}

/** Loaded for the first agent whose tasks are kept apart. */
let taskOwners: typeof import('./tasks/owned-call.ts') | undefined

/** Refuses a call about tasks of other callers, and arranges that those that it starts become the caller's. */
const claimTasks = async (permitted: Permitted, { caller, env }: Exchange): Promise<Refusal> => {
  taskOwners ??= await import('./tasks/owned-call.ts')
  const owned = await taskOwners.checkTaskOwner(permitted.call, { agent: permitted.gate.id, caller }, env)
  if ('kind' in owned) return owned
  permitted.call = owned.call
  permitted.inspectTasks = owned.inspect
  return undefined
}

/** Writes the request of a call, with what the agent asks for. A promise only where something is loaded. */
export const prepareRequest = (permitted: Sendable, exchange: Exchange) => {
  const { gate, target } = permitted
  permitted.call = nameBlocking(permitted.call)
  if (permitted.isTranslated || gate.profile.mcp || gate.profile.identity) return applyFeatures(permitted, exchange)
  permitted.message ??= exchange.write(permitted.call, target)
  return writeRequest(permitted, gate.upstream, gate.endpoint(target), exchange)
}

/** Translates a call, routes it to an MCP server, or adds the identity of its caller. Each is loaded on first use. */
const applyFeatures = async (permitted: Sendable, exchange: Exchange): Promise<UpstreamRequest | CallError> => {
  const { gate, target } = permitted
  const { mcp, identity, tiers } = gate.profile
  const { caller, request } = exchange
  if (permitted.isTranslated) {
    const failed = (await import('./translate.ts')).translateCall(permitted, exchange)
    if (failed) return failed
  }
  permitted.message ??= exchange.write(permitted.call, target)
  const { id, env, upstream } = gate
  const route = mcp
    ? (await import('../mcp/agent/index.ts')).routeToTools(
        permitted,
        { ...gate.profile, mcp },
        { id, caller, request, env },
      )
    : upstream
  if ('kind' in route) return route
  if (identity) {
    const { assertCaller } = await import('../auth/caller-assertion.ts')
    const asserted = await assertCaller({ ...identity, caller, audience: target.url, agent: id, tiers }, env)
    if ('misconfigured' in asserted) return misconfigured(asserted.misconfigured)
    permitted.assertion = asserted.assertion
  }
  return writeRequest(permitted, route, gate.endpoint(target), exchange)
}

const writeRequest = (
  { call, message, translate, assertion }: Permitted,
  route: UpstreamRoute | CallError,
  endpoint: Endpoint,
  { headers, url: requestUrl, type: receivedType, caller, trace, env, timing }: Exchange,
): UpstreamRequest | CallError => {
  if ('kind' in route) return route
  timing?.lap('gate')
  const { method = 'POST', path, body } = message ?? {}
  const host = hostOf(requestUrl)
  const received = headers.get('Via')
  const via = endpoint.appendVia(received, host)
  const containsHostToken = createTokenFinder(env)
  const url = endpoint.urlOf(path, containsHostToken)
  const isBlocked = !route.service && endpoint.blocked !== undefined
  if (via === undefined || url === undefined || isBlocked) {
    timing?.lap('upstream')
    if (via === undefined) return { kind: 'loop' }
    const blocked = `The agent's address is ${endpoint.blocked}.`
    return misconfigured(url === undefined ? 'The path would lead out of the endpoint.' : blocked)
  }
  const { version, extensions } = call
  const streams = operations[call.operation].streams === true
  // Only one binding has a type of its own.
  const ownType = translate ? 'application/json' : sentType(receivedType)
  const type = body === undefined ? undefined : ownType
  const credentials = withoutStripped(route.credentials, caller.strippedHeaders)
  const addsNothing =
    received === null &&
    extensions.length === 0 &&
    trace === undefined &&
    assertion === undefined &&
    !('pass' in credentials && credentials.pass.some(name => headers.has(name)))
  const sent = { target: endpoint.target, version, type, streams, credentials }
  const init = {
    method,
    headers: addsNothing
      ? endpoint.plainHeaders(sent, host)
      : upstreamHeaders({ ...sent, headers, extensions, trace, assertion, via, containsHostToken }),
    body: body ?? null,
    redirect: 'manual',
  } as const
  return { url, init, route }
}

/** Returns the credentials without the headers that carry some for this host. */
const withoutStripped = (
  credentials: UpstreamRoute['credentials'],
  stripped: readonly string[] = [],
): UpstreamRoute['credentials'] =>
  'pass' in credentials && stripped.length > 0
    ? { pass: credentials.pass.filter(name => !stripped.includes(name)) }
    : credentials

/** Returns the host of a URL. Cheaper than `URL`, and safe for the valid URL of a request. */
const hostOf = (url: string): string => {
  const start = url.indexOf('//') + 2
  return url.slice(start, url.indexOf('/', start))
}

/** Resolves to undefined after a timeout. The promise is not aborted: an AbortSignal would slow down every call. */
const withTimeout = <Value>(promise: Promise<Value>, seconds: number): Promise<Value | undefined> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), seconds * 1000)
    promise.then(resolve, reject).then(() => clearTimeout(timer))
  })

/** Makes the request to the agent, and returns the response or stream for the caller. */
export const requestAgent = async (
  { url, init, route }: UpstreamRequest,
  options: ResponseOptions,
): Promise<Response | CallError> => {
  let response: Response
  try {
    response = await (route.service ? fetchService(route.service, url, init) : fetchUnblocked(url, init))
  } catch (error) {
    return unreachable(error)
  }
  if (operations[options.form.operation].streams && isEventStream(response)) return relayStream(response, options)
  // Awaited, because a promise that a promise resolves to takes longer.
  return await readUpstreamResponse(response, init.method, options)
}

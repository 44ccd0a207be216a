import { parseEvents, SseFramer, upstreamUrl } from '../a2a/index.ts'
import type { CallProfile } from '../card/index.ts'
import type { CallTarget, Protocol } from '../card/model/index.ts'
import { config } from '../config.ts'
import { agentCall, callGateOnly, restCall } from '../gateway/index.ts'
import { type UpstreamMessage, upstreamHeaders } from '../gateway/upstream/index.ts'
import {
  appendVia,
  blockOrigins,
  CLOUDFLARE_ERRORS,
  createUpstreamClient,
  type FetchFn,
  type Handler,
  log,
  originMatcher,
  type RequestContext,
  readText,
  toErrorResponse,
  userAgent,
  within,
} from '../http/index.ts'
import { essence } from '../json/index.ts'
import { MAX_CHECK_EVENTS, MAX_CHECK_RESPONSE_BYTES } from '../limits.ts'

/** The agent that is checked, how long one request to it may take, and the request to check it. */
export type CheckedAgent = {
  id: string
  profile: CallProfile
  /** The address from which the host fetches the card, if it does. */
  source?: UpstreamAddress | undefined
  /** The key by which the calls of the caller are limited. */
  caller: string
  seconds: number
  context: RequestContext
  /** Returns the endpoint of this host that serves the card. */
  serveCard: (file: 'agent-card.json' | 'agent.json') => HostHandler
}

/** An endpoint of this host; undefined for a call that passes the gate where nothing is sent. */
type HostHandler = (...call: Parameters<Handler>) => Promise<Response | undefined> | Response

type UpstreamAddress = Parameters<typeof createUpstreamClient>[0]

type CheckCall = UpstreamMessage & { protocol: Protocol; namedVersion: string; streams: boolean }

/**
 * The time that a call may take, and how it is sent: an `authorized` call has the credentials of the caller for the
 * gate, and the secret of the manifest for the agent. The gate forwards no `gateOnly` call. Of a stream, only the first
 * event is read unless `wholeStream` is set.
 */
export type SendOptions = { seconds: number; authorized: boolean; gateOnly?: boolean; wholeStream?: boolean }

/** An answer of an agent. The texts are a body, or the data of each event. */
export type Answer =
  | { status: number; type: string; headers: Headers; isStream: boolean; texts: string[] }
  | { failed: 'unreachable' | 'timeout' | 'too-large' | 'not-text' | 'redirect' | 'rate-limit' | 'passed-gate' }

/** Sends one call, and reads the answer within its limits. Never rejects for what an agent does. */
export type Send = (call: CheckCall, options: SendOptions) => Promise<Answer>

/** Creates a function that sends requests of the caller through the gate, which counts and logs them like any other. */
export const createGateSend =
  (agent: CheckedAgent): Send =>
  ({ method, path, body, protocol, namedVersion }, { gateOnly = false, ...options }) => {
    const { requiredExtensions } = agent.profile
    const headers = {
      'A2A-Version': namedVersion,
      ...(requiredExtensions.length > 0 && { 'A2A-Extensions': requiredExtensions.join(', ') }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    }
    const handler = gateOnly ? callGateOnly : protocol.binding === 'JSONRPC' ? agentCall : restCall
    const target = `/agents/${agent.id}/a2a${path === undefined ? '' : `/${path}`}`
    return sendToHost(agent, handler, { method, headers, body: body ?? null, path: target }, options)
  }

/** Sends a request to an endpoint of this host, in process. */
export const sendToHost = (
  { id, context: { request, env, ctx } }: CheckedAgent,
  handler: HostHandler,
  { path, ...init }: { path: string; method?: string; headers?: Record<string, string>; body?: string | null },
  { seconds, authorized, wholeStream = false }: SendOptions,
): Promise<Answer> => {
  const sent = new Request(new URL(path, request.url), init)
  // Headers by which callers are identified and counted.
  for (const name of ['CF-Connecting-IP', ...(authorized ? ['Authorization'] : [])]) {
    const value = request.headers.get(name)
    if (value !== null) sent.headers.set(name, value)
  }
  return within<Answer>(seconds, { failed: 'timeout' }, async () => {
    try {
      const response = await handler(sent, env, ctx, { id })
      return response ? await readAnswer(response, wholeStream) : { failed: 'passed-gate' }
    } catch (error) {
      return readAnswer(toErrorResponse(error), false)
    }
  })
}

/** Creates a function that sends calls to an endpoint of the agent itself, as the gateway would. */
export const createAgentSend =
  (agent: CheckedAgent, target: CallTarget): Send =>
  ({ method, path, body, protocol, namedVersion, streams }, options) => {
    const { id, profile, context } = agent
    const headers = upstreamHeaders({
      ...{ target, version: protocol.version, streams, type: body === undefined ? undefined : 'application/json' },
      ...{ headers: new Headers(), credentials: { pass: [] }, containsHostToken: () => false },
      extensions: profile.requiredExtensions,
      via: appendVia(null, `${id}.${new URL(context.request.url).host}`) ?? '',
    })
    const address = { url: target.url, service: profile.service, secret: profile.secret }
    const init = { method, headers: { ...headers, 'A2A-Version': namedVersion }, ...(body !== undefined && { body }) }
    return sendToAgent(agent, address, { url: upstreamUrl(target, path) ?? '', init }, options)
  }

/** Sends a request to the agent itself, within the limits of the caller. A blocked address counts as unreachable. */
export const sendToAgent = (
  { id, caller, context: { request, env } }: CheckedAgent,
  address: UpstreamAddress,
  { url, init }: { url: string; init: { method?: string; headers: Record<string, string>; body?: string } },
  { seconds, authorized, wholeStream = false }: SendOptions,
): Promise<Answer> =>
  within<Answer>(seconds, { failed: 'timeout' }, async signal => {
    if (!(await env.CALL_LIMIT.limit({ key: caller })).success) return { failed: 'rate-limit' }
    const client = createUpstreamClient(address, env, config(env))
    if ('misconfigured' in client) return unreachable(id, client.misconfigured)
    const { origin } = new URL(request.url)
    const headers = { ...init.headers, ...(authorized && client.credentials), 'User-Agent': userAgent(origin) }
    // This host would check itself.
    const fetch: FetchFn =
      address.service === undefined
        ? blockOrigins(client.fetch, originMatcher([origin, config(env).publicOrigin]))
        : client.fetch
    try {
      const response = await fetch(url, { ...init, headers, signal })
      return 'blocked' in response ? unreachable(id, response.blocked) : await readAnswer(response, wholeStream)
    } catch (error) {
      return unreachable(id, String(error))
    }
  })

/** Logs why an agent cannot be reached: others must not learn it. */
const unreachable = (id: string, detail: string): Answer => {
  log('info', 'check-unanswered', { 'gen_ai.agent.id': id, 'calling_card.detail': detail.slice(0, 200) })
  return { failed: 'unreachable' }
}

const readAnswer = async (response: Response, wholeStream: boolean): Promise<Answer> => {
  const { status, headers } = response
  const type = essence(headers.get('Content-Type'))
  const isRedirect = status >= 300 && status < 400 && status !== 304
  const networkError = CLOUDFLARE_ERRORS.get(status)
  if (isRedirect || networkError) {
    response.body?.cancel().catch(() => undefined)
    return isRedirect ? { failed: 'redirect' } : (networkError ?? { failed: 'unreachable' })
  }
  const isStream = type === 'text/event-stream'
  if (isStream) {
    const texts = await readEvents(response, wholeStream ? MAX_CHECK_EVENTS : 1)
    return texts ? { status, type, headers, isStream, texts } : { failed: 'too-large' }
  }
  const read = await readText(response, MAX_CHECK_RESPONSE_BYTES)
  if ('text' in read) return { status, type, headers, isStream, texts: [read.text] }
  return { failed: read.failed === 'too-large' ? 'too-large' : 'not-text' }
}

/** Reads the data of the first events of a stream; undefined if they are too large. */
const readEvents = async (response: Response, max: number): Promise<string[] | undefined> => {
  const texts: string[] = []
  const reader = response.body?.getReader()
  if (!reader) return texts
  const decoder = new TextDecoder()
  const framer = new SseFramer(MAX_CHECK_RESPONSE_BYTES)
  let size = 0
  while (texts.length < max && size <= MAX_CHECK_RESPONSE_BYTES) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    for (const { kind, bytes } of framer.push(value))
      for (const { data } of kind === 'events' ? parseEvents(decoder.decode(bytes)) : [])
        if (data !== '') texts.push(data)
  }
  reader.cancel().catch(() => undefined)
  return size > MAX_CHECK_RESPONSE_BYTES ? undefined : texts.slice(0, max)
}

import type { AnswerForCaller } from '../../a2a/bridge/index.ts'
import { type AnswerPlace, type CallError, upstreamUrl } from '../../a2a/index.ts'
import { createTokenFinder } from '../../auth/index.ts'
import type { CallProfile } from '../../card/index.ts'
import { type CallTarget, versions, type WireVersion, wireVersions } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import type { TraceContext } from '../../http/index.ts'
import { appendVia, blockReason, endToEndHeader, resolveSecret, resolveService } from '../../http/index.ts'
import { essence, type Json, type JsonObject, omit } from '../../json/index.ts'

/** How a call reaches its agent, and the limit of its time. */
export type UpstreamRoute = {
  /** The Worker that receives the call in place of the network. */
  service?: Pick<Fetcher, 'fetch'> | undefined
  credentials: UpstreamCredentials
  timeoutSeconds: number
}

/** Returns the error of an agent that its owner has not set up correctly; `detail` is for the log. */
export const misconfigured = (detail: string): CallError => ({ kind: 'misconfigured', detail })

/** Resolves how to call an agent that supports A2A itself. */
export const resolveUpstream = (profile: CallProfile, env: Env): UpstreamRoute | CallError => {
  const service = profile.service === undefined ? undefined : resolveService(profile.service, env)
  if (profile.service !== undefined && service === undefined)
    return misconfigured(`This Worker has no service binding "${profile.service}".`)
  const { secret, apiKeyHeaders } = profile
  const credentials =
    secret === undefined ? { pass: ['authorization', ...apiKeyHeaders] } : resolveSecret(secret, env, config(env))
  if ('misconfigured' in credentials) return misconfigured(credentials.misconfigured)
  return { service, credentials, timeoutSeconds: config(env).upstreamTimeoutSeconds }
}

/** One endpoint of an agent: what is the same for all calls to it. */
export class Endpoint {
  readonly target: CallTarget
  /** Why this host does not call the address; undefined if it does. */
  readonly blocked: string | undefined
  readonly #agent: string
  readonly #env: Env
  /** The last headers for each version, type and kind of response, and the host name in their `Via`. */
  readonly #prebuilt: (Pick<SentHeaders, 'version' | 'type' | 'streams'> & { host: string; headers: Headers })[] = []
  /** The last path without a query, and its URL. */
  #last: { path?: string; url?: string | undefined } = {}

  constructor(target: CallTarget, agent: string, env: Env) {
    this.target = target
    this.blocked = blockReason(target.url, config(env).allowedOrigins)
    this.#agent = agent
    this.#env = env
  }

  /** Returns `Via` with this hop: the agent and the host name. Undefined for a loop, or too many hops. */
  appendVia(via: string | null, host: string): string | undefined {
    return appendVia(via, `${this.#agent}.${host}`)
  }

  /** Returns the URL of a call; undefined if its path would lead out of the endpoint. */
  urlOf(path = '', containsHostToken: HeaderSource['containsHostToken']): string | undefined {
    if (path === this.#last.path) return this.#last.url
    const url = upstreamUrl(this.target, path, containsHostToken)
    // The query of a call is its own.
    if (!path.includes('?')) this.#last = { path, url }
    return url
  }

  /** Returns the headers of a call to which its caller adds none. The last of each kind are kept. */
  plainHeaders(sent: SentHeaders, host: string): Headers {
    const { version, type, streams } = sent
    const known = this.#prebuilt.find(
      each => each.version === version && each.type === type && each.streams === streams,
    )
    if (known?.host === host) return known.headers
    const via = this.appendVia(null, host) ?? ''
    const received = { headers: new Headers(), extensions: [], via, containsHostToken: createTokenFinder(this.#env) }
    const headers = new Headers(upstreamHeaders({ ...sent, ...received }))
    if (known) Object.assign(known, { host, headers })
    else this.#prebuilt.push({ version, type, streams, host, headers })
    return headers
  }
}

/** A call as it is written for its agent. */
export type UpstreamMessage = {
  method: string
  /** Over HTTP+JSON: path and query below the agent's endpoint, such as `tasks/1?historyLength=2`. */
  path?: string
  /** JSON text. */
  body?: string | undefined
}

/** Writes a call over JSON-RPC. */
export const jsonRpcMessage = (id: Json, method: string, params: JsonObject): UpstreamMessage => ({
  method: 'POST',
  body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
})

/** Translates the text of a checked answer for a caller who has another version or binding than the agent. */
export type TranslateAnswer = (text: string, place: AnswerPlace, status: number) => AnswerForCaller | CallError

/** A parameter that selects an agent of this host. */
export type AgentParameter = 'tenant' | 'agentName'

/** Returns `params` without the one that selected the agent here, and with the card's tenant and agent name. */
export const rewriteRoutingParams = (
  params: JsonObject,
  { tenant, agentName }: CallTarget,
  selector?: AgentParameter,
): JsonObject => {
  const kept = selector === undefined ? params : omit(params, selector)
  if (tenant === undefined && agentName === undefined) return kept
  return { ...kept, ...(tenant !== undefined && { tenant }), ...(agentName !== undefined && { agentName }) }
}

/**
 * The credentials that the agent receives: a secret of the Worker, and then none of the caller's; or the headers of the
 * caller with these names (lower case), unless they are for this host: `authorization`, and the card's API key headers.
 */
type UpstreamCredentials = { secret: string } | { pass: readonly string[] }

/** What the headers of a call to an agent depend on, besides its caller. */
type SentHeaders = {
  target: CallTarget
  /** The version in which the call is written. */
  version: WireVersion
  /** The media type of the body, if there is one. */
  type: string | undefined
  /** Set if the response is a stream of events. */
  streams: boolean
  credentials: UpstreamCredentials
}

/** The source of the headers of a call to an agent. */
export type HeaderSource = SentHeaders & {
  /** The headers of the caller's request. */
  headers: Headers
  /** The extensions that the caller names. */
  extensions: readonly string[]
  /** The trace of the caller, which this host continues. */
  trace?: TraceContext | undefined
  /** The signed assertion of the caller, for an agent that asks for it. */
  assertion?: string | undefined
  via: string
  /** Checks whether a value contains a token of this host, which no agent may see. */
  containsHostToken: (value: string) => boolean
}

/** Names that a card may declare as API keys, but that mean something else to the agent, to a proxy or to this host. */
const reservedHeaders = new RegExp(
  '^(?:(?:cf|calling-card|x-forwarded|x-original|x-rewrite|x-envoy|fastly|proxy|sec|access-control)-.*|' +
    '(?:content|accept|if|(?:x-)?a2a)-.*|x-cluster-client-ip|max-forwards|cache-control|pragma|early-data|' +
    '(?:set-)?cookie2?|host|connection|keep-alive|te|trailers?|transfer-encoding|upgrade|expect|via|forwarded|' +
    'x-real-ip|true-client-ip|x-client-ip|cdn-loop|accept|origin|referer|date|range|user-agent|traceparent|' +
    'tracestate|x-http-method(?:-override)?|x-method-override)$',
)

/** Builds the headers of a call to an agent from an allow-list. */
export const upstreamHeaders = (source: HeaderSource): Record<string, string> => {
  const { target, version, headers, extensions, trace, credentials, streams, type, via, containsHostToken } = source
  const received: Record<string, string> = { Via: via }
  if (extensions.length > 0) received[versions[version].extensionsHeader] = extensions.join(', ')
  if (trace) received.traceparent = `00-${trace.traceId}-${trace.spanId}-${trace.flags}`
  if (trace && trace.state !== '') received.tracestate = trace.state
  for (const name of 'pass' in credentials ? credentials.pass : []) {
    // Many servers pass headers on as CGI variables (RFC 3875 §4.1.18), in which `_` and `-` are the same.
    const value = reservedHeaders.test(name.replaceAll('_', '-')) ? null : endToEndHeader(name, headers)
    if (value !== null) received[name] = value
  }
  const sent = removeHostTokens(received, containsHostToken)
  sent.Accept = accept(target, version, streams)
  sent['A2A-Version'] = version
  if (type !== undefined) sent['Content-Type'] = type
  if ('secret' in credentials) sent.Authorization = `Bearer ${credentials.secret}`
  if (source.assertion !== undefined) sent['Calling-Card-Assertion'] = source.assertion
  return sent
}

/** Removes every item of a list that contains a token of this host, and headers that consist of nothing else. */
const removeHostTokens = (
  headers: Record<string, string>,
  containsHostToken: HeaderSource['containsHostToken'],
): Record<string, string> => {
  if (!Object.values(headers).some(containsHostToken)) return headers
  const cleaned = Object.entries(headers).map(([name, value]): [string, string] => {
    const items = value.split(',').filter(item => !containsHostToken(item))
    return [name, items.join(',').trim()]
  })
  // The ADMIN_TOKEN may contain a comma.
  return Object.fromEntries(cleaned.filter(([, value]) => value !== '' && !containsHostToken(value)))
}

/** Returns the `Accept` of the official clients. */
const accept = ({ binding }: CallTarget, version: WireVersion, streams: boolean): string => {
  if (streams) return 'text/event-stream'
  const { restType } = versions[version]
  return binding === 'HTTP+JSON' && restType !== 'application/json'
    ? `${restType}, application/json`
    : 'application/json'
}

const restTypes: ReadonlySet<string> = new Set(wireVersions.map(version => versions[version].restType))

/** Returns the type of a body that is sent on. It is written in UTF-8 again, so parameters no longer apply. */
export const sentType = (header: string | null): string => {
  if (header !== null && restTypes.has(header)) return header
  const type = essence(header)
  return restTypes.has(type) ? type : 'application/json'
}

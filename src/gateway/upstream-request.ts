import type { ErrorForm } from '../a2a/error-response.ts'
import type { CallTarget } from '../card/model/calls.ts'
import { essence } from '../http/media-type.ts'
import { type JsonObject, omit } from '../json/json.ts'

/** A parameter by which a call may name its agent at this host. */
export type AgentParameter = 'tenant' | 'agentName'

/**
 * The parameters of a call as they go to its agent. What chose the agent here says nothing there; and whose the call is at the
 * agent's endpoint, its card says and no caller.
 */
export const addressedTo = (
  params: JsonObject,
  target: CallTarget | undefined,
  chosenBy?: AgentParameter,
): JsonObject => ({
  ...(chosenBy === undefined ? params : omit(params, chosenBy)),
  ...(target?.tenant !== undefined && { tenant: target.tenant }),
  ...(target?.agentName !== undefined && { agentName: target.agentName }),
})

/**
 * What a call shows the agent of who calls: the Worker's secret, and then nothing of the caller's; or those of the caller's
 * headers that are named (lower case) and not for this host: `authorization`, and the card's API-key headers.
 */
export type UpstreamCredentials = { secret: string } | { pass: readonly string[] }

/** What the headers of a call to an agent are made from. */
export type HeaderSource = {
  target: CallTarget
  /** Those of the caller's request. */
  headers: Headers
  extensions: readonly string[]
  credentials: UpstreamCredentials
  streams: boolean
  hasBody: boolean
  via: string
}

/** Only these of the caller's headers go up, beside the credentials. */
const tracing = ['traceparent', 'tracestate']

/** Names that a card may give an API key, but that mean something else to the agent, to a proxy or to this host. */
const neverKeys =
  /^(?:(?:cf|x-forwarded|x-original|x-rewrite|x-envoy|fastly|proxy|sec|access-control|content|accept|if)-.*|x-cluster-client-ip|max-forwards|cache-control|pragma|early-data|cookie2?|set-cookie2?|host|connection|keep-alive|te|trailers?|transfer-encoding|upgrade|expect|via|forwarded|x-real-ip|true-client-ip|x-client-ip|cdn-loop|accept|origin|referer|date|range|user-agent|(?:x-)?a2a-.*|traceparent|tracestate|x-http-method(?:-override)?|x-method-override)$/

/** The headers of a call on its way up: an allow-list, made anew. Undefined where the secret is none that a header can hold. */
export const upstreamHeaders = (source: HeaderSource): Record<string, string> | undefined => {
  const { target, headers, extensions, credentials, streams, hasBody, via } = source
  const sent: Record<string, string> = { Accept: accept(target, streams), 'A2A-Version': target.version, Via: via }
  if (hasBody) sent['Content-Type'] = contentType(headers.get('Content-Type'))
  if (extensions.length > 0) sent[extensionsHeader[target.version]] = extensions.join(', ')
  copy(tracing, headers, sent)
  if ('pass' in credentials) copy(credentials.pass.filter(mayPass), headers, sent)
  else if (/^[\x21-\x7e]+$/.test(credentials.secret.trim())) sent.Authorization = `Bearer ${credentials.secret.trim()}`
  else return undefined
  return sent
}

const extensionsHeader = { '0.3': 'X-A2A-Extensions', '1.0': 'A2A-Extensions' } as const

/** As the official clients ask. */
const accept = ({ binding, version }: CallTarget, streams: boolean): string => {
  if (streams) return 'text/event-stream'
  return binding === 'HTTP+JSON' && version === '1.0' ? 'application/a2a+json, application/json' : 'application/json'
}

/** The body was written anew, in UTF-8: of what the caller said of it only the name of the type still holds. */
const contentType = (header: string | null): string =>
  essence(header) === 'application/a2a+json' ? 'application/a2a+json' : 'application/json'

const mayPass = (name: string): boolean => /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) && !neverKeys.test(name)

const copy = (names: readonly string[], from: Headers, to: Record<string, string>): void => {
  for (const name of names) {
    const value = from.get(name)
    if (value !== null && !isOfThisHop(name, from.get('Connection'))) to[name] = value
  }
}

/** A header that `Connection` names ends here (RFC 9110 §7.6.1). */
const isOfThisHop = (name: string, connection: string | null): boolean => {
  const named = connection?.toLowerCase().split(/[\s,]+/)
  return named?.includes(name) ?? false
}

/** Path and query of an HTTP+JSON call below the agent's endpoint, such as `tasks/1?historyLength=2`; v0.3's begin with `v1/`. */
export type RestPath = string

/**
 * Where a call goes: the endpoint itself, or over HTTP+JSON what is below it, and below the tenant of which the endpoint has
 * several. Undefined where that would lead out of it.
 */
export const upstreamUrl = ({ binding, version, url, tenant }: CallTarget, path: RestPath = ''): string | undefined => {
  if (binding === 'JSONRPC') return url
  const target = URL.parse(url)
  const [asked = '', query = ''] = cut(path.replace(/^\/+/, ''), '?')
  const below = tenant === undefined ? asked : `${encodeURIComponent(tenant)}/${asked}`
  if (target === null || /(?:^|[/\\])(?:\.|%2e){1,2}(?=[/\\]|$)|[#\\]/i.test(below)) return undefined
  const base = target.pathname.replace(/\/+$/, '')
  // Some cards of v0.3 name the prefix in their endpoint, others leave it to the client.
  const twice = version === '0.3' && base.endsWith('/v1') && below.startsWith('v1/')
  target.pathname = `${base}/${twice ? below.slice('v1/'.length) : below}`
  // The version goes up as a header, and in the form that upstreams understand; the tenant is not the caller's to choose.
  for (const [name, value] of new URLSearchParams(query))
    if (name.toLowerCase() !== 'a2a-version' && !(name === 'tenant' && tenant !== undefined))
      target.searchParams.append(name, value)
  return target.href
}

const cut = (text: string, at: string): string[] => {
  const index = text.indexOf(at)
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + at.length)]
}

/** More hops than any honest path has. */
const mostHops = 10

/**
 * The `Via` of a call that goes on from here (RFC 9110 §7.6.3), this hop under its pseudonym; undefined where the call was
 * here before, or has come too far. The pseudonym stands for one agent of one host: an agent may call another of the same host.
 */
export const appendVia = (via: string | null, pseudonym: string): string | undefined => {
  const here = `1.1 ${pseudonym}`
  if (via === null || via.trim() === '') return here
  if (via.split(',').length >= mostHops) return undefined
  return via
    .toLowerCase()
    .split(/[\s,]+/)
    .includes(pseudonym.toLowerCase())
    ? undefined
    : `${via}, ${here}`
}

/** A call that the gate has passed, on its way to the agent. */
export type UpstreamCall = {
  /** What the caller is told errors in; a `Call` is one. */
  call: ErrorForm
  target: CallTarget
  /** The Worker that takes the call in place of the network. */
  service?: Pick<Fetcher, 'fetch'> | undefined
  /** Of HTTP; over JSON-RPC a POST. */
  method: string
  /** Over HTTP+JSON alone. */
  path?: RestPath
  /** JSON text, written anew from what was checked. */
  body?: string | undefined
  /** Whether the operation is answered with a stream of events. */
  streams: boolean
  /** The extensions that the caller names. */
  extensions: readonly string[]
  /** Those of the caller's request. */
  headers: Headers
  credentials: UpstreamCredentials
}

/** How a call gets to its agent: to whom it is handed in place of the network, with what, and how long that may take, in seconds. */
export type UpstreamRoute = Pick<UpstreamCall, 'service' | 'credentials'> & { timeoutSeconds: number }

import type { CallTarget } from '../card/model/calls.ts'
import { essence } from '../http/json-type.ts'

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

import { variableNames } from '../variables.ts'

/** Parses a URL as `URL.parse` does, unless its host is very long: normalizing Unicode takes quadratic time. */
export const parseUrl = (text: string, base?: string): URL | null =>
  longHost.test(text) ? null : URL.parse(text, base)

/** Returns an http or https URL without credentials, which a page may link to; undefined for any other text. */
export const webUrl = (text: string | undefined): string | undefined => {
  const url = text === undefined ? null : parseUrl(text)
  return url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url.href : undefined
}

/** Decodes a segment of a path; undefined if its percent-encoding is invalid. */
export const decodeSegment = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** Follows the URL standard: white space around the scheme is ignored, and a backslash is a slash. */
const longHost = /^[\0- ]*(?:[a-z][a-z\d+.\t\n\r-]*:[/\\\t\n\r]*|[/\\\t\n\r]{2,})[^/\\?#]{260}/i

/** Returns the address of an interface as a URL: what only gRPC has, `host:port` and `grpc://host:port`, with https. */
export const toHttpUrl = (address: string): string => address.replace(grpcAddress, 'https://$1')

const grpcAddress = /^(?:grpcs?:\/\/|(?=.*:\d+$))((?:[^\s\p{Cc}\\/?#@:%[\]<>{}]+|\[[\da-f:.]+\])(?::\d+)?)\/?$/iu

/**
 * Checks whether a domain name exists only inside a machine, a local network or a cloud, or nowhere: special-use names
 * (RFC 6761, RFC 8375), customary names of networks, and the metadata services of clouds.
 */
export const isPrivateName = (hostname: string): boolean => privateName.test(hostname)

const privateName = new RegExp(
  String.raw`(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|svc|docker|consul|test|` +
    String.raw`invalid|alt|onion|arpa|metadata\.goog|metadata\.tencentyun\.com)\.?$`,
  'i',
)

/** Public domains whose subdomains resolve to the address that is written in them, or to the local machine. */
const wildcardDns = /(?:^|\.)(?:nip\.io|sslip\.io|xip\.io|traefik\.me|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com)$/

/** Checks whether a host, as `URL` normalizes it, is a local name or an address, for which there is no certificate. */
export const isLocalName = (hostname: string): boolean => /^(?:(?:.+\.)?localhost|[\d.]+|\[.+\])$/.test(hostname)

/**
 * Makes a request without following redirects. Rejects as `fetch` does. `blocked` is why no request was made, for the
 * log only: clients get one response for every reason, so that nobody can probe.
 */
export type FetchFn = (url: string, init: RequestInit) => Promise<Response | { blocked: string }>

/** Makes a request to the public internet; every request of this host goes through here. Follows no redirect. */
export const safeFetch = (url: string, init: RequestInit, allowedOrigins?: ReadonlySet<string>) => {
  const blocked = blockReason(url, allowedOrigins)
  return blocked === undefined ? fetch(url, { ...init, redirect: 'manual' }) : { blocked }
}

/** Makes a request to an address that `blockReason` does not block: that of a gate is checked once. */
export const fetchUnblocked = (url: string, init: RequestInit & { redirect: 'manual' }) => fetch(url, init)

/** Returns why this host does not call a URL; undefined if it does. `allowedOrigins` are exempt. */
export const blockReason = (address: string, allowedOrigins?: ReadonlySet<string>): string | undefined => {
  const url = parseUrl(address)
  if (url === null) return 'not a URL'
  if (url.username !== '' || url.password !== '') return 'contains a user name or password'
  const reason = notPublicReason(url)
  return reason !== undefined && isHttp(url) && allowedOrigins?.has(url.origin) ? undefined : reason
}

/**
 * Refuses all IP addresses, public ones too, so no range needs to be known here. The URL parser has normalized every
 * spelling of an IPv4 address to four numbers, and rejected what looks like one.
 */
const notPublicReason = ({ protocol, hostname, port }: URL): string | undefined => {
  if (protocol !== 'https:') return 'not https'
  if (port !== '') return 'a port other than 443'
  if (hostname.startsWith('[') || /^[\d.]+$/.test(hostname)) return 'an IP address'
  if (hostname.endsWith('.') || !hostname.includes('.') || isPrivateName(hostname)) return 'not a public name'
  return wildcardDns.test(hostname) ? 'a name for any address' : undefined
}

/** A `blob:` URL has the origin of another URL, and that of a `file:` URL is "null". */
const isHttp = ({ protocol }: URL): boolean => /^https?:$/.test(protocol)

/** Returns the origin of an http or https URL; '' for any other text. */
export const toOrigin = (text: string): string => {
  const url = parseUrl(text)
  return url !== null && isHttp(url) ? url.origin : ''
}

/** Splits a list of origins, which spaces or commas separate. */
export const splitOrigins = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

/** Parses a list of origins. Contains '' if one of them is no http or https URL. */
export const parseOrigins = (text = ''): Set<string> => new Set(splitOrigins(text).map(toOrigin))

/** Returns a predicate for URLs of some origins. Invalid URLs match none. */
export const originMatcher = (origins: readonly (string | undefined)[]): ((url: string) => boolean) => {
  const known = new Set(origins.map(origin => parseUrl(origin ?? '')?.origin))
  known.delete(undefined)
  return url => known.has(parseUrl(url)?.origin)
}

/** Blocks requests to this host's own origins, also after a redirect: it would fetch from itself in a loop. */
export const blockOrigins =
  (fetchFn: FetchFn, isOwnOrigin: (url: string) => boolean): FetchFn =>
  async (url, init) =>
    isOwnOrigin(url) ? { blocked: 'this host itself' } : fetchFn(url, init)

/** Statuses that Cloudflare's network itself answers with when it cannot reach a host, or waits for it too long. */
export const CLOUDFLARE_ERRORS = new Map<number, { failed: 'unreachable' | 'timeout' }>([
  ...[520, 521, 523, 525, 526, 530].map(status => [status, { failed: 'unreachable' }] as const),
  ...[522, 524].map(status => [status, { failed: 'timeout' }] as const),
])

/** The part of the host's configuration that this module needs. `npm start` defines `localOrigins`. */
type HostConfig = LocalConfig & { allowedOrigins: ReadonlySet<string> }
type LocalConfig = { localOrigins: readonly string[] | undefined }

/** A service binding: another Worker of the owner. */
type Service = { fetch: (url: string, init?: RequestInit) => Promise<Response> }

/** Returns the service binding that a manifest names; undefined if this Worker has none of that name. */
export const resolveService = (name: string, env: object): Service | undefined => {
  const binding = bindingNamed(name, env)
  return isService(binding) ? binding : undefined
}

/** Returns the secret that a manifest names, as a header carries it; or what is wrong. Never one of the host's own. */
export const resolveSecret = (
  name: string,
  env: object,
  { localOrigins }: LocalConfig,
): { secret: string } | { misconfigured: string } => {
  const binding = variableNames.includes(name) ? undefined : bindingNamed(name, env)
  // Under `npm start`, wrangler reads secrets from a file, once.
  const advice = localOrigins
    ? `Write ${name}=… into .dev.vars, and restart \`npm start\`.`
    : `Run \`npx wrangler secret put ${name}\`.`
  if (typeof binding !== 'string' || binding === '')
    return { misconfigured: `This Worker has no secret "${name}". ${advice}` }
  const secret = binding.trim()
  return /^[\x21-\x7e]+$/.test(secret)
    ? { secret }
    : { misconfigured: `The secret "${name}" is empty, or contains characters that no header can carry.` }
}

type BindingNames = { secret?: string | undefined; service?: string | undefined }

/** Returns the secret and the service binding of a manifest that this Worker does not have, with what is wrong. */
export const findMissingBindings = ({ secret, service }: BindingNames, env: object, config: LocalConfig) => {
  const missing: { field: keyof BindingNames; name: string; message: string }[] = []
  const resolved = secret === undefined ? {} : resolveSecret(secret, env, config)
  if (secret !== undefined && 'misconfigured' in resolved)
    missing.push({ field: 'secret', name: secret, message: `cannot be sent. ${resolved.misconfigured}` })
  if (service !== undefined && !resolveService(service, env)) {
    const advice = `add ${service} to wrangler.toml, then deploy, or restart \`npm start\``
    const message = `names a service binding that this host does not have: ${advice}`
    missing.push({ field: 'service', name: service, message })
  }
  return missing
}

const bindingNamed = (name: string, env: object) => (Object.hasOwn(env, name) ? Reflect.get(env, name) : undefined)

const isService = (binding: unknown): binding is Service =>
  typeof binding === 'object' && binding !== null && 'fetch' in binding && typeof binding.fetch === 'function'

/**
 * Makes a request to a Worker that is bound to this one. No network is involved, so any URL is safe. Follows no
 * redirect. Removes `Content-Length` from the response, because nothing enforces it between Workers.
 */
export const fetchService = async (service: Service, url: string, init: RequestInit): Promise<Response> => {
  const response = await service.fetch(url, { ...init, redirect: 'manual' })
  const copy = new Response(response.body, response)
  copy.headers.delete('Content-Length')
  return copy
}

/** The part of a manifest that determines how an upstream is called. The secret is sent as a bearer token. */
type UpstreamAddress = { url: string; service?: string | undefined; secret?: string | undefined }

/** Returns how an upstream is called, with credentials for its own origin only; or which binding this Worker lacks. */
export const createUpstreamClient = (
  { url, service, secret }: UpstreamAddress,
  env: object,
  config: HostConfig,
): { fetch: FetchFn; credentials: Record<string, string> } | { misconfigured: string } => {
  const binding = service === undefined ? undefined : resolveService(service, env)
  if (service !== undefined && binding === undefined)
    return { misconfigured: `This Worker has no service binding "${service}".` }
  const resolved = secret === undefined ? undefined : resolveSecret(secret, env, config)
  if (resolved && 'misconfigured' in resolved) return resolved
  const fetch: FetchFn = async (to, init) => {
    if (!binding) return safeFetch(to, init, config.allowedOrigins)
    return isSameOrigin(to, url) ? fetchService(binding, to, init) : { blocked: 'not of the origin of its service' }
  }
  return { fetch, credentials: resolved ? { Authorization: `Bearer ${resolved.secret}` } : {} }
}

const isSameOrigin = (url: string, address: string): boolean => parseUrl(url)?.origin === parseUrl(address)?.origin

/** A request that `safeFetch` did not make. The message is for the log; others must see it as an unreachable host. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError'
}

/** Makes a request to an upstream. Rejects with a `BlockedError`, or as `fetch` does. Follows no redirect. */
export type UpstreamFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** Returns a `fetch` for an upstream that adds the credentials to requests to its origin. */
export const createUpstreamFetch = (upstream: UpstreamAddress, env: object, config: HostConfig) => {
  const client = createUpstreamClient(upstream, env, config)
  if ('misconfigured' in client) return client
  return async (to: string | URL, init: RequestInit = {}) => {
    const url = String(to)
    const headers = new Headers(init.headers)
    if (isSameOrigin(url, upstream.url))
      for (const [name, value] of Object.entries(client.credentials)) headers.set(name, value)
    const response = await client.fetch(url, { ...init, headers })
    if ('blocked' in response) throw new BlockedError(response.blocked)
    return response
  }
}

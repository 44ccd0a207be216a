/**
 * Parses a URL as `URL.parse` does, but none with a longer host than a DNS name and a port: the time to normalize a
 * host name in Unicode grows with the square of its length.
 */
export const parseUrl = (text: string, base?: string): URL | null =>
  longHost.test(text) ? null : URL.parse(text, base)

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
export const safeFetch = (
  url: string,
  init: RequestInit,
  allowedOrigins?: ReadonlySet<string>,
): Promise<Response> | { blocked: string } => {
  const blocked = blockReason(url, allowedOrigins)
  return blocked === undefined ? fetch(url, { ...init, redirect: 'manual' }) : { blocked }
}

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

type NetworkFailure = { failed: 'unreachable' } | { failed: 'timeout' }

/** Statuses that Cloudflare's network itself answers with when it cannot reach a host, or waits for it too long. */
export const CLOUDFLARE_ERRORS = new Map<number, NetworkFailure>([
  ...[520, 521, 523, 525, 526, 530].map(status => [status, { failed: 'unreachable' }] as const),
  ...[522, 524].map(status => [status, { failed: 'timeout' }] as const),
])

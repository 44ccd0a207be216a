import { MAX_REDIRECTS } from '../limits.ts'
import { isPrivateName, isWildcardDnsName } from './names.ts'
import { parseUrl } from './urls.ts'

/** A request that was not made. `blocked` is for the log only: one response for every reason, so that nobody can probe. */
type Blocked = { blocked: string }

/** Makes a request without following redirects. Rejects as `fetch` does. */
export type FetchFn = (url: string, init: RequestInit) => Promise<Response | Blocked>

/** Makes a request to the public internet; every request of this host goes through here. Follows no redirect. */
export const safeFetch = (
  url: string,
  init: RequestInit,
  allowedOrigins?: ReadonlySet<string>,
): Promise<Response> | Blocked => {
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
 * IP addresses are refused, public ones too, so no range needs to be known here. The URL parser has normalized every spelling of
 * an IPv4 address to four numbers, and rejected what looks like one.
 */
const notPublicReason = ({ protocol, hostname, port }: URL): string | undefined => {
  if (protocol !== 'https:') return 'not https'
  if (port !== '') return 'a port other than 443'
  if (hostname.startsWith('[') || /^[\d.]+$/.test(hostname)) return 'an IP address'
  if (hostname.endsWith('.') || !hostname.includes('.') || isPrivateName(hostname)) return 'not a public name'
  return isWildcardDnsName(hostname) ? 'a name for any address' : undefined
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

/** Headers of a GET, by where they are sent when redirects are followed. */
export type GetHeaders = {
  /** Sent with every request. */
  headers?: Record<string, string>
  /** Sent to the origin of the first URL, until a redirect leaves it. */
  credentials?: Record<string, string> | undefined
  /** Conditional headers, sent to the first URL only. */
  validators?: Record<string, string> | undefined
}

/** The response after all redirects, with its URL; or why there is none. */
type Followed =
  | { response: Response; url: string; redirected: boolean }
  | { failed: 'blocked' | 'redirect'; detail: string }

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])

/** GETs a URL and follows redirects, each of which goes through `fetchFn` like the first request. Rejects as that does. */
export const fetchFollowingRedirects = async (
  address: string,
  { headers, credentials, validators }: GetHeaders,
  fetchFn: FetchFn,
  { maxRedirects = MAX_REDIRECTS, signal }: { maxRedirects?: number; signal: AbortSignal },
): Promise<Followed> => {
  const visited = new Set<string>()
  let sameOrigin = true
  for (let url = address; ; ) {
    const sent = { ...headers, ...(sameOrigin && credentials), ...(visited.size === 0 && validators) }
    visited.add(url)
    const response = await fetchFn(url, { method: 'GET', headers: sent, signal })
    if ('blocked' in response) return { failed: 'blocked', detail: response.blocked }
    if (!REDIRECT_STATUSES.has(response.status)) return { response, url, redirected: visited.size > 1 }
    const next = resolveLocation(url, response.headers.get('Location'))
    if ('failed' in next) return next
    if (visited.has(next.url)) return { failed: 'redirect', detail: 'in a circle' }
    if (visited.size > maxRedirects) return { failed: 'redirect', detail: `more than ${maxRedirects} times` }
    sameOrigin &&= new URL(next.url).origin === new URL(address).origin
    url = next.url
  }
}

const resolveLocation = (
  from: string,
  location: string | null,
): { url: string } | Extract<Followed, { failed: string }> => {
  const to = location === null ? null : parseUrl(location, from)
  if (to === null) return { failed: 'redirect', detail: 'to no address' }
  if (from.startsWith('https:') && to.protocol !== 'https:')
    return { failed: 'blocked', detail: 'a redirect away from https' }
  to.hash = ''
  return { url: to.href }
}

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

const withStatuses = (failure: NetworkFailure, ...statuses: number[]): [number, NetworkFailure][] =>
  statuses.map(status => [status, failure])

/** Statuses that Cloudflare's network itself answers with when it cannot reach a host, or waits for it too long. */
export const CLOUDFLARE_ERRORS: ReadonlyMap<number, NetworkFailure> = new Map([
  ...withStatuses({ failed: 'unreachable' }, 520, 521, 523, 525, 526, 530),
  ...withStatuses({ failed: 'timeout' }, 522, 524),
])

/** What is not on the public internet, whatever comes before: names of this machine, of local networks, of clouds' insides. */
const privateNames =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|svc|docker|consul|test|invalid|alt|onion|arpa|metadata\.goog|metadata\.tencentyun\.com)$/

/** Public names that stand for whatever address is written in them, or for this machine. */
const spellsAddress = /(?:^|\.)(?:nip\.io|sslip\.io|xip\.io|traefik\.me|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com)$/

/** A request that was not made. One outcome for every reason, so that nobody can probe with it: `blocked` is for the log. */
type Blocked = { blocked: string }

/** Why this host does not call an address (design §9): undefined where it does. `allowedOrigins` are exempt. */
export const blockReason = (address: string, allowedOrigins = ''): string | undefined => {
  const url = URL.parse(address)
  if (url === null) return 'not a URL'
  if (url.username !== '' || url.password !== '') return 'holds a user name or password'
  const why = whyNotPublic(url)
  return why !== undefined && isAllowed(url, allowedOrigins) ? undefined : why
}

/** The URL parser has made every spelling of an IPv4 address four numbers, and every other one an error. */
const whyNotPublic = ({ protocol, hostname, port }: URL): string | undefined => {
  if (protocol !== 'https:') return 'not https'
  if (port !== '') return 'a port other than 443'
  if (hostname.startsWith('[') || /^[\d.]+$/.test(hostname)) return 'an IP address'
  if (hostname.endsWith('.') || !hostname.includes('.') || privateNames.test(hostname)) return 'not a public name'
  return spellsAddress.test(hostname) ? 'a name for any address' : undefined
}

/** A `blob:` URL has the origin of another: only what is itself http or https is looked up. */
const isAllowed = ({ protocol, origin }: URL, allowedOrigins: string): boolean =>
  /^https?:$/.test(protocol) && allowedOrigins.split(/[\s,]+/).some(allowed => URL.parse(allowed)?.origin === origin)

/** Every call asks, and mostly of the same few addresses: what was found of them is kept, by address and exemptions. */
const judged = new Map<string, string | undefined>()
const mostJudged = 64

const judge = (url: string, allowedOrigins: string): string | undefined => {
  const key = `${url} ${allowedOrigins}`
  if (judged.has(key)) return judged.get(key)
  const why = blockReason(url, allowedOrigins)
  if (judged.size >= mostJudged) judged.clear()
  judged.set(key, why)
  return why
}

/** Makes a request of this host: all of them go through here. Never follows a redirect; rejects as `fetch` does. */
export const safeFetch = (url: string, init: RequestInit, allowedOrigins = ''): Promise<Response> | Blocked => {
  const blocked = judge(url, allowedOrigins)
  return blocked === undefined ? fetch(url, { ...init, redirect: 'manual' }) : { blocked }
}

/** Makes one request and follows no redirect; rejects as `fetch` does. */
export type FetchFn = (url: string, init: RequestInit) => Promise<Response | Blocked>

/** What a GET says of itself, by how far it goes where redirects lead on. */
export type GetHeaders = {
  /** To whoever answers. */
  headers?: Record<string, string>
  /** To the address's own origin; once a redirect has led away from it, no more. */
  credentials?: Record<string, string> | undefined
  /** Of what the address itself answered before: to it alone. */
  validators?: Record<string, string> | undefined
}

/** The answer at the end of the redirects; or why there is none. */
type Followed = { response: Response; redirected: boolean } | { failed: 'blocked' | 'redirect'; detail: string }

const redirects = new Set([301, 302, 303, 307, 308])

/** GETs an address, following at most `most` redirects by hand: each goes through `ask` like the first. Rejects as `ask` does. */
export const fetchFollowingRedirects = async (
  address: string,
  { headers, credentials, validators }: GetHeaders,
  ask: FetchFn,
  { most = 3, signal }: { most?: number; signal: AbortSignal },
): Promise<Followed> => {
  const seen = new Set<string>()
  let atHome = true
  for (let url = address; ; ) {
    const sent = { ...headers, ...(atHome && credentials), ...(seen.size === 0 && validators) }
    seen.add(url)
    const response = await ask(url, { method: 'GET', headers: sent, signal })
    if ('blocked' in response) return { failed: 'blocked', detail: response.blocked }
    if (!redirects.has(response.status)) return { response, redirected: seen.size > 1 }
    const next = whereTo(url, response.headers.get('Location'))
    if ('failed' in next) return next
    if (seen.has(next.url)) return { failed: 'redirect', detail: 'in a circle' }
    if (seen.size > most) return { failed: 'redirect', detail: `more than ${most} times` }
    atHome &&= new URL(next.url).origin === new URL(address).origin
    url = next.url
  }
}

/** A fragment is no part of what is asked for. */
const whereTo = (from: string, location: string | null): { url: string } | Extract<Followed, { failed: string }> => {
  const to = location === null ? null : URL.parse(location, from)
  if (to === null) return { failed: 'redirect', detail: 'to no address' }
  if (from.startsWith('https:') && to.protocol !== 'https:')
    return { failed: 'blocked', detail: 'a redirect away from https' }
  to.hash = ''
  return { url: to.href }
}

/** Tells whether an address is at one of some origins; what is no URL is none of them. */
export const originMatcher = (origins: readonly string[]): ((url: string) => boolean) => {
  const own = new Set(origins.map(origin => URL.parse(origin)?.origin))
  own.delete(undefined)
  return url => own.has(URL.parse(url)?.origin)
}

/** Makes requests of whatever is not this host itself, which would ask again, and again. A redirect may lead there, too. */
export const blockOrigins =
  (ask: FetchFn, isOwn: (url: string) => boolean): FetchFn =>
  async (url, init) =>
    isOwn(url) ? { blocked: 'this host itself' } : ask(url, init)

type NetworkFailure = { failed: 'unreachable' } | { failed: 'timeout' }

const all = (failure: NetworkFailure, ...statuses: number[]): [number, NetworkFailure][] =>
  statuses.map(status => [status, failure])

/** What Cloudflare's network answers with a page of its own, where it does not get to a host or waits for it in vain. */
export const CLOUDFLARE_ERRORS: ReadonlyMap<number, NetworkFailure> = new Map([
  ...all({ failed: 'unreachable' }, 520, 521, 523, 525, 526, 530),
  ...all({ failed: 'timeout' }, 522, 524),
])

/**
 * Whether an error's message says that a run of the Worker has made as many requests as the platform lets it make: that says
 * nothing of whom it would have asked. By its words, as it has no name of its own.
 */
export const isSubrequestLimitError = (message: string): boolean => /too many subrequests/i.test(message)

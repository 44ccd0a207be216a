/** What is not on the public internet, whatever comes before: names of this machine, of local networks, of clouds' insides. */
const privateNames =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|svc|docker|consul|test|invalid|alt|onion|arpa|metadata\.goog|metadata\.tencentyun\.com)$/

/** Public names that stand for whatever address is written in them, or for this machine. */
const spellsAddress = /(?:^|\.)(?:nip\.io|sslip\.io|xip\.io|traefik\.me|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com)$/

/** A request that was not made. One outcome for every reason, so that nobody can probe with it: `blocked` is for the log. */
export type Blocked = { blocked: string }

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

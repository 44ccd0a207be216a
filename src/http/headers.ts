const PRODUCT = 'CallingCard'

/** Returns the `User-Agent` of this host's own requests; `origin` lets the operator of a server find this host. */
export const userAgent = (origin?: string): string => (origin === undefined ? PRODUCT : `${PRODUCT} (+${origin})`)

/** Checks whether a Calling Card host sends a request. It refreshes no remote card: hosts could fetch in a loop. */
export const isCardHost = (headers: Headers): boolean => headers.get('User-Agent')?.startsWith(PRODUCT) === true

/** `Cache-Control` of errors, writes and calls. */
export const NO_STORE = 'no-store'

/** `Cache-Control` of responses to requests with a token. */
export const PRIVATE_NO_STORE = 'private, no-store'

/** Lets pages of any origin read a response and its headers. Credentials are bearer tokens, not cookies. */
export const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': '*',
  'X-Content-Type-Options': 'nosniff',
} as const

// The wildcard covers API key headers, whose names are their agents' choice, but not Authorization.
const ALLOWED_HEADERS = 'Authorization, Content-Type, A2A-Version, A2A-Extensions, If-None-Match, If-Match, *'

/** Returns the response to `OPTIONS` for a path with these methods; browsers may cache it for a day. */
export const preflightResponse = (methods: readonly string[], allowedHeaders = ALLOWED_HEADERS): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...CORS_HEADERS,
      Allow: methods.join(', '),
      'Access-Control-Allow-Methods': methods.join(', '),
      'Access-Control-Allow-Headers': allowedHeaders,
      'Access-Control-Max-Age': '86400',
      'Cache-Control': 'public, max-age=86400',
    },
  })

/** Returns the hostname of a request. A trailing dot does not make it another name (RFC 1034 §3.1). */
export const requestHostname = ({ url }: Request): string => new URL(url).hostname.replace(/\.$/, '')

/** Checks whether a header can have a name (RFC 9110 §5.1): with any other, `Headers` throws. */
export const isFieldName = (name: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(name)

/** Returns a header of a request; null if there is none, or if `Connection` names it: for this hop only. */
export const endToEndHeader = (name: string, headers: Headers): string | null => {
  const value = headers.get(name)
  if (value === null) return null
  const hopByHop = headers.get('Connection')?.toLowerCase() ?? ''
  return hopByHop.split(/[\s,]+/).includes(name) ? null : value
}

/** Checks whether a client prefers HTML to JSON, as a browser does for a page. */
export const prefersHtml = ({ method, headers }: Request): boolean => {
  if (method !== 'GET' && method !== 'HEAD') return false
  const ranges = (headers.get('Accept') ?? '').toLowerCase().split(',')
  const [html, json] = [findRange('text/html', ranges), findRange('application/json', ranges)]
  // Some browsers accept anything as gladly as what they name.
  return html.quality > json.quality || (html.quality > 0 && html.quality === json.quality && html.rank < json.rank)
}

/** Returns the weight that `Accept` gives a type, by its most specific range (RFC 9110 §12.5.1), of the lowest rank. */
const findRange = (type: string, ranges: readonly string[]): { quality: number; rank: number } => {
  const names = [type, `${type.split('/', 1)[0]}/*`, '*/*']
  const named = names.map(name => ranges.find(range => range.split(';', 1)[0]?.trim() === name))
  const rank = named.findIndex(range => range !== undefined)
  return { quality: rank < 0 ? 0 : Number(/;\s*q=([\d.]{1,5})/.exec(named[rank] ?? '')?.[1] ?? 1), rank }
}

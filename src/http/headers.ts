import { MAX_HOPS } from '../limits.ts'

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

/** Returns the weight that `Accept` gives a type, by its most specific range (RFC 9110 §12.5.1), and its rank. */
const findRange = (type: string, ranges: readonly string[]): { quality: number; rank: number } => {
  const names = [type, `${type.split('/', 1)[0]}/*`, '*/*']
  const named = names.map(name => ranges.find(range => range.split(';', 1)[0]?.trim() === name))
  const rank = named.findIndex(range => range !== undefined)
  return { quality: rank < 0 ? 0 : Number(/;\s*q=([\d.]{1,5})/.exec(named[rank] ?? '')?.[1] ?? 1), rank }
}

// Proxying

/**
 * Appends this hop to `Via` (RFC 9110 §7.6.3). Returns undefined if the call has passed this agent before, or has too
 * many hops. The pseudonym stands for one agent of one host, because an agent may call another of the same host.
 */
export const appendVia = (via: string | null, pseudonym: string): string | undefined => {
  const hop = `1.1 ${pseudonym}`
  if (via === null || via.trim() === '') return hop
  if (via.split(',').length >= MAX_HOPS) return undefined
  const known = via.toLowerCase().split(/[\s,]+/)
  return known.includes(pseudonym.toLowerCase()) ? undefined : `${via}, ${hop}`
}

/** The parameters of a challenge that are passed on, and the values that cannot reveal an address. */
const CHALLENGE_PARAMS: ReadonlyMap<string, RegExp> = new Map([
  ['realm', /^[\w -]{1,64}$/],
  ['error', /^[a-z_]{1,64}$/],
  ['scope', /^[\w:. -]{1,256}$/],
  ['charset', /^[\w-]{1,16}$/],
  // Digest (RFC 7616) cannot be answered without these.
  ...['algorithm', 'qop', 'nonce', 'opaque', 'stale'].map((name): [string, RegExp] => [name, /^[\w+/=, -]{1,256}$/]),
])

/** Longer than any real list of challenges, in characters. */
const MAX_CHALLENGES_LENGTH = 2048

/**
 * Rewrites an agent's challenges: keeps the scheme of each, and the parameters that cannot reveal where the agent is.
 * Several header lines arrive as one list (RFC 9110 §11.6.1), in which commas separate challenges and parameters.
 */
export const sanitizeChallenges = (header: string): string => {
  const challenges: { scheme: string; params: string[] }[] = []
  for (const [item] of header.slice(0, MAX_CHALLENGES_LENGTH).matchAll(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g)) {
    const [, scheme, name, quoted, token = ''] = challengeItem.exec(item.trim()) ?? []
    if (scheme !== undefined) challenges.push({ scheme, params: [] })
    const value = quoted ?? token
    if (name !== undefined && CHALLENGE_PARAMS.get(name.toLowerCase())?.test(value))
      challenges.at(-1)?.params.push(quoted === undefined ? `${name}=${value}` : `${name}="${value}"`)
  }
  return challenges.map(({ scheme, params }) => `${scheme} ${params.join(', ')}`.trim()).join(', ')
}

/** One item of the list: a scheme, a parameter, or a scheme with its first parameter. */
const challengeItem =
  /^(?:([\w-]{1,32})[\w-]*(?=\s|$)(?!\s*=)\s*)?(?:([a-z]{1,32})\s*=\s*(?:"([^"\\]*)"|([^\s",\\]*)))?/i

/** A trace with a span of this host between its caller and the agent (W3C Trace Context). */
export type TraceContext = NonNullable<ReturnType<typeof continueTrace>>

/** Versions above 00 may have more fields. */
const traceparentForm = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** The flags that the specification defines: sampled, and random trace id. Others must be zero. */
const KNOWN_FLAGS = 0x03

/** Continues the trace of a caller with a new span; undefined without a valid `traceparent` that the log may have. */
export const continueTrace = (headers: Headers, isSecret: (traceparent: string) => boolean) => {
  const traceparent = endToEndHeader('traceparent', headers) ?? ''
  const [, version, traceId, parentSpanId, flags = '', rest] = traceparentForm.exec(traceparent) ?? []
  if (traceId === undefined || parentSpanId === undefined || (version === '00' && rest !== undefined)) return undefined
  if (isSecret(traceparent)) return undefined
  return {
    traceId,
    // The version digit of a UUID keeps the id from being all zeros, which is invalid.
    spanId: crypto.randomUUID().replaceAll('-', '').slice(0, 16),
    /** The span of the caller. */
    parentSpanId,
    /** Two hexadecimal digits. */
    flags: (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, '0'),
    /** The `tracestate` as it was received. */
    state: endToEndHeader('tracestate', headers) ?? '',
  }
}

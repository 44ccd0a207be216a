const name = 'CallingCard'

/** What this host calls itself where it fetches cards; `origin` tells those who wonder where it is. */
export const userAgent = (origin?: string): string => (origin === undefined ? name : `${name} (+${origin})`)

/**
 * Whether a card host asks for a card of its own: that sets off no refresh here. So hosts that have cards of each other ask
 * each for itself, by their own clocks, and never in a chain or a circle.
 */
export const isCardHost = (headers: Headers): boolean => headers.get('User-Agent')?.startsWith(name) === true

/** What may be kept by nobody: errors, writes, and whatever was read with a token. */
export const NO_STORE = 'no-store'

/** What was read with a token: not for shared caches, nor for the disk. */
export const privateNoStore = 'private, no-store'

/** The freshness of public responses, as the owner configured it in seconds. */
export const publicCaching = (env: { CACHE_MAX_AGE?: string; CACHE_STALE_WHILE_REVALIDATE?: string }): string =>
  `public, max-age=${seconds(env.CACHE_MAX_AGE, 60)}, stale-while-revalidate=${seconds(env.CACHE_STALE_WHILE_REVALIDATE, 86400)}`

const seconds = (value: string | undefined, otherwise: number): string =>
  value !== undefined && /^\d{1,9}$/.test(value) ? value : String(otherwise)

/** Headers that let a page of any origin read a response. Credentials are bearer tokens, never cookies. */
export const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Last-Modified, A2A-Version, Link, Retry-After, Age, Warning',
  'X-Content-Type-Options': 'nosniff',
} as const

/** The same for answers to A2A calls, which say more of themselves. */
export const A2A_CORS_HEADERS = {
  ...CORS_HEADERS,
  'Access-Control-Expose-Headers':
    'A2A-Version, A2A-Extensions, X-A2A-Extensions, Gate-Warning, Retry-After, WWW-Authenticate',
} as const

/** Answers a preflight (or a plain OPTIONS) for a path that takes `methods`; browsers may keep it a day. */
export const preflight = (methods: readonly string[]): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...CORS_HEADERS,
      Allow: methods.join(', '),
      'Access-Control-Allow-Methods': methods.join(', '),
      // The names of API keys are their cards'; a wildcard stands for all but Authorization.
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, A2A-Version, A2A-Extensions, If-None-Match, If-Match, *',
      'Access-Control-Max-Age': '86400',
      'Cache-Control': 'public, max-age=86400',
    },
  })

/** The host name of a request. A name with the root's dot is the same name (RFC 1034 §3.1). */
export const requestHostname = ({ url }: Request): string => withoutDot(new URL(url).hostname)

/** A host name without the root's dot. */
export const withoutDot = (hostname: string): string => hostname.replace(/\.$/, '')

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

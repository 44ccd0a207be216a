// The minimum of a gateway that is not blind: it parses and serializes a call, gives the agent a minute, checks that the
// response is JSON, sends its own headers and logs a line. It validates nothing, knows one agent, and forwards a stream
// as it is. VERSION is the version of A2A. REST_TYPE is the media type of calls over HTTP+JSON, which keep their path.
// With TOKEN_DIGEST, it refuses callers without the token, whose digest it computes once. With PREBUILT, it creates the
// headers of the call to the agent once, and clears no timer.

import { env } from 'cloudflare:workers'

const { UPSTREAM, VERSION = '1.0', REST_TYPE, TOKEN_DIGEST, PREBUILT } = env
const mediaType = REST_TYPE ?? 'application/json'

const headers = new Headers({
  'Content-Type': mediaType,
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
})

const upstreamHeaders = () => ({
  'Content-Type': mediaType,
  Accept: mediaType,
  'A2A-Version': VERSION,
  Via: '1.1 careful',
})
const prebuiltHeaders = PREBUILT && new Headers(upstreamHeaders())

const withTimeout = (promise, milliseconds) => {
  const { promise: timeout, resolve } = Promise.withResolvers()
  const timer = setTimeout(resolve, milliseconds)
  const first = Promise.race([promise, timeout])
  return PREBUILT ? first : first.finally(() => clearTimeout(timer))
}

const forward = async (call, path) => {
  const upstream = await fetch(UPSTREAM + path, {
    method: 'POST',
    redirect: 'manual',
    headers: prebuiltHeaders ?? upstreamHeaders(),
    body: JSON.stringify(call),
  })
  if (upstream.headers.get('Content-Type') === 'text/event-stream')
    return new Response(upstream.body, { headers: { 'Content-Type': 'text/event-stream' } })
  const text = await upstream.text()
  JSON.parse(text)
  return new Response(text, { status: upstream.status, headers })
}

/** The values of `Authorization` that have the token. */
const accepted = new Set()

const hasToken = async authorization => {
  const token = new TextEncoder().encode(authorization.slice('Bearer '.length))
  const isValid = crypto.subtle.timingSafeEqual(await crypto.subtle.digest('SHA-256', token), TOKEN_DIGEST)
  if (isValid) accepted.add(authorization)
  return isValid
}

const pathBelowEndpoint = ({ url }) => url.slice(url.indexOf('/a2a/') + '/a2a'.length)

export default {
  async fetch(request) {
    const authorization = TOKEN_DIGEST && (request.headers.get('Authorization') ?? '')
    if (TOKEN_DIGEST && !accepted.has(authorization) && !(await hasToken(authorization)))
      return new Response(null, { status: 401, headers })
    const path = REST_TYPE ? pathBelowEndpoint(request) : ''
    const call = JSON.parse(await request.text())
    const response = await withTimeout(forward(call, path), 60_000)
    const operation = REST_TYPE ? path : call.method
    console.info(JSON.stringify({ event: 'call', agent: 'weather', operation, status: response.status }))
    return response
  },
}

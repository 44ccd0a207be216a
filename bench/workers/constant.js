// The minimum of a Worker: it sends the same bytes and headers for every request, and creates both before the first one.

import { env } from 'cloudflare:workers'

const bytes = new Uint8Array(env.BODY)
const init = { headers: new Headers(env.HEADERS) }

export default {
  fetch: () => new Response(bytes, init),
}

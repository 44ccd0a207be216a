// The least that a Worker can do with a call: it reads the body, and answers the same bytes and headers every time.

import { env } from 'cloudflare:workers'

const bytes = new Uint8Array(env.BODY)
const init = { headers: new Headers(env.HEADERS) }

export default {
  async fetch(request) {
    await request.text()
    return new Response(bytes, init)
  },
}

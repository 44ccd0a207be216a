// The minimum of a Worker that refuses a call: it reads the body and sends the same bytes and headers every time. With LOG it also
// parses the body and logs a line.

import { env } from 'cloudflare:workers'

const bytes = new Uint8Array(env.BODY)
const init = { headers: new Headers(env.HEADERS) }
const log = env.LOG === 'yes'

export default {
  async fetch(request) {
    const text = await request.text()
    if (log) console.info(JSON.stringify({ event: 'call', agent: 'weather', operation: JSON.parse(text).method }))
    return new Response(bytes, init)
  },
}

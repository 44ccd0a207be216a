// What any Worker must do with a call that it refuses: it reads the body, and answers the same bytes and headers every time.
// With LOG it reads the body as JSON and writes a line of log, too.

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

// The least that a Worker can do for many agents: the bytes of each, made before the first request, and one set of headers.

import { env } from 'cloudflare:workers'

const pattern = 'agent-000000'
const text = new TextDecoder().decode(env.BODY)
const bodies = new Map()
for (let rank = 0; rank < Number(env.AGENTS); rank++) {
  const id = `agent-${String(rank).padStart(6, '0')}`
  bodies.set(`/agents/${id}/.well-known/agent-card.json`, new TextEncoder().encode(text.replaceAll(pattern, id)))
}
const init = { headers: new Headers(env.HEADERS) }

export default {
  fetch: request => new Response(bodies.get(request.url.slice(request.url.indexOf('/', 8))), init),
}

// The host's bundle, watched: GET /counts tells what it did since DELETE /counts. Every other request is the host's.

import { counted, counts } from './counters.js'
import host from './host.js'

export { Catalog, Registry } from './host.js'

const zero = () => {
  for (const name of Object.keys(counts)) counts[name] = 0
}

export default {
  fetch(request, env, ctx) {
    if (request.url.endsWith('/counts')) {
      const before = { ...counts }
      if (request.method === 'DELETE') zero()
      return new Response(JSON.stringify(before))
    }
    counts.requests++
    const watched = { ...env, CARDS: counted(env.CARDS, 'kv'), REGISTRY: counted(env.REGISTRY, 'registry') }
    return host.fetch(request, watched, ctx)
  },
}

// The host with its work counted: GET /counts returns the counts since DELETE /counts. The host gets every other request.

import { counted, counts } from './counters.js'
import host from './index.js'

export { Catalog, Events, McpAgent, Registry, RemoteCard, TaskOwners } from './index.js'

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
    const countedEnv = {
      ...env,
      CARDS: counted(env.CARDS, 'kv'),
      REGISTRY: counted(env.REGISTRY, 'registry'),
      TASK_OWNERS: counted(env.TASK_OWNERS, 'owners'),
    }
    return host.fetch(request, countedEnv, ctx)
  },
}

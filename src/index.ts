import { router } from './router.ts'
import { heldCard } from './routes/cards.ts'

export { McpAgent } from './bridge/mcp-agent.ts'
export { Registry } from './registry/registry.ts'
export { Catalog } from './routes/catalog.ts'

export default {
  fetch: (request, env, ctx) => heldCard(request, env) ?? router.fetch(request, env, ctx),
  scheduled: async (_, env, ctx) => (await import('./sources/refresh-due.ts')).refreshDue(env, ctx),
} satisfies ExportedHandler<Env>

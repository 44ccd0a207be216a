import { handleRequest } from './app.ts'

export { Catalog } from './api/catalog.ts'
export { McpAgent } from './mcp-bridge/mcp-agent.ts'
export { Registry } from './registry/store/registry.ts'

export default {
  fetch: handleRequest,
  scheduled: async (_, env, ctx) => (await import('./sources/scheduled.ts')).refreshDue(env, ctx),
} satisfies ExportedHandler<Env>

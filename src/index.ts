import { answer } from './router.ts'

export { McpAgent } from './bridge/mcp-agent.ts'
export { Registry } from './registry/registry.ts'
export { Catalog } from './routes/catalog.ts'

export default {
  fetch: answer,
  scheduled: async (_, env, ctx) => (await import('./sources/refresh-due.ts')).refreshDue(env, ctx),
} satisfies ExportedHandler<Env>

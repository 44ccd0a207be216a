import { handleRequest } from './app.ts'

export { Catalog } from './api/catalogs/catalog.ts'
export { Events } from './events/events.ts'
export { McpAgent } from './mcp-bridge/mcp-agent.ts'
export { Registry } from './registry/store/registry.ts'
export { RemoteCard } from './sources/remote-card.ts'
export { TaskOwners } from './task-owners/task-owners.ts'

export default { fetch: handleRequest } satisfies ExportedHandler<Env>

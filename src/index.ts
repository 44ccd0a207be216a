import { handleRequest } from './app.ts'
import { createMcpServerAgent } from './mcp/agent/start.ts'
import { requestRefresh } from './sources/start.ts'

export { Catalog } from './api/catalogs/start.ts'
export { TaskOwners } from './gateway/tasks/index.ts'
export { Events } from './registry/events/start.ts'
export { Registry } from './registry/store/index.ts'
export { RemoteCard } from './sources/start.ts'

/** The Durable Object of an agent that is an MCP server, whose other tools make it fetch the card again. */
export class McpAgent extends createMcpServerAgent((agent, env) => requestRefresh(agent, { force: true }, env)) {}

export default { fetch: handleRequest } satisfies ExportedHandler<Env>

import { handleRequest } from './app.ts'
import { McpServerAgent } from './mcp/agent/mcp-agent.ts'
import { requestRefresh } from './sources/revalidate.ts'

export { Catalog } from './api/catalogs/catalog.ts'
export { TaskOwners } from './gateway/tasks/task-owners.ts'
export { Events } from './registry/events/events.ts'
export { Registry } from './registry/store/registry.ts'
export { RemoteCard } from './sources/remote-card.ts'

/** The Durable Object of an agent that is an MCP server. Its card is fetched again when the server announces other tools. */
export class McpAgent extends McpServerAgent {
  protected override readonly refreshCard = (agent: string, env: Env) => requestRefresh(agent, { force: true }, env)
}

export default { fetch: handleRequest } satisfies ExportedHandler<Env>

import { DurableObject } from 'cloudflare:workers'

/** An MCP server as an A2A agent: it keeps the tasks that calls of tools are, and the session with the server. */
export class McpAgent extends DurableObject<Env> {}

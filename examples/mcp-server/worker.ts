import { createMcpHandler } from '@modelcontextprotocol/server'
import { createToolServer } from './tools.ts'

// One server for each request: the tools have no state, so they need no sessions.
const handler = createMcpHandler(createToolServer)

export default {
  fetch: request =>
    new URL(request.url).pathname === '/mcp' ? handler.fetch(request) : new Response('Not found', { status: 404 }),
} satisfies ExportedHandler

import { createMcpHandler } from '@modelcontextprotocol/server'
import { toolServer } from './tool-server.ts'

/** A server for each request: it has nothing to remember, so it needs no sessions. */
const handler = createMcpHandler(toolServer)

export default {
  fetch: request =>
    new URL(request.url).pathname === '/mcp' ? handler.fetch(request) : new Response('Not found', { status: 404 }),
} satisfies ExportedHandler

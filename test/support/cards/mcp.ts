import type { JsonObject } from '../../../src/json/json.ts'
import { readSeed } from './seeds.ts'

/** The `upstream` of a manifest whose card is made from an MCP server. */
export const mcpUpstream = { mcp: 'https://mcp.exa.example/mcp' }

/** The input schema of a tool with one text argument. */
export const textToolSchema = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }

/** Returns the card that is made from an MCP server with these tools. */
export const mcpServerCard = (...tools: JsonObject[]): JsonObject => ({
  ...readSeed('superx-exa'),
  skills: tools.map(tool => ({
    id: tool.name ?? null,
    name: null,
    description: null,
    inputSchema: textToolSchema,
    ...tool,
  })),
})

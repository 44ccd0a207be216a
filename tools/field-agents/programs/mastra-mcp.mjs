import { MCPClient } from '@mastra/mcp'

// Lists the tools of an MCP server, or calls one, as an agent of Mastra does.

const [url, name, args] = process.argv.slice(2)
const client = new MCPClient({ servers: { host: { url: new URL(url) } } })
const tools = await client.listTools()
console.log(JSON.stringify(name ? await tools[`host_${name}`].execute(JSON.parse(args), {}) : Object.keys(tools)))
await client.disconnect()

import { createMCPClient } from '@ai-sdk/mcp'

// Lists the tools of an MCP server, or calls one, as an application of the AI SDK does.

const [url, name, args] = process.argv.slice(2)
const client = await createMCPClient({ transport: { type: 'http', url } })
const tools = await client.tools()
const options = { toolCallId: '1', messages: [] }
console.log(JSON.stringify(name ? await tools[name].execute(JSON.parse(args), options) : Object.keys(tools)))
await client.close()

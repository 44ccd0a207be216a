import { MultiServerMCPClient } from '@langchain/mcp-adapters'

// Lists the tools of an MCP server, or calls one, as an agent of LangChain does.

const [url, name, args] = process.argv.slice(2)
const client = new MultiServerMCPClient({ mcpServers: { host: { transport: 'http', url } } })
const tools = await client.getTools()
const call = { type: 'tool_call', id: '1', name, args: JSON.parse(args ?? '{}') }
console.log(
  JSON.stringify(name ? await tools.find(tool => tool.name === name).invoke(call) : tools.map(tool => tool.name)),
)
await client.close()

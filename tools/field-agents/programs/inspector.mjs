import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

// Lists the tools of an MCP server, or calls one, with the command line of MCP Inspector.

const [url, name, args = '{}'] = process.argv.slice(2)
const pairs = Object.entries(JSON.parse(args)).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
const call = ['tools/call', '--tool-name', name, ...(pairs.length > 0 ? ['--tool-arg', ...pairs] : [])]
const inspector = join(import.meta.dirname, 'node_modules/.bin/mcp-inspector')
const method = ['--transport', 'http', '--method', ...(name ? call : ['tools/list'])]
const env = { PATH: process.env.PATH, HOME: import.meta.dirname }
const inspect = spawnSync(process.execPath, [inspector, '--cli', url, ...method], { env, stdio: 'inherit' })
process.exitCode = inspect.status

import { existsSync } from 'node:fs'
import { createTemporaryFolder } from '../../test/support/installed.ts'
import { checkAgents } from './agents.ts'
import { checkMcpClients } from './mcp-clients.ts'

const USAGE = `Usage: npm run field [-- agents | mcp], after npm run build

Installs programs from npm into a temporary folder, and prints what they answer. Exits with 1 if an answer is not as
expected. Needs the network, and two gigabytes of disk.

agents  registers agents of frameworks at a host, and calls each as clients of every version and the installed ones do
mcp     calls agents, and the host itself, with MCP clients`

const parts = { agents: checkAgents, mcp: checkMcpClients }
const [chosen, ...others] = process.argv.slice(2)
const run = Object.entries(parts).filter(([name]) => chosen === undefined || chosen === name)

if (run.length === 0 || others.length > 0 || !existsSync('out/index.js')) {
  console.error(USAGE)
  process.exit(chosen === '--help' ? 0 : 2)
}

const directory = createTemporaryFolder('field')
for (const [, part] of run) await part(directory)
process.exit()

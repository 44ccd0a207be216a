import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Writes MCP servers into the settings of gemini-cli, and prints whether it connects to each.

const servers = process.argv.slice(2).map((httpUrl, index) => [`server-${index}`, { httpUrl }])
const quiet = { privacy: { usageStatisticsEnabled: false }, telemetry: { enabled: false } }
const settings = { ...quiet, general: { disableAutoUpdate: true }, mcpServers: Object.fromEntries(servers) }
const folder = join(import.meta.dirname, '.gemini')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
const gemini = join(import.meta.dirname, 'node_modules/@google/gemini-cli/bundle/gemini.js')
const env = { PATH: process.env.PATH, HOME: import.meta.dirname, GEMINI_CLI_TRUST_WORKSPACE: 'true' }
const { stdout, stderr } = spawnSync(process.execPath, [gemini, 'mcp', 'list'], { env, encoding: 'utf8' })
console.log(stdout, stderr)

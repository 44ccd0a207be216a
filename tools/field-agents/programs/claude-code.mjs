import { execFileSync, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

// Adds MCP servers to the configuration of Claude Code. Prints whether it connects, and their tools in a session,
// which ends there: it has no model.

const [path] = globSync(join(import.meta.dirname, 'node_modules/@anthropic-ai/claude-code-*/claude*(.exe)'))
const quiet = { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }
const noModel = { ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }
const env = { PATH: process.env.PATH, HOME: import.meta.dirname, ...quiet, ...noModel }
const claude = (...args) => execFileSync(path, ['mcp', ...args], { env, encoding: 'utf8' })
for (const [index, url] of process.argv.slice(2).entries()) claude('add', '--transport', 'http', `server-${index}`, url)
console.log(claude('list'))

const print = ['-p', 'Hello', '--output-format', 'stream-json', '--verbose']
const session = spawn(path, print, { env, stdio: ['ignore', 'pipe', 'inherit'] })
for await (const line of createInterface(session.stdout)) {
  console.log(
    JSON.parse(line)
      .tools.filter(name => name.startsWith('mcp__'))
      .join(' '),
  )
  break
}
session.kill()

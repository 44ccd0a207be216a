import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../../test/support/free-ports.ts'
import { check, createTemporaryFolder, installPackages, startServer } from '../../test/support/installed.ts'
import { SoakHost } from '../soak/host.ts'

const USAGE = `Usage: npm run mcp

Installs MCP servers from npm into a temporary folder, registers each as an agent of a host, and calls their tools over A2A. Prints
what they answer, and exits with 1 if one of them does not answer as expected. Needs the network.`

if (process.argv.length > 2) {
  console.error(USAGE)
  process.exit(process.argv[2] === '--help' ? 0 : 2)
}

const packages = [
  '@modelcontextprotocol/server-everything@2026.8.31',
  '@modelcontextprotocol/server-memory@2026.8.31',
  'supergateway@4.0.0',
  'fastmcp@4.20.16',
]

/** A server of fastmcp. */
const fastmcpServer = `
import { FastMCP } from 'fastmcp'
import { z } from 'zod'
const server = new FastMCP({ name: 'fast', version: '1.0.0', instructions: 'Echoes texts.' })
server.addTool({ name: 'echo', parameters: z.object({ text: z.string() }), execute: async ({ text }) => 'Echo: ' + text })
server.addTool({ name: 'fails', description: 'Fails', execute: async () => { throw new Error('out of order') } })
await server.start({ transportType: 'httpStream', httpStream: { port: Number(process.env.PORT), host: '127.0.0.1' } })
`

const directory = createTemporaryFolder('mcp')
await installPackages(directory, packages)
writeFileSync(join(directory, 'fast.mjs'), fastmcpServer)

const inPackages = (path: string): string => join(directory, 'node_modules', path)
const memory = inPackages('@modelcontextprotocol/server-memory/dist/index.js')

/** How to start each server, with its port at the end of the arguments or in the environment. */
const commands: Record<string, (port: number) => string[]> = {
  everything: () => [inPackages('@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp'],
  fast: () => [join(directory, 'fast.mjs')],
  ...Object.fromEntries(
    [[], ['--stateful']].map(flags => [
      flags.length > 0 ? 'memory' : 'memory-stateless',
      (port: number) => [
        inPackages('supergateway/dist/index.js'),
        ...['--stdio', `node ${memory}`, '--outputTransport', 'streamableHttp', '--port', `${port}`, ...flags],
      ],
    ]),
  ),
}

/** Starts a server, and returns the function that starts it again. */
const start = (name: string, port: number): Promise<() => Promise<void>> => {
  const env = { MEMORY_FILE_PATH: join(directory, `${name}.json`) }
  return startServer(commands[name]?.(port) ?? [], port, env)
}

const names = Object.keys(commands)
const ports = new Map(await Promise.all(names.map(async name => [name, await findFreePort()] as const)))
const restarts = new Map(
  await Promise.all([...ports].map(async ([name, port]) => [name, await start(name, port)] as const)),
)
const origins = [...ports.values()].map(port => `http://127.0.0.1:${port}`)
const host = await SoakHost.start(directory, origins.join(' '))

type Task = { id: string; status: { state: string; message?: { parts: object[] } }; artifacts?: { parts: object[] }[] }

/** Sends a message and returns its task as one line: the state, and the parts of the tool or the host. */
const send = async (agent: string, part: object, more: object = {}): Promise<{ id: string; line: string }> => {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [part], ...more }
  const response = await host.send('POST', `/agents/${agent}`, {
    ...{ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
  })
  const { result, error } = (await response.json()) as { result?: { task: Task }; error?: object }
  if (!result) return { id: '', line: `ERROR ${JSON.stringify(error)}` }
  const { id, status, artifacts } = result.task
  const shown = artifacts?.flatMap(({ parts }) => parts) ?? status.message?.parts ?? []
  return { id, line: `${status.state.replace('TASK_STATE_', '')} ${JSON.stringify(shown)}` }
}

const call = (tool: string, args: object = {}): object => ({ data: { skillId: tool, arguments: args } })

for (const [name, port] of ports) {
  const upstream = { mcp: `http://127.0.0.1:${port}/mcp`, ...(name === 'fast' && { defaultTool: 'echo' }) }
  const response = await host.send('PUT', `/agents/${name}`, { upstream })
  check(`${name} is registered`, `${response.status} ${await response.text()}`, /^201/)
}

const everything = 'everything'
const report = await (await host.send('GET', '/agents/everything/.well-known/agent-card.json')).text()
check('everything describes itself', report, /"description":"[^"]{40,}/)
check('a tool that runs as a task only is left out', report, /^(?!.*simulate-research-query)/)
check('a call', (await send(everything, call('get-sum', { a: 2, b: 3 }))).line, /^COMPLETED .*5/)
check(
  'JSON as text',
  (await send(everything, { text: '{"skill":"echo","arguments":{"message":"hi"}}' })).line,
  /Echo: hi/,
)
check('annotations', (await send(everything, call('get-annotated-message', { messageType: 'error' }))).line, /priority/)
const links = (await send(everything, call('get-resource-links', { count: 2 }))).line
check('links of other schemes', links, /"resource":"demo:/)
const [, uri = ''] = /"resource":"(demo:[^"]*)"/.exec(links) ?? []
check('the resource of a link', (await send(everything, { data: { resource: uri } })).line, /^COMPLETED .*"uri":"demo:/)
const asked = await send(everything, call('trigger-elicitation-request'))
check('a question', asked.line, /^INPUT_REQUIRED .*requestedSchema/)
const answered = await send(everything, { data: { name: 'Ada', integer: 7 } }, { taskId: asked.id })
check('its answer', answered.line, /^COMPLETED .*Ada/)
const named = { skill: 'echo', arguments: { message: 'hello' } }
check('a skill and arguments', (await send(everything, { data: named })).line, /^COMPLETED .*Echo: hello/)
check('a text for no tool', (await send(everything, { text: 'hello' })).line, /^ERROR .*tool/)
check(
  'an unknown tool',
  (await send(everything, call('no-such-tool'))).line,
  /^ERROR .*is not a tool of this agent\. Its tools are echo/,
)
const sampling = await send(everything, call('trigger-sampling-request', { prompt: 'Hi', maxTokens: 10 }))
check('a tool that needs sampling is not offered', sampling.line, /^ERROR .*is not a tool of this agent/)
check(
  'a wrong argument',
  (await send(everything, call('get-sum', { a: 'two' }))).line,
  /^FAILED .*Invalid arguments for tool get-sum/,
)
await restarts.get(everything)?.()
check('a call after a restart', (await send(everything, call('echo', { message: 'again' }))).line, /^COMPLETED .*again/)

check('fastmcp: a plain text', (await send('fast', { text: 'hello' })).line, /^COMPLETED .*Echo: hello/)
check('fastmcp: a failure', (await send('fast', call('fails'))).line, /^FAILED .*out of order/)
await restarts.get('fast')?.()
check(
  'fastmcp: a call after a restart',
  (await send('fast', call('echo', { text: 'again' }))).line,
  /^COMPLETED .*again/,
)

for (const agent of ['memory', 'memory-stateless']) {
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes'] }]
  check(`${agent}: a call`, (await send(agent, call('create_entities', { entities }))).line, /^COMPLETED .*Ada/)
  check(`${agent}: another`, (await send(agent, call('read_graph'))).line, /^COMPLETED .*writes/)
}

await host.stop()
process.exit()

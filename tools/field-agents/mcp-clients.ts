import { loadManifests } from '../../cli/manifests/index.ts'
import { check } from '../../test/support/installed.ts'
import { agentPath, createOfficialAgents } from '../../test/support/sdk/agents.ts'
import { makeSigningKey } from '../../test/support/signing-key.ts'
import { startUpstream } from '../../test/support/upstream.ts'
import { installPrograms, runProgram, startHost } from './setup.ts'
import { createSlowAgents } from './slow-agent.ts'

/** The packages of clients that call tools: each program takes a URL, and a tool with its arguments as JSON. */
export const callers = {
  inspector: ['@modelcontextprotocol/inspector@2.12.0'],
  'ai-sdk': ['@ai-sdk/mcp@2.0.99', 'zod@4.6.7'],
  langchain: ['@langchain/mcp-adapters@1.1.4', '@langchain/core@1.4.0', '@langchain/langgraph@1.7.3', 'zod@4.6.7'],
  'mastra-mcp': ['@mastra/mcp@2.0.0', '@mastra/core@1.68.0', 'zod@4.6.7'],
}

/** Clients that print whether they connect to the URLs that they get, and which tools they find if they say so. */
const connectors = {
  'claude-code': { packages: ['@anthropic-ai/claude-code@2.1.332'], tools: '__find_agents .*__ask .*__work' },
  'gemini-mcp': { packages: ['@google/gemini-cli@0.61.0'], tools: '' },
}

/** How long the slow agents take: longer than the host waits for them. */
const SLOW_SECONDS = 90

/** Calls agents, and the host itself, with MCP clients. */
export const checkMcpClients = async (directory: string): Promise<void> => {
  const connectorPackages = Object.fromEntries(Object.entries(connectors).map(([name, each]) => [name, each.packages]))
  const programs: Record<string, string> = await installPrograms(directory, { ...callers, ...connectorPackages })
  const upstream = await startUpstream()
  const { origin } = upstream
  upstream.listenWith(createOfficialAgents(origin).use(createSlowAgents(origin, SLOW_SECONDS)))
  const vars = { ALLOWED_ORIGINS: origin, SIGNING_KEY: JSON.stringify(makeSigningKey()) }
  const host = await startHost({ vars, examples: ['echo-agent', 'mcp-server'] })
  const { drafts } = loadManifests(['examples/cards/echo.yaml', 'examples/cards/tool-box.yaml'], host.url.origin)
  for (const { id = '', manifest } of drafts) await host.register(id, manifest ?? {})
  const fetched = { old: agentPath('0.3 over JSON-RPC'), streams: '/streams', polls: '/polls' }
  for (const [id, path] of Object.entries(fetched))
    await host.register(id, { route: 'gateway', upstream: { card: `${origin}${path}/card.json` } })

  const serverUrl = (agent?: string): string =>
    new URL(agent === undefined ? '/mcp' : `/agents/${agent}/mcp`, host.url).href
  const ids = ['echo', 'tool-box', ...Object.keys(fetched)]
  const urls = [undefined, ...ids].map(serverUrl)
  for (const [name, { tools }] of Object.entries(connectors)) {
    const printed = await runProgram(programs[name] ?? '', urls)
    const expected = new RegExp(`(Connected.*){${urls.length}}${tools}`, 's')
    check(`${name} connects to the host and ${ids.length} agents`, printed, expected)
  }
  const runs = Object.keys(callers).map(name =>
    checkCaller(name, (agent, ...call) => runProgram(programs[name] ?? '', [serverUrl(agent), ...call], 120)),
  )
  await Promise.all(runs)
  await Promise.all([host.close(), upstream.close()])
}

/** Runs a client with the server of an agent, or of the host without one: it lists the tools, or calls one. */
type RunClient = (agent: string | undefined, ...call: string[]) => Promise<string>

/** A list of tools, or a call of a tool with arguments, and what the client prints. */
type Step = [title: string, agent: string | undefined, tool: string | undefined, args: object, expected: RegExp]

const steps: Step[] = [
  ['tools of the host', undefined, undefined, {}, /find_agents.*get_agent.*call_agent/],
  ['finds an agent', undefined, 'find_agents', { query: 'echo' }, /agents\/echo\/a2a/],
  ['calls it', undefined, 'call_agent', { agent: 'echo', message: 'hi there' }, /hi there/],
  ['tools of an agent of 1.0', 'echo', undefined, {}, /echo.*stream.*ask.*slow/],
  ['calls an agent of 1.0', 'echo', 'echo', { message: 'hello' }, /hello/],
  ['calls an agent that streams', 'echo', 'stream', { message: 'stream one two three' }, /"one two three/],
  ['tools of an agent of 0.3', 'old', undefined, {}, /main/],
  ['calls an agent of 0.3', 'old', 'main', { message: 'task' }, /It rains.*rain/],
  ['tools of an MCP server', 'tool-box', undefined, {}, /count_words.*roll_dice.*divide/],
  ['calls an MCP server', 'tool-box', 'count_words', { text: 'one two three' }, /3 words/],
  ['structured content', 'tool-box', 'roll_dice', { dice: 3 }, /rolls.*sum/],
]

/** Steps that fail: clients throw, or print the error. */
const failures: Step[] = [
  ['an unknown agent', undefined, 'call_agent', { agent: 'no', message: 'hi' }, /no agent \W+no\b/],
  ['a failure of an MCP server', 'tool-box', 'divide', { dividend: 1, divisor: 0 }, /Cannot divide by 0/],
]

const checkCaller = async (client: string, run: RunClient): Promise<void> => {
  /** Runs a step, and returns the id of its task. */
  const runStep = async ([title, agent, tool, args, expected]: Step): Promise<string> => {
    const printed = await run(agent, ...(tool === undefined ? [] : [tool, JSON.stringify(args)]))
    check(`${client}: ${title}`, printed.replace(/\s+/g, ' '), expected)
    return /taskId: ([\w-]+)/.exec(printed)?.[1] ?? ''
  }
  const succeed = ([title, agent, tool, args, { source }]: Step): Promise<string> =>
    runStep([title, agent, tool, args, new RegExp(`^(?!failed).*${source}`)])
  const waitFor = async (agent: string): Promise<void> => {
    const taskId = await succeed([`${agent}: it still works`, agent, 'work', { message: 'go' }, /still runs/])
    const expected = new RegExp(`Done after ${SLOW_SECONDS} s`)
    await succeed([`${agent}: it is done`, agent, 'work', { taskId, message: '' }, expected])
  }
  const slow = Promise.all(['streams', 'polls'].map(waitFor))
  for (const step of steps) await succeed(step)
  const taskId = await succeed(['calls an agent that asks', 'echo', 'ask', { message: 'ask' }, /What shall I say/])
  await succeed(['answers it', 'echo', 'ask', { taskId, message: 'Blue' }, /"Blue/])
  for (const step of failures) await runStep(step)
  await slow
}

import { a2a } from 'a2a-ai-provider'
import { generateText, streamText } from 'ai'
import { findFreePort } from '../../test/support/free-ports.ts'
import { check, startServer } from '../../test/support/installed.ts'
import { callers } from './mcp-clients.ts'
import { installPrograms, runProgram, startHost } from './setup.ts'

type Expected = {
  packages: string[]
  card?: string
  /** What the host repairs in an answer, and in a failure. */
  repaired: Record<'answer' | 'failure', RegExp>
  /** What the AI SDK generates. */
  generated?: RegExp
  /** What AdCP gets, whose messages are data. */
  adcp?: RegExp
}

const acceptsTextOnly = /Unsupported input media type: application\/json\. This agent accepts text\./

/** The packages of each agent, whose program in `programs/` has its name, and what is expected of it. */
const agents: Record<string, Expected> = {
  voltagent: {
    packages: ['@voltagent/a2a-server@2.0.3', '@voltagent/core@2.9.2', 'ai@6.0.326', 'zod@3.25.76'],
    repaired: { answer: /^repaired \(kind\)/, failure: /^none/ },
    adcp: acceptsTextOnly,
  },
  mastra: {
    packages: ['@mastra/core@1.67.0', '@mastra/server@1.67.0', 'zod@4.6.7'],
    repaired: { answer: /^none/, failure: /^repaired \(stack-trace\)/ },
    adcp: acceptsTextOnly,
  },
  'reactive-agents': {
    packages: ['@reactive-agents/a2a@0.9.0', 'effect@3.22.4'],
    card: '.well-known/agent.json',
    repaired: { answer: /^repaired \(id\)/, failure: /^repaired \(message id\)/ },
  },
  'gemini-cli': {
    packages: ['@google/gemini-cli-a2a-server@0.25.2'],
    card: '.well-known/agent-card.json',
    repaired: { answer: /^none/, failure: /^none/ },
    // It answers in its history and in updates of the status, which the AI SDK does not read.
    generated: /^$/,
    adcp: acceptsTextOnly,
  },
}

/** The packages of each client. */
const clients: Record<string, string[]> = {
  adcp: ['@adcp/sdk@6.11.0', '@a2a-js/sdk@0.3.14', 'zod@3.25.76'],
  'ai-sdk': callers['ai-sdk'],
  'ag-ui': ['@ag-ui/a2a@0.0.6', '@ag-ui/client@1.0.0', '@ag-ui/core@1.0.0', '@a2a-js/sdk@0.2.5', 'zod@3.25.76'],
}

/** Registers each agent at a host, and calls it as clients of every version and the installed ones do. */
export const checkAgents = async (directory: string): Promise<void> => {
  const packages = Object.fromEntries(Object.entries(agents).map(([name, each]) => [name, each.packages]))
  const programs = await installPrograms(directory, { ...packages, ...clients })
  const names = Object.keys(agents)
  const urls = new Map(
    await Promise.all(names.map(async name => [name, `http://127.0.0.1:${await findFreePort()}/`] as const)),
  )
  await Promise.all([...urls].map(([name, url]) => startServer([programs[name] ?? ''], Number(new URL(url).port))))
  // The card of gemini-cli names localhost.
  const ALLOWED_ORIGINS = [...urls.values()]
    .flatMap(url => ['127.0.0.1', 'localhost'].map(name => `http://${name}:${new URL(url).port}`))
    .join(' ')
  const host = await startHost({ vars: { ALLOWED_ORIGINS } })

  /** Calls an agent, and returns what was repaired and the answer as one line. */
  const call = async (agent: string, method: string, params: object): Promise<{ warning: string; line: string }> => {
    const version = /^[A-Z]/.test(method) ? '1.0' : '0.3'
    const body = { jsonrpc: '2.0', id: 7, method, params }
    const response = await fetch(new URL(`/agents/${agent}/a2a`, host.url), {
      ...{ method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(60_000) },
      headers: { 'Content-Type': 'application/json', 'A2A-Version': version },
    })
    return {
      warning: response.headers.get('gate-warning') ?? 'none',
      line: (await response.text()).replaceAll('\n', ' '),
    }
  }

  const old = (text: string) => ({
    message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }] },
  })
  const today = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Does it rain?' }] } }

  /** Runs a call of the AI SDK's provider, which writes each event to the console. */
  const quietly = async (run: () => Promise<string>): Promise<string> => {
    const { log } = console
    console.log = () => undefined
    return run()
      .catch(error => `failed: ${error}`)
      .finally(() => Object.assign(console, { log }))
  }
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

  for (const [name, { card = '', repaired, generated = /It rains$/, adcp = /It rains/ }] of Object.entries(agents)) {
    const manifest = { route: 'gateway', upstream: { card: urls.get(name) + card } }
    await host.register(name, manifest)

    const sent = await call(name, 'message/send', old('Does it rain?'))
    check(`${name}: a message of 0.3`, sent.line, /^\{"jsonrpc":"2\.0","id":7,"result":\{.*It rains/)
    check(`${name}: what is repaired in it`, sent.warning, repaired.answer)
    const failed = await call(name, 'message/send', old('fail'))
    check(`${name}: a failure`, failed.line, /^(?!.*\.m?js:\d)/)
    check(`${name}: what is repaired in it`, failed.warning, repaired.failure)
    check(`${name}: an unknown task`, (await call(name, 'tasks/get', { id: 'none' })).line, /"error":\{"code":-32/)
    check(
      `${name}: a stream of 0.3`,
      (await call(name, 'message/stream', old('Does it rain?'))).line,
      /rains.*"state":"(completed|input-required)"|"state":"completed".*rains/,
    )
    check(`${name}: a message of 1.0`, (await call(name, 'SendMessage', today)).line, /"result":\{"task":\{.*It rains/)
    check(`${name}: a stream of 1.0`, (await call(name, 'SendStreamingMessage', today)).line, /TASK_STATE_.*rains/)

    const cardUrl = new URL(`/agents/${name}/.well-known/agent-card.json`, host.url).href
    const prompt = 'Does it rain?'
    const text = await quietly(async () => (await generateText({ model: a2a(cardUrl), prompt })).text)
    check(`${name}: the AI SDK generates a text`, text, generated)
    const streamed = await quietly(async () => {
      const { textStream } = streamText({ model: a2a(cardUrl), prompt, onError: () => undefined })
      return (await Array.fromAsync(textStream)).join('')
    })
    check(`${name}: the AI SDK streams a text`, streamed, generated)
    const base = new URL(`/agents/${name}/`, host.url).href
    const runClient = (client: string) => runProgram(programs[client] ?? '', [base])
    check(`${name}: AdCP`, await runClient('adcp'), adcp)
    const mcpCall = JSON.stringify({ agent: name, message: prompt })
    const overMcp = await runProgram(programs['ai-sdk'] ?? '', [new URL('/mcp', host.url).href, 'call_agent', mcpCall])
    check(`${name}: the AI SDK over MCP`, overMcp, /It rains/)
    check(`${name}: AG-UI`, await runClient('ag-ui'), /RUN_STARTED.*rains.*RUN_FINISHED/s)
  }

  await host.close()
}

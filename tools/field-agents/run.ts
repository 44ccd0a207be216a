import { execFile } from 'node:child_process'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { a2a } from 'a2a-ai-provider'
import { generateText, streamText } from 'ai'
import { findFreePort } from '../../test/support/free-ports.ts'
import { readHostConfig } from '../../test/support/global-setup.ts'
import { check, createTemporaryFolder, installPackages, startServer } from '../../test/support/installed.ts'
import { main, startHostRuntime, token } from '../../test/support/runtime.ts'

const USAGE = `Usage: npm run field, after npm run build

Installs agents and clients of frameworks from npm into a temporary folder, registers each agent at a host, and calls it as clients of
every version and the installed ones do. Prints the answers, and exits with 1 if one is not as expected. Needs the network, and
a gigabyte of disk.`

if (process.argv.length > 2 || !existsSync('out/index.js')) {
  console.error(USAGE)
  process.exit(process.argv[2] === '--help' ? 0 : 2)
}

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
  'ag-ui': ['@ag-ui/a2a@0.0.6', '@ag-ui/client@1.0.0', '@ag-ui/core@1.0.0', '@a2a-js/sdk@0.2.5', 'zod@3.25.76'],
}

const directory = createTemporaryFolder('field')
const programOf = (name: string): string => join(directory, name, `${name}.mjs`)
const allPackages = [
  ...Object.entries(agents).map(([name, { packages }]) => [name, packages] as const),
  ...Object.entries(clients),
]
await Promise.all(
  allPackages.map(async ([name, packages]) => {
    await installPackages(join(directory, name), packages)
    copyFileSync(join(import.meta.dirname, 'programs', `${name}.mjs`), programOf(name))
  }),
)

const names = Object.keys(agents)
const urls = new Map(
  await Promise.all(names.map(async name => [name, `http://127.0.0.1:${await findFreePort()}/`] as const)),
)
await Promise.all([...urls].map(([name, url]) => startServer([programOf(name)], Number(new URL(url).port))))
// The card of gemini-cli names localhost.
const ALLOWED_ORIGINS = [...urls.values()]
  .flatMap(url => ['127.0.0.1', 'localhost'].map(name => `http://${name}:${new URL(url).port}`))
  .join(' ')
const rateLimits = Object.fromEntries(Object.keys(readHostConfig().rateLimits).map(name => [name, 1e9]))
const host = await startHostRuntime(readHostConfig(), { [main]: { vars: { ALLOWED_ORIGINS }, rateLimits } })
const hostUrl = host.urls[main]

const post = (path: string, body: object, headers: Record<string, string> = {}, method = 'POST'): Promise<Response> =>
  fetch(new URL(path, hostUrl), {
    ...{ method, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) },
    signal: AbortSignal.timeout(60_000),
  })

/** Calls an agent, and returns what was repaired and the answer as one line. */
const call = async (agent: string, method: string, params: object): Promise<{ warning: string; line: string }> => {
  const version = /^[A-Z]/.test(method) ? '1.0' : '0.3'
  const body = { jsonrpc: '2.0', id: 7, method, params }
  const response = await post(`/agents/${agent}/a2a`, body, { 'A2A-Version': version })
  return {
    warning: response.headers.get('gate-warning') ?? 'none',
    line: (await response.text()).replaceAll('\n', ' '),
  }
}

const old = (text: string) => ({
  message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }] },
})
const today = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Does it rain?' }] } }

/** Runs a client, and returns what it prints. */
const run = (client: string, url: URL): Promise<string> =>
  promisify(execFile)(process.execPath, [programOf(client), url.href], { timeout: 60_000 }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => `failed: ${stdout} ${stderr}`,
  )

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
  const registered = await post(`/agents/${name}`, manifest, { Authorization: `Bearer ${token}` }, 'PUT')
  check(`${name} is registered`, `${registered.status} ${await registered.text()}`, /^201/)

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

  const cardUrl = new URL(`/agents/${name}/.well-known/agent-card.json`, hostUrl).href
  const prompt = 'Does it rain?'
  const text = await quietly(async () => (await generateText({ model: a2a(cardUrl), prompt })).text)
  check(`${name}: the AI SDK generates a text`, text, generated)
  const streamed = await quietly(async () => {
    const { textStream } = streamText({ model: a2a(cardUrl), prompt, onError: () => undefined })
    return (await Array.fromAsync(textStream)).join('')
  })
  check(`${name}: the AI SDK streams a text`, streamed, generated)
  const base = new URL(`/agents/${name}/`, hostUrl)
  check(`${name}: AdCP`, await run('adcp', base), adcp)
  check(`${name}: AG-UI`, await run('ag-ui', base), /RUN_STARTED.*rains.*RUN_FINISHED/s)
}

await host.close()
process.exit()

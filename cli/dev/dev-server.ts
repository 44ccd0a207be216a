import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { devNull } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { omit } from '../../src/json/index.ts'
import { keySecrets } from '../../src/variables.ts'
import { blockedPortMessage, isBlockedPort } from '../client/index.ts'
import { type Context, type Environment, poll, readEnvFile } from '../context.ts'
import { withLocalBin } from '../deploy/index.ts'
import { isSystemError } from '../errors.ts'
import { replaceFile } from '../manifests/index.ts'
import type { SupervisorMessage } from './supervisor.ts'

const LOCAL_SECRETS_FILE = '.dev.vars'

/** The Workers behind samples, by the bindings that those name. `npm start` runs them beside the host. */
export const EXAMPLE_WORKERS = [
  { binding: 'ECHO', service: 'calling-card-example-echo', config: 'examples/echo-agent/wrangler.toml' },
  { binding: 'TOOLS', service: 'calling-card-example-mcp', config: 'examples/mcp-server/wrangler.toml' },
] as const

/** Returns the folder for what is registered; undefined if the arguments of `npm start` are wrong. */
export const parseStateFolder = (args: string[], cwd: string): string | undefined => {
  const { values, positionals } = parseArgs({ args, strict: false, options: { state: { type: 'string' } } })
  const { state = join('.wrangler', 'state'), ...unknown } = values
  if (Object.keys(unknown).length > 0 || positionals.length > 0) return undefined
  return typeof state === 'string' && state !== '' ? resolve(cwd, state) : undefined
}

/** The secrets that each start has. Those of production in `.dev.vars` must not sign cards of this machine. */
const START_SECRETS = ['ADMIN_TOKEN', 'LOCAL_ORIGINS', 'SIGNING_KEY'] as const
type Secrets = Record<(typeof START_SECRETS)[number], string>

/** Returns the admin token that the owner has chosen for this machine. Never that of a deployment's `.env`. */
export const readChosenToken = (cwd: string, processEnv: Environment): string | undefined =>
  processEnv.ADMIN_TOKEN || readEnvFile(cwd, LOCAL_SECRETS_FILE).ADMIN_TOKEN

/**
 * Writes the configuration of `wrangler dev`: that of deployments, with bindings to the example Workers and the names
 * of secrets. `file` is beside `wrangler.toml`, for its relative paths. Returns all configurations, the host's first.
 */
export const writeDevConfig = (cwd: string, file: string): string[] => {
  const examples = EXAMPLE_WORKERS.filter(({ config }) => existsSync(join(cwd, config)))
  const text = readFileSync(join(cwd, 'wrangler.toml'), 'utf8')
  // An owner who has deployed an example has bound it.
  const unbound = examples.filter(({ binding }) => !new RegExp(`\\bbinding\\s*=\\s*["']${binding}["']`).test(text))
  // wrangler gives variables the values of `.dev.vars` by itself, and rejects a secret with the name of one.
  const [, vars = ''] = text.split(/^\[vars\]/m)
  const unlisted: string[] = [...keySecrets, ...(vars.split(/^\[/m, 1)[0]?.match(/^\w+/gm) ?? [])]
  const own = Object.keys(readEnvFile(cwd, LOCAL_SECRETS_FILE)).filter(name => !unlisted.includes(name))
  const table = `[secrets]\nrequired = ${JSON.stringify([...new Set([...START_SECRETS, ...own])])}\n`
  const bindings = unbound.map(each => `[[services]]\nbinding = "${each.binding}"\nservice = "${each.service}"\n`)
  replaceFile(file, [text, ...bindings, table].join('\n'), cwd)
  return [file, ...examples.map(({ config }) => config)]
}

/** The time that the runtime may take until it responds, at first and again after it has ended. */
const START_TIMEOUT_MS = 60_000
const RESTART_TIMEOUT_MS = 2000

const STOP_TIMEOUT_MS = 5000

const WORKER_VARIABLES = ['ALLOWED_ORIGINS', 'ROOT_AGENT', 'PUBLIC_URL', 'WEBHOOK_URL']

/** Returns why a host cannot listen on a port of this machine; undefined if it can. */
export const checkPort = async (url: string, port: string, fetch: Context['fetch']): Promise<string | undefined> => {
  const number = Number(port)
  if (!Number.isInteger(number) || number < 1 || number > 65_535) return `PORT is "${port}", which is not a port.`
  if (!(await isPortFree(number)))
    return `Port ${port} is in use. Stop what runs there, or choose another: PORT=8788 npm start`
  // Nothing listens there yet, so every other error is expected.
  return (await fetch(url).then(() => false, isBlockedPort)) ? `${blockedPortMessage(url)}.` : undefined
}

const isPortFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch (error) {
    // In use, or reserved for other users.
    if (isSystemError(error)) return false
    throw error
  } finally {
    server.close()
  }
}

/** Starts a process that waits for `runWrangler`. It has the secrets in its environment, which no other user reads. */
export const startServer = (state: string, secrets: Secrets, { env, cwd }: Context): ChildProcess =>
  spawn(process.execPath, [join(import.meta.dirname, 'supervisor.ts')], {
    cwd,
    // Makes a process group, so that all of it can be ended.
    detached: true,
    stdio: ['ignore', env.VERBOSE ? 'inherit' : 'ignore', 'inherit', 'ipc'],
    env: withLocalBin(
      {
        ...process.env,
        // For the Worker, wrangler prefers its environment: a variable of the shell may be for another purpose.
        ...omit(readEnvFile(cwd, LOCAL_SECRETS_FILE), ...WORKER_VARIABLES),
        ...secrets,
        WRANGLER_SEND_METRICS: 'false',
        // The explorer would let the page of any server on this machine read and write the host's storage.
        X_LOCAL_EXPLORER: 'false',
        // By default, all wranglers of this user find each other's Workers by name.
        WRANGLER_REGISTRY_PATH: join(state, 'registry'),
      },
      cwd,
    ),
  })

/** Runs `wrangler dev`. All flags apply to the first configuration, the host. A killed process leaves no `files`. */
export const runWrangler = (
  server: ChildProcess,
  { state, port, configs, files }: { state: string; port: string; configs: readonly string[]; files: string[] },
  { env, cwd }: Context,
): void => {
  const args = [
    ...['dev', ...configs.flatMap(file => ['-c', file]), '--persist-to', state],
    ...['--ip', '127.0.0.1', '--port', port, '--inspector-port', '0', '--inspector-ip', inspectorAddress()],
    ...['--log-level', env.VERBOSE ? 'info' : 'error', '--show-interactive-dev-session=false'],
    ...WORKER_VARIABLES.flatMap(name => (env[name] ? ['--var', `${name}:${env[name]}`] : [])),
    // Without a named file, wrangler would read .env, which is of a deployment, or only .dev.vars and no environment.
    ...['--env-file', existsSync(join(cwd, LOCAL_SECRETS_FILE)) ? LOCAL_SECRETS_FILE : devNull],
  ]
  server.send({ args, files } satisfies SupervisorMessage)
}

/** Returns a random loopback address for the debugger: any page could command it. macOS has only one address. */
const inspectorAddress = (): string =>
  process.platform === 'darwin' ? '127.0.0.1' : [127, ...Array.from({ length: 3 }, () => randomInt(1, 255))].join('.')

/** Waits until the server responds. Returns false if it ends first, or takes too long. */
export const waitUntilResponding = async (
  url: string,
  server: ChildProcess,
  { fetch, clock }: Context,
  timeoutMs = START_TIMEOUT_MS,
): Promise<boolean> => {
  const isResponding = () =>
    fetch(url, { signal: AbortSignal.timeout(5000) }).then(
      response => response.body?.cancel().then(() => true) ?? true,
      () => false,
    )
  const check = async () => hasEnded(server) || (await isResponding())
  return (await poll(check, { clock, timeoutMs, pauseMs: 100 })) && !hasEnded(server)
}

/** Waits until nothing responds any more: wrangler survives its runtime, and starts another, which may not work. */
export const waitUntilSilent = async (url: string, server: ChildProcess, context: Context): Promise<void> => {
  const { port, hostname } = new URL(url)
  // An idle connection shows the end of the runtime at once, without requests in its log; so does a refused one.
  do await once(connect(Number(port), hostname).unref().resume(), 'close').catch(() => {})
  while (!hasEnded(server) && (await waitUntilResponding(url, server, context, RESTART_TIMEOUT_MS)))
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** Ends a child that was spawned `detached`, with all that it started: workerd would keep the port. Waits for that. */
export const stopGroup = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined) return
  const ended = hasEnded(child) ? Promise.resolve() : once(child, 'exit')
  signalGroup(child.pid, 'SIGTERM')
  await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })])
  signalGroup(child.pid, 'SIGKILL')
  await ended
}

const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // The group has ended already; macOS reports EPERM for processes that have ended and were not waited for.
    if (!isSystemError(error) || (error.code !== 'ESRCH' && error.code !== 'EPERM')) throw error
  }
}

/** Calls `stop` once the npm that started this process is gone: a killed npm sends no signal, and keeps the port. */
export const exitWithParent = (stop: () => void): void => {
  // A process that npm did not start may outlive its parent, as with nohup.
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 500).unref()
}

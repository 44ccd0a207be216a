import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { devNull } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { omit } from '../../src/json/index.ts'
import { MIN_ADMIN_TOKEN_LENGTH } from '../../src/limits.ts'
import { keySecrets } from '../../src/variables.ts'
import { blockedPortMessage, isBlockedPort } from '../client/index.ts'
import { type Context, type Environment, poll, readEnvFile } from '../context.ts'
import { withLocalBin } from '../deploy/index.ts'
import { ExitCode, isSystemError } from '../errors.ts'
import { claimFile, localUrl, startedFile } from '../hosts/index.ts'
import { replaceFile } from '../manifests/index.ts'
import { createSigningKey } from '../signing-key.ts'
import { welcome } from './welcome.ts'

/** The exit code of a host that did not start, or has ended by itself. */
const FAILED = 1

/** Runs a host on this machine with the cards of this clone, until it ends or is stopped. Returns the exit code. */
export const start = async (args: string[], context: Context): Promise<number> => {
  const { cwd, env, terminal } = context
  const state = parseStateFolder(args, cwd)
  if (state === undefined) {
    terminal.error('Its only option is the folder for what is registered: npm start -- --state DIR')
    return ExitCode.usage
  }
  const chosen = readChosenToken(cwd, process.env)
  if (chosen !== undefined && chosen.length < MIN_ADMIN_TOKEN_LENGTH) {
    terminal.error(
      `ADMIN_TOKEN in the environment or .dev.vars must be at least ${MIN_ADMIN_TOKEN_LENGTH} characters. ` +
        'Remove it to have a random one for each start.',
    )
    return FAILED
  }
  const url = localUrl(env)
  const port = env.PORT ?? new URL(url).port
  const token = chosen ?? randomBytes(32).toString('hex')
  // In a shell of this clone, it reads the token, which is not displayed if the owner has chosen it.
  const shellToken = chosen === undefined ? token : `"$(node -p 'require("./${startedFile(port)}").token')"`
  const files: string[] = []
  try {
    return await serve({ state, url, port, token, shellToken, files }, context)
  } finally {
    for (const file of files) rmSync(file, { force: true })
  }
}

/** A host of this machine. `shellToken` is how a shell gets its admin token, and `files` are those that end with it. */
type DevHost = { state: string; url: string; port: string; token: string; shellToken: string; files: string[] }

const serve = async (host: DevHost, context: Context): Promise<number> => {
  const { state, url, port, token, shellToken, files } = host
  const { cwd, env, fetch, terminal } = context
  const problem =
    reserve(join(state, 'npm-start.json'), host) ??
    (await checkPort(url, port, fetch)) ??
    reserve(join(cwd, startedFile(port)), host, token)
  if (problem !== undefined) {
    terminal.error(problem)
    return FAILED
  }
  const config = `.wrangler-start-${port}.toml`
  files.push(join(cwd, config))
  const origins = [url, url.replace('127.0.0.1', 'localhost'), env.LOCAL_ORIGINS].join(' ').trim()
  // The signing key is for this run only.
  const secrets = { ADMIN_TOKEN: token, LOCAL_ORIGINS: origins, SIGNING_KEY: JSON.stringify(createSigningKey()) }
  const server = startWrangler(host, writeDevConfig(cwd, config), secrets, context)
  const ended = new Promise(resolve => server.once('exit', resolve).once('error', resolve))
  let isStopping = false
  const stop = (): void => {
    isStopping = true
    void stopGroup(server)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  exitWithParent(stop)
  try {
    const isResponding = await waitUntilResponding(`${url}/agents`, server, context)
    if (isResponding) {
      await welcome({ url, token, shellToken, state: relative(cwd, state) }, context)
      await Promise.race([ended, waitUntilSilent(`${url}/agents`, server, context)])
    }
    if (isStopping) return ExitCode.ok
    const reason = isResponding ? 'has ended, or its runtime has' : 'did not start'
    terminal.error(`wrangler dev ${reason}; VERBOSE=1 npm start shows its log.`)
    return FAILED
  } finally {
    await stopGroup(server)
  }
}

/** Reserves a file for a host. Returns undefined, or why that is not possible. */
const reserve = (file: string, { url, files }: DevHost, token?: string): string | undefined => {
  try {
    const other = claimFile(file, { pid: process.pid, url, token })
    if (other !== undefined) {
      const next = Number(new URL(other.url).port) + 1
      return (
        `A host runs here already: ${other.url} (process ${other.pid}). Use that one, or stop it. ` +
        `To start another one with a state of its own: PORT=${next} npm start -- --state .wrangler/${next}`
      )
    }
    files.push(file)
  } catch (error) {
    if (isSystemError(error)) return `What is registered cannot be kept here: ${error.message}.`
    throw error
  }
}

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

/**
 * Runs `wrangler dev` in a process group with a supervisor. All flags apply to the first configuration, the host. It
 * has the secrets in its environment, which no other user reads. If this process is killed, `files` are deleted.
 */
const startWrangler = (host: DevHost, configs: readonly string[], secrets: Secrets, { env, cwd }: Context) => {
  const { state, port, files } = host
  const args = [
    ...['dev', ...configs.flatMap(file => ['-c', file]), '--persist-to', state],
    ...['--ip', '127.0.0.1', '--port', port, '--inspector-port', '0', '--inspector-ip', inspectorAddress()],
    ...['--log-level', env.VERBOSE ? 'info' : 'error', '--show-interactive-dev-session=false'],
    ...WORKER_VARIABLES.flatMap(name => (env[name] ? ['--var', `${name}:${env[name]}`] : [])),
    // Without a named file, wrangler would read .env, which is of a deployment, or only .dev.vars and no environment.
    ...['--env-file', existsSync(join(cwd, LOCAL_SECRETS_FILE)) ? LOCAL_SECRETS_FILE : devNull],
  ]
  const variables = {
    ...process.env,
    // For the Worker, wrangler prefers its environment: a variable of the shell may be for another purpose.
    ...omit(readEnvFile(cwd, LOCAL_SECRETS_FILE), ...WORKER_VARIABLES),
    ...secrets,
    WRANGLER_SEND_METRICS: 'false',
    // The explorer would let the page of any server on this machine read and write the host's storage.
    X_LOCAL_EXPLORER: 'false',
    // The traces that wrangler stores have the URLs and log lines of all requests, and are never deleted.
    X_LOCAL_OBSERVABILITY: 'false',
    // By default, all wranglers of this user find each other's Workers by name.
    WRANGLER_REGISTRY_PATH: join(state, 'registry'),
  }
  return spawn(process.execPath, [join(import.meta.dirname, 'supervisor.ts'), JSON.stringify({ args, files })], {
    cwd,
    // Makes a process group, so that all of it can be ended.
    detached: true,
    stdio: ['ignore', env.VERBOSE ? 'inherit' : 'ignore', 'inherit', 'ipc'],
    env: withLocalBin(variables, cwd),
  })
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
const waitUntilSilent = async (url: string, server: ChildProcess, context: Context): Promise<void> => {
  const { port, hostname } = new URL(url)
  // An idle connection shows the end of the runtime at once, without requests in its log; so does a refused one.
  do await once(connect(Number(port), hostname).unref().resume(), 'close').catch(() => {})
  while (!hasEnded(server) && (await waitUntilResponding(url, server, context, RESTART_TIMEOUT_MS)))
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** Ends a child that was spawned `detached`, with all that it started: workerd would keep the port. Waits for that. */
const stopGroup = async (child: ChildProcess): Promise<void> => {
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
const exitWithParent = (stop: () => void): void => {
  // A process that npm did not start may outlive its parent, as with nohup.
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 500).unref()
}

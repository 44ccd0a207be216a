import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { MIN_ADMIN_TOKEN_LENGTH } from '../src/limits.ts'
import { createContext, processIo } from './context.ts'
import {
  checkPort,
  exitWithParent,
  parseStateFolder,
  readChosenToken,
  runWrangler,
  startServer,
  stopGroup,
  waitUntilResponding,
  waitUntilSilent,
  welcome,
  writeDevConfig,
} from './dev/index.ts'
import { ExitCode, isSystemError } from './errors.ts'
import { exitOnFailure } from './failure.ts'
import { claimFile, localUrl, startedFile } from './hosts/index.ts'
import { createSigningKey } from './signing-key.ts'

exitOnFailure('npm start')
const context = createContext(processIo(), 'npm start')
const { cwd, env, fetch } = context
const url = localUrl(env)
const port = env.PORT ?? new URL(url).port

/** Reads the token in a shell of this clone, if the owner has chosen it: it is not displayed then. */
const TOKEN_COMMAND = `"$(node -p 'require("./${startedFile(port)}").token')"`

const fail = (message: string, exitCode = 1): void => {
  context.terminal.error(message)
  process.exitCode = exitCode
}

/** The files that end with this host. */
const files: string[] = []

/** Reserves a file for this host. Returns undefined, or why that is not possible. */
const reserve = (file: string, pid: number, token?: string): string | undefined => {
  try {
    const other = claimFile(file, { pid, url, token })
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

const serve = async (state: string, server: ChildProcess, token: string, shellToken: string): Promise<void> => {
  const ended = new Promise(resolve => server.once('exit', resolve).once('error', resolve))
  let isStopping = false
  const stop = (): void => {
    isStopping = true
    void stopGroup(server)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  exitWithParent(stop)
  const { pid = 0 } = server
  const problem =
    reserve(join(state, 'npm-start.json'), pid) ??
    (await checkPort(url, port, fetch)) ??
    reserve(join(cwd, startedFile(port)), pid, token)
  if (problem !== undefined) return fail(problem)
  const config = `.wrangler-start-${port}.toml`
  files.push(join(cwd, config))
  runWrangler(server, { state, port, configs: writeDevConfig(cwd, config), files }, context)
  const isResponding = await waitUntilResponding(`${url}/agents`, server, context)
  if (isResponding) {
    await welcome({ url, token }, { shellToken, state: relative(cwd, state) }, context)
    await Promise.race([ended, waitUntilSilent(`${url}/agents`, server, context)])
  }
  const reason = isResponding ? 'has ended, or its runtime has' : 'did not start'
  if (!isStopping) fail(`wrangler dev ${reason}; VERBOSE=1 npm start shows its log.`)
}

const start = async (state: string): Promise<void> => {
  const chosen = readChosenToken(cwd, process.env)
  if (chosen !== undefined && chosen.length < MIN_ADMIN_TOKEN_LENGTH)
    return fail(
      `ADMIN_TOKEN in the environment or .dev.vars must be at least ${MIN_ADMIN_TOKEN_LENGTH} characters. ` +
        'Remove it to have a random one for each start.',
    )
  const token = chosen ?? randomBytes(32).toString('hex')
  const origins = [url, url.replace('127.0.0.1', 'localhost'), env.LOCAL_ORIGINS].join(' ').trim()
  // The signing key is for this run only.
  const secrets = { ADMIN_TOKEN: token, LOCAL_ORIGINS: origins, SIGNING_KEY: JSON.stringify(createSigningKey()) }
  const server = startServer(state, secrets, context)
  try {
    await serve(state, server, token, chosen === undefined ? token : TOKEN_COMMAND)
  } finally {
    await stopGroup(server)
    for (const file of files) rmSync(file, { force: true })
  }
}

const state = parseStateFolder(process.argv.slice(2), cwd)
if (state === undefined)
  fail('Its only option is the folder for what is registered: npm start -- --state DIR', ExitCode.usage)
else await start(state)

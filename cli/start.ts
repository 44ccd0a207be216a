import { MIN_ADMIN_TOKEN_LENGTH } from '../src/limits.ts'
import { createContext, processIo } from './context.ts'
import { readLocalToken, writeDevConfig } from './dev/dev-config.ts'
import {
  checkPort,
  exitWithParent,
  killGroup,
  startDevServer,
  stopGroup,
  waitUntilResponding,
  waitUntilSilent,
} from './dev/dev-server.ts'
import { welcome } from './dev/welcome.ts'
import { exitOnFailure } from './failure.ts'
import { localUrl } from './hosts/index.ts'
import { createSigningKey } from './keys/index.ts'

exitOnFailure('npm start')
const context = createContext(processIo(), 'npm start')
const { cwd, env, fetch } = context
const url = localUrl(env)
const port = env.PORT ?? new URL(url).port

const SHORT_TOKEN =
  `ADMIN_TOKEN in the environment or .dev.vars must be at least ${MIN_ADMIN_TOKEN_LENGTH} characters. ` +
  'Remove it to have a random one for each start.'

const fail = (message: string): void => {
  context.terminal.error(message)
  process.exitCode = 1
}

const serve = async (): Promise<void> => {
  const { token, shell } = readLocalToken(cwd, process.env)
  if (token.length < MIN_ADMIN_TOKEN_LENGTH) return fail(SHORT_TOKEN)
  // The keys are for this run only. Those of production in .dev.vars must not sign cards of this machine.
  const secrets = {
    ADMIN_TOKEN: token,
    LOCAL_ORIGINS: [url, url.replace('127.0.0.1', 'localhost'), env.LOCAL_ORIGINS].join(' ').trim(),
    SIGNING_KEY: JSON.stringify(createSigningKey()),
    SIGNING_KEY_2: '',
  }
  const config = writeDevConfig(cwd, port, secrets)
  const server = startDevServer(port, config, context)
  // However this process ends, even by an unexpected error, it leaves no runtime behind that keeps the port.
  process.on('exit', () => {
    killGroup(server)
    config.remove()
  })
  const ended = new Promise<void>(resolve => {
    server.once('exit', () => resolve())
    server.once('error', () => resolve())
  })
  let isStopping = false
  const stop = (): void => {
    isStopping = true
    void stopGroup(server)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  exitWithParent(stop)
  const isResponding = await waitUntilResponding(`${url}/agents`, server, context)
  if (isResponding) {
    await welcome({ url, token }, shell, context)
    await Promise.race([ended, waitUntilSilent(`${url}/agents`, server, context)])
    if (!isStopping) fail('wrangler dev has ended, or its runtime has; VERBOSE=1 npm start shows its log.')
  } else if (!isStopping) {
    fail('wrangler dev did not start; VERBOSE=1 npm start shows its log.')
  }
  await stopGroup(server)
}

const problem = await checkPort(url, port, fetch)
if (problem === undefined) await serve()
else fail(problem)

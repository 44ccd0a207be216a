import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../environment.ts'
import { withLocalTools } from '../local-tools.ts'
import { exampleWorkers } from './example-workers.ts'

/** Longest that the runtime may take to answer, in milliseconds. */
const patience = 60_000

/** What of the environment is handed to the Worker as its variables. */
const passedThrough = ['ALLOWED_ORIGINS', 'ROOT_AGENT', 'PUBLIC_URL']

/** Starts `wrangler dev`, quiet but for errors unless `VERBOSE` is set. The admin token goes by the environment: flags show in ps. */
export const startDevServer = (port: number, adminToken: string, environment: Environment): ChildProcess => {
  const variables = passedThrough.flatMap(name => (environment[name] ? ['--var', `${name}:${environment[name]}`] : []))
  // Named, because wrangler reads the environment beside the files that it is given, but not beside .dev.vars found by itself.
  const files = ['.dev.vars', '.env'].filter(file => existsSync(file)).flatMap(file => ['--env-file', file])
  const examples = exampleWorkers()
  // The first is the host, to which the flags apply; named only where there are others.
  const workers = examples.length === 0 ? [] : ['wrangler.toml', ...examples]
  return spawn(
    'wrangler',
    [
      ...['dev', ...workers.flatMap(config => ['-c', config])],
      ...['--ip', '127.0.0.1', '--port', String(port), '--inspector-port', '0'],
      ...['--log-level', environment.VERBOSE ? 'info' : 'error', '--show-interactive-dev-session=false'],
      ...variables,
      ...files,
    ],
    {
      // A group of its own, so that all of it can be ended.
      detached: true,
      stdio: ['ignore', environment.VERBOSE ? 'inherit' : 'ignore', 'inherit'],
      env: { ...withLocalTools(process.env), ADMIN_TOKEN: adminToken, WRANGLER_SEND_METRICS: 'false' },
    },
  )
}

/** Waits until the server answers; false where it ends before, or takes too long. */
export const untilAnswering = async (url: string, server: ChildProcess): Promise<boolean> => {
  let gone = false
  server.once('exit', () => {
    gone = true
  })
  server.once('error', () => {
    gone = true
  })
  for (const deadline = Date.now() + patience; !gone && Date.now() < deadline; await sleep(100))
    if (await answers(url)) return true
  return false
}

const answers = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}

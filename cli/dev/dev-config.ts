import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { keySecrets } from '../../src/variables.ts'
import { type Environment, readEnvFile } from '../context.ts'
import { replaceFile } from '../manifests/index.ts'

/** The secrets of the Worker on this machine, as wrangler reads them. */
export const LOCAL_SECRETS_FILE = '.dev.vars'

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

/** The value of each secret that a start has. */
export type StartSecrets = Record<(typeof START_SECRETS)[number], string>

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

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, readEnvFile } from '../context.ts'
import { localSecretsFile } from '../hosts/index.ts'
import { EXAMPLE_WORKERS } from './samples.ts'

/** The secrets of the Worker on this machine, as wrangler reads them. */
const LOCAL_SECRETS_FILE = '.dev.vars'

/** An admin token, and how a shell reads it: without showing it, unless it is new. */
export type LocalToken = { token: string; shell: string }

/**
 * Returns the admin token of a host on this machine: that of the process, of `.dev.vars`, or a random one. Never that
 * of a deployment's `.env`.
 */
export const readLocalToken = (cwd: string, processEnv: Environment): LocalToken => {
  if (processEnv.ADMIN_TOKEN) return { token: processEnv.ADMIN_TOKEN, shell: '"$ADMIN_TOKEN"' }
  const token = readEnvFile(cwd, LOCAL_SECRETS_FILE).ADMIN_TOKEN
  if (token !== undefined)
    return { token, shell: `"$(node --env-file=${LOCAL_SECRETS_FILE} -p process.env.ADMIN_TOKEN)"` }
  const random = randomBytes(32).toString('hex')
  return { token: random, shell: random }
}

/** What `wrangler dev` is started with: configurations, the host's first, and files with secrets. */
export type DevConfig = { configs: string[]; envFiles: string[]; remove: () => void }

/**
 * Writes what `wrangler dev` needs beyond `wrangler.toml`, which is for deployments: bindings to the example Workers, and `secrets`. A
 * file for secrets keeps them out of the process list. Relative paths in `wrangler.toml` start from its folder, so the copy is in the
 * same one. `port` lets several hosts run at once. `remove` deletes the files.
 */
export const writeDevConfig = (cwd: string, port: string, secrets: Readonly<Record<string, string>>): DevConfig => {
  const examples = EXAMPLE_WORKERS.filter(({ config }) => existsSync(join(cwd, config)))
  const config = `.wrangler-start-${port}.toml`
  const secretsFile = localSecretsFile(port)
  mkdirSync(join(cwd, '.wrangler'), { recursive: true })
  rmSync(join(cwd, secretsFile), { force: true })
  writeFileSync(join(cwd, secretsFile), toEnvFile(secrets), { mode: 0o600 })
  if (examples.length > 0) {
    const text = readFileSync(join(cwd, 'wrangler.toml'), 'utf8')
    // An owner who has deployed an example has bound it.
    const unbound = examples.filter(({ binding }) => !new RegExp(`\\bbinding\\s*=\\s*["']${binding}["']`).test(text))
    writeFileSync(join(cwd, config), [text, ...unbound.map(toServiceBinding)].join('\n'))
  }
  return {
    configs: examples.length === 0 ? [] : [config, ...examples.map(({ config }) => config)],
    // Later files win. wrangler reads .dev.vars by itself only if no file is named.
    envFiles: [...(existsSync(join(cwd, LOCAL_SECRETS_FILE)) ? [LOCAL_SECRETS_FILE] : []), secretsFile],
    remove: () => {
      for (const file of [config, secretsFile]) rmSync(join(cwd, file), { force: true })
    },
  }
}

const toServiceBinding = ({ binding, service }: (typeof EXAMPLE_WORKERS)[number]): string =>
  `[[services]]\nbinding = "${binding}"\nservice = "${service}"\n`

/** Formats variables for wrangler, which replaces `$NAME` in each value unless the dollar sign is escaped. */
const toEnvFile = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => {
      const quote = ["'", '"', '`'].find(each => !value.includes(each)) ?? ''
      return `${name}=${quote}${value.replaceAll('$', '\\$')}${quote}\n`
    })
    .join('')

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import type { Environment } from '../config.ts'
import { UsageError } from '../exit-codes.ts'
import { isSystemError } from '../manifests/index.ts'

/** How `wrangler deploy` ended, and what it wrote to its output file. */
export type WranglerResult = { exitCode: number; output: string }

/** Runs `wrangler deploy`. `secrets` reach it in a file that only this user can read and that is deleted afterwards. */
export type RunWrangler = (
  args: readonly string[],
  secrets?: Readonly<Record<string, string>>,
) => Promise<WranglerResult>

/** Returns a function that runs `wrangler deploy` in a folder, with its output on this terminal. */
export const createWrangler =
  (cwd: string, env: Environment): RunWrangler =>
  async (args, secrets) => {
    const folder = mkdtempSync(join(tmpdir(), 'calling-card-'))
    const file = join(folder, 'secrets.json')
    const output = join(folder, 'output.ndjson')
    try {
      if (secrets) writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 })
      const wrangler = spawn('wrangler', ['deploy', ...(secrets ? ['--secrets-file', file] : []), ...args], {
        cwd,
        stdio: 'inherit',
        env: withLocalBin({ ...env, WRANGLER_OUTPUT_FILE_PATH: output }, cwd),
      })
      const [exitCode] = (await once(wrangler, 'exit')) as [number | null]
      return { exitCode: exitCode ?? 1, output: existsSync(output) ? readFileSync(output, 'utf8') : '' }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

/**
 * Stores a secret of the Worker with `wrangler secret put`, and returns its exit code. The value goes through stdin, because ps shows
 * arguments.
 */
export const putSecret = async (
  name: string,
  value: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Environment },
): Promise<number> => {
  const wrangler = spawn('wrangler', ['secret', 'put', name, ...args], {
    cwd,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: withLocalBin(env, cwd),
  })
  // If wrangler ends without reading the value, its exit code says so.
  wrangler.stdin.on('error', () => {}).end(value)
  try {
    const [exitCode] = (await once(wrangler, 'exit')) as [number | null]
    return exitCode ?? 1
  } catch (error) {
    if (isSystemError(error)) throw new UsageError(`wrangler cannot be run (${error.message}): run npm ci first.`)
    throw error
  }
}

/** Adds the commands of this project to the end of PATH. npm does so too, but a shell may not. */
export const withLocalBin = (env: Environment, cwd: string): NodeJS.ProcessEnv => {
  const path = [env.PATH, join(cwd, 'node_modules', '.bin')].filter(Boolean).join(delimiter)
  // The Worker's variables are declared as if every process had them.
  return { ...env, PATH: path } as unknown as NodeJS.ProcessEnv
}

const DeployEntry = v.looseObject({ type: v.literal('deploy'), targets: v.nullish(v.array(v.string()), []) })

/** Returns the URL of a deployment from wrangler's output file. */
export const parseDeployedUrl = (output: string): string | undefined => {
  const deployment = output
    .split('\n')
    .map(line => v.safeParse(DeployEntry, parseLine(line)))
    .findLast(result => result.success)?.output
  return deployment?.targets?.map(targetUrl).find(url => url !== undefined)
}

const parseLine = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Targets are written for people: `https://x.workers.dev`, `cards.example.com (custom domain)`, `example.com/*`, `schedule: …`. */
const targetUrl = (target: string): string | undefined => {
  const [, scheme = 'https://', host] =
    /^(https?:\/\/)?((?:[a-z0-9-]+\.)+[a-z0-9-]+(?::\d+)?|127\.0\.0\.1:\d+)(?:\/\*?)?(?: \(.*\))?$/i.exec(target) ?? []
  return host === undefined ? undefined : scheme + host
}

const Config = v.looseObject({ services: v.optional(v.array(v.looseObject({ service: v.string() })), []) })

/**
 * Returns the arguments of `wrangler deploy` for each agent of `examples/` that the host has bound as a service: a
 * service must exist before the host is deployed.
 */
export const exampleDeployments = async (args: readonly string[], cwd: string): Promise<string[][]> => {
  if (!existsSync(resolve(cwd, 'examples'))) return []
  const { env, config, profile, 'env-file': envFiles } = parseFlags(args)
  // The same account, found in the same way. All other flags are for the host.
  const shared = [
    ...(args.includes('--dry-run') ? ['--dry-run'] : []),
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...envFiles.flatMap(file => ['--env-file', file]),
  ]
  const services = await readServices(env, resolve(cwd, config ?? 'wrangler.toml'))
  return [...new Set(services.map(({ service }) => `examples/${service}/wrangler.toml`))]
    .filter(file => existsSync(resolve(cwd, file)))
    .map(file => ['-c', file, ...shared])
}

const readServices = async (env: string | undefined, config: string): Promise<{ service: string }[]> => {
  // Loaded only here: it takes more than a second.
  const { unstable_readConfig } = await import('wrangler')
  try {
    return v.parse(Config, unstable_readConfig({ env, config }, { hideWarnings: true })).services
  } catch (error) {
    // wrangler reports what is wrong with the configuration when it deploys the host.
    if (error instanceof Error && ['UserError', 'ParseError'].includes(error.constructor.name)) return []
    throw error
  }
}

const Text = v.optional(v.string())
const Flags = v.object({ env: Text, config: Text, profile: Text, 'env-file': v.optional(v.array(v.string()), []) })

const parseFlags = (args: readonly string[]) =>
  v.parse(
    Flags,
    parseArgs({
      args: [...args],
      strict: false,
      options: {
        env: { type: 'string', short: 'e' },
        config: { type: 'string', short: 'c' },
        profile: { type: 'string' },
        'env-file': { type: 'string', multiple: true },
      },
    }).values,
  )

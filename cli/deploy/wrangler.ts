import { type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import type { Environment } from '../context.ts'
import { isSystemError, UsageError } from '../errors.ts'

/** The commands of wrangler that a deployment needs. Their output goes to this terminal. */
export type Wrangler = ReturnType<typeof createWrangler>

/** Returns the commands of wrangler in a folder. */
export const createWrangler = (cwd: string, env: Environment) => ({
  /** Deploys with secrets, in a file that is deleted afterwards. `urls` are what wrangler reports. */
  deploy: async (args: readonly string[], secrets?: Readonly<Record<string, string>>) => {
    const { exitCode, report } = await run({ cwd, env }, ['deploy', ...args], 'inherit', { secrets })
    const needsLogin = /CLOUDFLARE_API_TOKEN|\blog(?:ged)? ?in\b|authenticat/i.test(failureOf(report))
    return { exitCode, urls: parseDeployedUrls(report), needsLogin }
  },
  /** Returns the names of the Worker's secrets, none without a Worker; undefined if wrangler fails, which shows why. */
  listSecrets: async (args: readonly string[]): Promise<string[] | undefined> => {
    const ended = await run({ cwd, env }, ['secret', 'list', '--format', 'json', ...args], ['ignore', 'pipe', 'pipe'])
    if (/^Worker ".*" .*not found\./.test(failureOf(ended.report))) return []
    process.stderr.write(ended.stderr)
    const secrets = v.safeParse(parsed(v.array(v.looseObject({ name: v.string() }))), ended.stdout)
    return ended.exitCode === 0 && secrets.success ? secrets.output.map(({ name }) => name) : undefined
  },
  /** Stores a secret, and returns the exit code. The value goes through stdin, because ps shows arguments. */
  putSecret: async (name: string, value: string, args: readonly string[]) => {
    const stdio: StdioOptions = ['pipe', 'inherit', 'inherit']
    return (await run({ cwd, env }, ['secret', 'put', name, ...args], stdio, { input: value })).exitCode
  },
  /** Deletes a secret, after wrangler has asked on a terminal, and returns the exit code. */
  deleteSecret: async (name: string, args: readonly string[]) =>
    (await run({ cwd, env }, ['secret', 'delete', name, ...args], 'inherit')).exitCode,
})

/** Runs wrangler to its end. `input` is for a stdin that is a pipe. `report` has its JSON lines for programs. */
const run = async (
  { cwd, env }: { cwd: string; env: Environment },
  [command, ...args]: [string, ...string[]],
  stdio: StdioOptions,
  { input = '', secrets }: { input?: string; secrets?: Readonly<Record<string, string>> | undefined } = {},
) => {
  const folder = mkdtempSync(join(tmpdir(), 'calling-card-'))
  const file = join(folder, 'secrets.json')
  const report = join(folder, 'output.ndjson')
  if (secrets) writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 })
  const wrangler = spawn('wrangler', [command, ...(secrets ? ['--secrets-file', file] : []), ...args], {
    cwd,
    stdio,
    env: withLocalBin({ ...env, WRANGLER_OUTPUT_FILE_PATH: report }, cwd),
  })
  // If wrangler ends without reading the value, its exit code says so.
  wrangler.stdin?.on('error', () => {}).end(input)
  // This process must outlive wrangler, to delete the file with secrets. A terminal sends Ctrl-C to both.
  const signals = { SIGINT: () => {}, SIGTERM: () => wrangler.kill('SIGTERM'), SIGHUP: () => wrangler.kill('SIGHUP') }
  for (const [signal, handle] of Object.entries(signals)) process.on(signal, handle)
  try {
    const output = Promise.all([wrangler.stdout, wrangler.stderr].map(stream => (stream ? text(stream) : '')))
    const [exitCode] = (await once(wrangler, 'exit')) as [number | null]
    const [stdout = '', stderr = ''] = await output
    return { exitCode: exitCode ?? 1, stdout, stderr, report: existsSync(report) ? readFileSync(report, 'utf8') : '' }
  } catch (error) {
    if (isSystemError(error))
      throw new UsageError(`wrangler cannot be run (${error.message}): run this in a clone of the host, after npm ci.`)
    throw error
  } finally {
    for (const [signal, handle] of Object.entries(signals)) process.off(signal, handle)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Adds the commands of this project to the end of PATH. npm does so too, but a shell may not. */
export const withLocalBin = (env: Environment, cwd: string): NodeJS.ProcessEnv => {
  const path = [env.PATH, join(cwd, 'node_modules', '.bin')].filter(Boolean).join(delimiter)
  // The Worker's variables are declared as if every process had them.
  return { ...env, PATH: path } as unknown as NodeJS.ProcessEnv
}

/** Returns the URLs of a deployment from wrangler's output file. */
export const parseDeployedUrls = (output: string): string[] => {
  const schema = v.looseObject({ type: v.literal('deploy'), targets: v.nullish(v.array(v.string()), []) })
  return lastEntry(output, schema)?.targets?.flatMap(target => targetUrl(target) ?? []) ?? []
}

const failureOf = (output: string): string =>
  lastEntry(output, v.looseObject({ type: v.literal('command-failed'), message: v.string() }))?.message ?? ''

const lastEntry = <T>(output: string, schema: v.GenericSchema<unknown, T>): T | undefined =>
  output
    .split('\n')
    .map(line => v.safeParse(parsed(schema), line))
    .findLast(result => result.success)?.output

const parsed = <T>(schema: v.GenericSchema<unknown, T>) => v.pipe(v.string(), v.parseJson(), schema)

/** Parses a target of wrangler: `https://x.workers.dev`, `cards.example.com (custom domain)`, `schedule: …`. */
const targetUrl = (target: string): string | undefined => {
  const [, scheme = 'https://', host] =
    /^(https?:\/\/)?((?:[a-z0-9-]+\.)+[a-z0-9-]+(?::\d+)?|127\.0\.0\.1:\d+)(?:\/\*?)?(?: \(.*\))?$/i.exec(target) ?? []
  return host === undefined ? undefined : scheme + host
}

/** Reads the arguments of `wrangler deploy`. As for wrangler, `--env` overrides CLOUDFLARE_ENV. */
export const parseDeployFlags = (args: readonly string[], env: Environment) => {
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: {
      ...WORKER_OPTIONS,
      'dry-run': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
  })
  const options = tokens.filter(token => token.kind === 'option')
  const ofWorker = options.filter(({ name }) => name in WORKER_OPTIONS)
  return {
    /** The environment of wrangler.toml; empty: none. */
    environment: options.findLast(({ name }) => name === 'env')?.value ?? env.CLOUDFLARE_ENV ?? '',
    isDry: options.some(({ name }) => ['dry-run', 'help', 'version'].includes(name)),
    /** The arguments that name the Worker and the account, for other commands about the same Worker. */
    worker: ofWorker.flatMap(({ name, value }) => [`--${name}`, value ?? '']),
  }
}

const WORKER_OPTIONS = {
  env: { type: 'string', short: 'e' },
  name: { type: 'string' },
  config: { type: 'string', short: 'c' },
  profile: { type: 'string' },
  'env-file': { type: 'string', multiple: true },
} as const

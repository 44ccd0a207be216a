import { randomBytes } from 'node:crypto'
import { appendFileSync, chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIN_ADMIN_TOKEN_LENGTH } from '../../src/limits.ts'
import { poll } from '../clock.ts'
import { type Context, type Environment, parseHostUrl } from '../config.ts'
import { ExitCode, UsageError } from '../exit-codes.ts'
import { syncText } from '../reporters/index.ts'
import { exitCodeOf, NON_INTERACTIVE, syncCards } from '../sync/index.ts'
import { exampleDeployments, parseDeployedUrl, type RunWrangler } from './wrangler.ts'

/** How long a new URL may take until it can be reached. */
const REACHABLE_TIMEOUT_MS = 180_000

/** How long the edge may take until it serves what was pushed. */
const LIVE_TIMEOUT_SECONDS = 90

/** How often a request is retried: a new deployment may respond with errors for a while. */
const RETRIES = 6

/**
 * Deploys the bound examples and the Worker with its admin token, then sends it the cards of `cards/`. `args` go to
 * `wrangler deploy`. Returns the exit code.
 */
export const deploy = async (args: readonly string[], context: Context, runWrangler: RunWrangler): Promise<number> => {
  const { env, cwd, terminal } = context
  // A mistake in a URL is reported before anything is deployed.
  const configuredUrl = env.PUBLIC_URL ?? env.SYNC_CARD_URL
  const url = configuredUrl === undefined ? undefined : parseHostUrl(configuredUrl)
  const isDryRun = args.includes('--dry-run')
  const { token, isNew } = isDryRun ? { token: 'none', isNew: false } : ensureAdminToken(env, cwd)
  if (isNew)
    terminal.report('A new ADMIN_TOKEN is in .env, readable only by you. Keep it: it lets you change the cards.')
  for (const example of await exampleDeployments(args, cwd)) {
    const { exitCode } = await runWrangler(example)
    if (exitCode !== 0) return exitCode
  }
  const { exitCode, output } = await runWrangler(args, { ADMIN_TOKEN: token })
  if (exitCode !== 0) return exitCode
  if (isDryRun) {
    terminal.report('Dry run: nothing was deployed and no cards were sent.')
    return ExitCode.ok
  }
  const deployedUrl = url ?? parseDeployedUrl(output)
  if (deployedUrl !== undefined) return sendCards(deployedUrl, token, context)
  terminal.error(
    "Deployed, but the Worker's URL could not be determined. Set SYNC_CARD_URL and run: npx sync-card --wait",
  )
  return ExitCode.usage
}

/** Returns the admin token of the environment. A first deployment creates a random one in the folder's `.env`. */
const ensureAdminToken = ({ ADMIN_TOKEN }: Environment, folder: string): { token: string; isNew: boolean } => {
  if (ADMIN_TOKEN !== undefined && ADMIN_TOKEN.length < MIN_ADMIN_TOKEN_LENGTH)
    throw new UsageError(
      `ADMIN_TOKEN must be at least ${MIN_ADMIN_TOKEN_LENGTH} characters. Remove it from the environment and .env to have a random one generated.`,
    )
  if (ADMIN_TOKEN !== undefined) return { token: ADMIN_TOKEN, isNew: false }
  const token = randomBytes(32).toString('base64url')
  const file = join(folder, '.env')
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const separator = before === '' || before.endsWith('\n') ? '' : '\n'
  appendFileSync(file, `${separator}ADMIN_TOKEN=${token}\n`, { mode: 0o600 })
  // The mode above applies only to a new file.
  chmodSync(file, 0o600)
  return { token, isNew: true }
}

const sendCards = async (url: string, token: string, context: Context): Promise<number> => {
  const { terminal, clock, fetch } = context
  terminal.info(`Waiting for ${url} …`)
  const isReachable = await poll(() => isHost(url, fetch), { clock, timeoutMs: REACHABLE_TIMEOUT_MS, pauseMs: 1000 })
  if (!isReachable) {
    terminal.error(`Deployed, but ${url} does not respond yet. Run later: npx sync-card --url ${url} --wait`)
    return ExitCode.unreachable
  }
  const options = { ...NON_INTERACTIVE, retries: RETRIES, wait: LIVE_TIMEOUT_SECONDS }
  const result = await syncCards([], { url, token }, options, context)
  terminal.report(syncText(result))
  terminal.report(`From now on: npx sync-card --url ${url} (or SYNC_CARD_URL=${url} in .env)`)
  return exitCodeOf(result)
}

/** Whether a URL responds as a host does. Until its name resolves, every request fails. */
const isHost = (url: string, fetch: Context['fetch']): Promise<boolean> =>
  fetch(`${url}/agents?limit=1`, { signal: AbortSignal.timeout(10_000) }).then(
    async response => {
      await response.body?.cancel()
      return response.status === 200
    },
    () => false,
  )

import type { Command } from 'commander'
import { createClient, type HostClient, HostError } from '../client/index.ts'
import type { Context } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import {
  type HostNameFlags,
  type HostSettings,
  type ResolvedHost,
  resolveHost,
  warnUnencrypted,
} from '../hosts/index.ts'

/** How often a request is retried by default. */
export const DEFAULT_RETRIES = 4

/** The options of every command that talks to a host. */
export type HostFlags = HostNameFlags & { json?: true }

/** Adds the options of a command that talks to a host; `scope` is what the token needs. */
export const addHostOptions = (command: Command, scope: string): Command =>
  addConnectionOptions(command, scope).option('--json', 'print one JSON object on stdout')

/** Adds the options that name the host and the token. */
export const addConnectionOptions = (command: Command, scope: string): Command =>
  command
    .option('--host <name>', 'the host of this name in sync-card.yaml, or of .env.NAME')
    .option('--url <url>', 'the host; default: SYNC_CARD_URL, sync-card.yaml, .env, the one that `npm start` runs')
    .option(
      '--token <token>',
      `a token with the scope ${scope}; prefer SYNC_CARD_TOKEN or ADMIN_TOKEN in the environment or .env: ps shows flags`,
    )

/** Resolves the host that the flags name, and warns if the token would travel unencrypted. */
export const resolveSafely = (flags: HostNameFlags, context: Context, resolve = resolveHost): ResolvedHost => {
  const settings = resolve(flags, context)
  const warning = settings.token === '' ? undefined : warnUnencrypted(settings.url)
  if (warning !== undefined) context.terminal.info(warning)
  return settings
}

/** Creates a client for the host that the flags name. */
export const connect = (flags: HostFlags, context: Context): HostClient =>
  createHostClient(resolveSafely(flags, context), context)

/** Creates a client that reports its retries on the terminal. */
export const createHostClient = (host: HostSettings, { terminal, fetch, clock }: Context): HostClient =>
  createClient({ ...host, retries: DEFAULT_RETRIES, fetch, clock, inform: terminal.info })

/** Calls `work`, which returns an exit code, for one id after the other until the host cannot be used. */
export const forEachId = async (
  ids: readonly string[],
  { terminal }: Context,
  work: (id: string) => Promise<number>,
): Promise<{ exitCode: number; failure?: string }> => {
  let exitCode: number = ExitCode.ok
  try {
    for (const id of ids) exitCode = Math.max(exitCode, await work(id))
    return { exitCode }
  } catch (error) {
    if (!(error instanceof HostError)) throw error
    terminal.error(`${error.message}.`)
    return { exitCode: ExitCode.unreachable, failure: error.message }
  }
}

import type { Command } from 'commander'
import colors from 'picocolors'
import { readEnvironment } from '../environment.ts'
import { exitCodes } from '../exit-codes.ts'
import { HostError } from '../host/host-error.ts'
import type { Connection } from '../host/request.ts'
import { isLoopback, readSettings } from '../settings.ts'

/** What every command takes that asks a host. */
export type HostFlags = { url?: string; token?: string; json?: true }

/** Adds the options by which a command finds its host; `scope` is what its token must have. */
export const withHost = (command: Command, scope: string): Command =>
  command
    .option('--url <url>', 'the host; else SYNC_CARD_URL, else the one that `npm start` runs')
    .option(
      '--token <token>',
      `one with the scope ${scope}; prefer SYNC_CARD_TOKEN or ADMIN_TOKEN in the environment or .env`,
    )
    .option('--json', 'print one JSON object on stdout')

/** Does something with the host that the flags name; that it cannot be asked is told, and in the exit code. */
export const withConnection = async (
  flags: HostFlags,
  work: (connection: Connection) => Promise<void>,
): Promise<void> => {
  const settings = readSettings(flags, readEnvironment())
  if (settings.url.startsWith('http:') && !isLoopback(settings.url))
    say(`The token goes to ${settings.url} unencrypted: use https.`)
  try {
    await work({ ...settings, retries: 4, note: say })
  } catch (error) {
    if (!(error instanceof HostError)) throw error
    fail(`${error.message}.`, exitCodes.unreachable)
  }
}

/** Tells what went wrong, and says so in the exit code. */
export const fail = (message: string, exitCode: number): void => {
  say(`${colors.red('sync-card:')} ${message}`)
  process.exitCode = Math.max(Number(process.exitCode ?? 0), exitCode)
}

/** Writes what was asked for. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** Writes what is told besides. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`)

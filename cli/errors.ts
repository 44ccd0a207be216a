import { ApiError } from '../src/api/client/index.ts'

/** Exit codes of `sync-card` and `npm run deploy`. Where several apply, the highest wins. 70 is from sysexits.h. */
export const ExitCode = {
  ok: 0,
  outOfDate: 1,
  usage: 2,
  rejected: 3,
  unreachable: 4,
  bug: 70,
  interrupted: 130,
} as const

/** The meaning of each exit code; the parts of a list are separated by semicolons. */
export const EXIT_CODE_MEANINGS: Record<(typeof ExitCode)[keyof typeof ExitCode], string> = {
  0: 'in sync, no findings',
  1: [
    '--check, --dry-run, diff, pull: something differs',
    '--check, lint: a lint error',
    '--strict: a lint error or warning',
    '--wait: not live in time',
    'an upstream card could not be fetched or waits for approval',
    'check: a test failed, or the signature is not valid',
    'audit verify: an entry or the signature is not valid',
    'verify: a card has no valid signature by a trusted key',
    'keys rotate, keys retire: a key is still needed, or the host has not changed its keys in time',
  ].join('; '),
  2: 'wrong usage, or no cards; --prune without a set, or of more than 10 agents without --yes',
  3: [
    'a file is invalid, or the host rejected it (invalid, host name taken, changed concurrently)',
    'a lint error stops a push without --force',
    'an agent belongs to another set',
  ].join('; '),
  4: 'the host is unreachable, or rejects the token',
  70: 'a bug: the program has crashed',
  130: 'interrupted (Ctrl-C) before everything was done',
}

/** The exit codes as `--help` explains them. */
export const EXIT_CODE_HELP = [
  '\nExit codes:',
  ...Object.entries(EXIT_CODE_MEANINGS).map(
    ([code, meaning]) => `  ${code.padEnd(3)}  ${meaning.replaceAll('; ', ';\n       ')}`,
  ),
].join('\n')

/** Ends a command: its message, one line or several, is shown without a stack. */
export class CommandError extends Error {
  readonly exitCode: number
  readonly lines: readonly string[]

  constructor(exitCode: number, ...lines: string[]) {
    super(lines.join('\n'))
    this.exitCode = exitCode
    this.lines = lines
  }
}

/** A mistake in how the program was called. */
export class UsageError extends CommandError {
  constructor(...lines: string[]) {
    super(ExitCode.usage, ...lines)
  }
}

/** No token was found for the host at `url`. */
export class MissingTokenError extends UsageError {
  url = ''
}

/** The user left a prompt, or interrupted the command, with Ctrl-C. */
export class InterruptedError extends CommandError {
  constructor() {
    super(ExitCode.interrupted)
  }
}

/** A failure of the host, not of one file: it is unreachable, or rejects the token. The message may quote the host. */
export class HostError extends Error {}

/** Returns what handles a promise: `handle` gets the error of a request that the host rejects; others are thrown. */
export const onRejection =
  <Result>(handle: (error: ApiError) => Result) =>
  (error: unknown): Result => {
    if (error instanceof ApiError) return handle(error)
    throw error
  }

/** Turns the error of a request that the host rejects into a value. */
export const asRejection = onRejection(error => error)

/** Checks whether an error is from the operating system, such as a missing file or missing permission. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error

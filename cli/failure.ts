import { inspect } from 'node:util'
import { VERSION } from '../src/version.ts'
import { CommandError, ExitCode } from './exit-codes.ts'
import { createTerminal, type Terminal } from './terminal.ts'

/** A failure of the host, not of one file: it is unreachable, or rejects the token. The message may quote the host. */
export class HostError extends Error {}

/** The host refuses what was requested. The message is the host's. */
export class RejectedError extends CommandError {
  constructor(message: string) {
    super(ExitCode.rejected, message)
  }
}

/** Returns what handles the rejection of a promise: `handle` gets the message of a RejectedError; others are thrown. */
export const onRejection =
  <Result>(handle: (message: string) => Result) =>
  (error: unknown): Result => {
    if (error instanceof RejectedError) return handle(error.message)
    throw error
  }

/** Reports why a program failed, and returns its exit code. The stack of an error that nothing expects is shown. */
export const reportFailure = (error: unknown, { info, error: report }: Terminal): number => {
  if (error instanceof CommandError) {
    report(error.lines)
    return error.exitCode
  }
  if (error instanceof HostError) {
    report(`${error.message}.`)
    return ExitCode.unreachable
  }
  info(inspect(error).split('\n'))
  report(
    `This is a bug in Calling Card ${VERSION}. Open an issue in its repository, with your command and the lines above.`,
  )
  return ExitCode.bug
}

/** Ends this process after an error that nothing catches. `program` is the name before the message. */
export const exitOnFailure = (program: string): void => {
  const terminal = createTerminal(process, program)
  process.on('uncaughtException', error => process.exit(reportFailure(error, terminal)))
}

/** Checks whether an error is from the operating system, such as a missing file or missing permission. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error

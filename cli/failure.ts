import { inspect } from 'node:util'
import { ApiError } from '../src/api/client/index.ts'
import { VERSION } from '../src/version.ts'
import { CommandError, ExitCode, HostError } from './errors.ts'
import { createTerminal, type Terminal } from './terminal.ts'

/** Reports why a program failed, and returns its exit code. The stack of an error that nothing expects is shown. */
export const reportFailure = (error: unknown, { info, error: report }: Terminal): number => {
  if (error instanceof CommandError) {
    report(error.lines)
    return error.exitCode
  }
  if (error instanceof ApiError) {
    report(error.message)
    return ExitCode.rejected
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

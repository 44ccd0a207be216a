import { Command, CommanderError } from 'commander'
import colors from 'picocolors'
import { addConvert } from './commands/convert.ts'
import { addLint } from './commands/lint.ts'
import { addRefresh } from './commands/refresh.ts'
import { addSync } from './commands/sync.ts'
import { addToken } from './commands/token.ts'
import { exitCodes } from './exit-codes.ts'
import { UsageError } from './usage-error.ts'
import { version } from './version.ts'

/** Runs `sync-card` with the arguments of a command line, and leaves its exit code in `process.exitCode`. */
export const runCommand = async (args: readonly string[]): Promise<void> => {
  const command = new Command('sync-card')
    .description('Bring the cards of a host in line with the files that you keep.')
    .version(version, '--version')
    .enablePositionalOptions()
    // What has an action of its own gets none otherwise.
    .helpCommand(true)
    .exitOverride()
  addToken(addRefresh(addConvert(addLint(addSync(command)))))
  try {
    await command.parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = exitCodes.usage
    // Commander has told what is wrong itself; asking for help is no error.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    else if (error instanceof UsageError) process.stderr.write(`${colors.red('sync-card:')} ${error.message}\n`)
    else throw error
  }
}

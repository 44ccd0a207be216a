import { Command, CommanderError } from 'commander'
import { VERSION } from '../src/version.ts'
import { createContext, type Io, processIo } from './context.ts'
import { ExitCode } from './errors.ts'
import { reportFailure } from './failure.ts'

/** Runs `sync-card` with the arguments of a command line, by default in this process, and returns its exit code. */
export const run = async (args: readonly string[], io: Io = processIo()): Promise<number> => {
  const context = createContext(io, 'sync-card')
  const { terminal } = context
  let exitCode: number = ExitCode.ok
  const program = new Command('sync-card')
    .description('Keep the cards of a host in line with your files.')
    .version(VERSION, '--version')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal.out(text.trimEnd()),
      writeErr: text => terminal.info(toLines(text)),
      outputError: text => terminal.error(toLines(text.replace(/^error: /, ''))),
    })
  try {
    let words = args
    // `--version` needs no command, and starts in half the time without them.
    if (args[0] !== '--version') {
      const { addCommands, moveOptions, rejectUnknownTopic } = await import('./commands/index.ts')
      addCommands(program, context, code => {
        exitCode = code
      })
      rejectUnknownTopic(program, args)
      words = moveOptions(program, args)
    }
    await program.parseAsync(words, { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has written its message itself. Its exit code is 0 after --help and --version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage
    const { explainFailure } = await import('./options.ts')
    return reportFailure(await explainFailure(error, context), terminal)
  }
}

const toLines = (text: string): string[] => text.trimEnd().split('\n')
